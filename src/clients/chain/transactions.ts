/** Transactions that a key of ours signs. Loads viem: import this by `await import()`, so that a start does not. */
import { formatEther, type Hex, hexToBigInt, isHex, keccak256, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { NodeError } from '../../core/chain.ts'
import type { Caller } from './calls.ts'

export type Transaction = { readonly to: Hex; readonly data: Hex }

/** What a transaction may cost at most. All in the smallest unit of the chain's coin. */
export type Quote = {
  readonly gas: bigint
  /** Of a unit of gas. */
  readonly feeMax: bigint
  /** Undefined where the chain knows gas prices only. */
  readonly priorityFeeMax: bigint | undefined
  readonly costMax: bigint
}

export type Receipt = {
  readonly succeeded: boolean
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[]
}

export type Signer = ReturnType<typeof signerOf>

/** Whoever holds a key. The address is in lower case. @throws where it is none */
export function signerOf(key: Hex) {
  const account = privateKeyToAccount(key)
  return {
    address: account.address.toLowerCase() as Hex,
    /** The transaction as it is sent, and the hash by which it is known from then on. */
    async sign(
      chainId: number,
      nonce: number,
      { to, data }: Transaction,
      { gas, feeMax, priorityFeeMax }: Quote,
    ): Promise<{ raw: Hex; hash: Hex }> {
      const common = { chainId, nonce, to, data, gas, value: 0n }
      const raw = await account.signTransaction(
        priorityFeeMax === undefined
          ? { ...common, type: 'legacy', gasPrice: feeMax }
          : { ...common, type: 'eip1559', maxFeePerGas: feeMax, maxPriorityFeePerGas: priorityFeeMax },
      )
      return { raw, hash: keccak256(raw) }
    },
  }
}

/** What a chain is called by nodes. */
export const chainIdOf = async (caller: Caller): Promise<number> => Number(quantityOf(await caller.call('eth_chainId', [])))

/** What a view of a contract gives. @throws Reverted, NodeError */
export const view = async (caller: Caller, to: Hex, data: Hex, from?: Hex): Promise<Hex> =>
  hexIn(await caller.call('eth_call', [{ to, data, ...(from ? { from } : {}) }, 'latest']))

export const hasCode = async (caller: Caller, address: Hex): Promise<boolean> =>
  hexIn(await caller.call('eth_getCode', [address, 'latest'])) !== '0x'

export const balanceOf = async (caller: Caller, address: Hex): Promise<bigint> =>
  quantityOf(await caller.call('eth_getBalance', [address, 'latest']))

/** How many transactions an address has sent, those that are under way counted in. */
export const nonceOf = async (caller: Caller, address: Hex): Promise<number> =>
  Number(quantityOf(await caller.call('eth_getTransactionCount', [address, 'pending'])))

/** Simulates a transaction and says what it may cost: a quarter more gas than it takes now, twice the fee of the newest block. */
export async function quote(caller: Caller, from: Hex, { to, data }: Transaction): Promise<Quote> {
  const needed = quantityOf(await caller.call('eth_estimateGas', [{ from, to, data }]))
  const gas = (needed * 5n) / 4n
  const block = await caller.call('eth_getBlockByNumber', ['latest', false])
  const baseFee = (block as { baseFeePerGas?: unknown } | null)?.baseFeePerGas
  if (baseFee === undefined || baseFee === null) {
    const price = quantityOf(await caller.call('eth_gasPrice', []))
    return { gas, feeMax: price, priorityFeeMax: undefined, costMax: gas * price }
  }
  const priorityFeeMax = await priorityFee(caller, quantityOf(baseFee))
  const feeMax = quantityOf(baseFee) * 2n + priorityFeeMax
  return { gas, feeMax, priorityFeeMax, costMax: gas * feeMax }
}

/** As the node advises; some know no such advice, and their gas price has it in it. */
async function priorityFee(caller: Caller, baseFee: bigint): Promise<bigint> {
  try {
    return quantityOf(await caller.call('eth_maxPriorityFeePerGas', []))
  } catch {
    const price = quantityOf(await caller.call('eth_gasPrice', []))
    return price > baseFee ? price - baseFee : 0n
  }
}

/** Hands a signed transaction over. It may be on its way though this throws. */
export const sendRaw = async (caller: Caller, raw: Hex): Promise<void> => void (await caller.call('eth_sendRawTransaction', [raw]))

/** What became of a transaction; undefined while it is in no block. */
export async function receiptOf(caller: Caller, hash: Hex): Promise<Receipt | undefined> {
  const receipt = (await caller.call('eth_getTransactionReceipt', [hash])) as Record<string, unknown> | null | undefined
  if (receipt === null || receipt === undefined || receipt['blockNumber'] === null) return undefined
  if (receipt['transactionHash'] !== hash || !Array.isArray(receipt['logs'])) throw new NodeError('FAULT', 'it answered another receipt')
  return {
    succeeded: receipt['status'] === '0x1',
    blockNumber: Number(quantityOf(receipt['blockNumber'])),
    blockHash: hexIn(receipt['blockHash']),
    logs: receipt['logs'] as Receipt['logs'],
  }
}

/** An amount of the chain's coin, as people write it. */
export const coins = (amount: bigint): string => formatEther(amount)

export const hexNumber = (value: number): Hex => numberToHex(value)

function hexIn(value: unknown): Hex {
  if (!isHex(value)) throw new NodeError('FAULT', 'it answered what is no hexadecimal number')
  return value.toLowerCase() as Hex
}

function quantityOf(value: unknown): bigint {
  if (!isHex(value) || value.length < 3 || value.length > 66) throw new NodeError('FAULT', 'it answered what is no number')
  return hexToBigInt(value)
}
