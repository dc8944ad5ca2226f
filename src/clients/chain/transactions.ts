/** Estimates, signs and sends transactions. Loads viem: import this by `await import()`, so that a start does not. */
import {
  BaseError,
  defineChain,
  Eip1559FeesNotSupportedError,
  formatEther,
  type Hex,
  keccak256,
  type TransactionReceipt,
  UnknownNodeError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getNodeError } from 'viem/utils'
import { NodeError } from '../../core/chain.ts'
import type { Connection } from './client.ts'

export type Transaction = { readonly to: Hex; readonly data: Hex }
type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint } | { readonly gasPrice: bigint }
/** What a transaction may cost at most, in the smallest unit of the chain's coin. */
export type Quote = { readonly gas: bigint; readonly fees: Fees; readonly costMax: bigint }
export type Receipt = TransactionReceipt
export type Signer = ReturnType<typeof signerOf>

/** Of a chain whose fees have to hold for some blocks: twice the fee of the newest one. */
const feesOfTwo = defineChain({
  ...{ id: 0, name: '', nativeCurrency: { name: '', symbol: '', decimals: 18 }, rpcUrls: { default: { http: [] } } },
  fees: { baseFeeMultiplier: 2 },
})

/** Simulates a transaction and says what it may cost: a quarter more gas than it takes now. */
export const quote = ({ ask }: Connection, account: Hex, transaction: Transaction): Promise<Quote> =>
  ask(async (client) => {
    const gas = ((await client.estimateGas({ account, ...transaction })) * 5n) / 4n
    const fees = await client.estimateFeesPerGas({ chain: feesOfTwo }).catch((error: unknown) => {
      if (error instanceof Eip1559FeesNotSupportedError) return client.estimateFeesPerGas({ chain: null, type: 'legacy' })
      throw error
    })
    const costMax = gas * ('gasPrice' in fees && fees.gasPrice !== undefined ? fees.gasPrice : fees.maxFeePerGas)
    return { gas, fees: fees as Fees, costMax }
  })

/** Whoever holds a key. The address is in lower case. @throws where it is none */
export function signerOf(key: Hex) {
  const account = privateKeyToAccount(key)
  return {
    address: account.address.toLowerCase() as Hex,
    /** The transaction as it is sent, and the hash by which it is known from then on. */
    async sign({ ask }: Connection, chainId: number, transaction: Transaction, { gas, fees }: Quote): Promise<{ raw: Hex; hash: Hex }> {
      const nonce = await ask((client) => client.getTransactionCount({ address: account.address, blockTag: 'pending' }))
      const raw = await account.signTransaction({ chainId, nonce, ...transaction, gas, ...fees })
      return { raw, hash: keccak256(raw) }
    },
  }
}

/**
 * Sends a signed transaction.
 * @returns the reason if the node rejected it; undefined if it was or may have been accepted
 */
export const sendRaw = ({ ask }: Connection, raw: Hex): Promise<string | undefined> =>
  ask(async (client) => {
    try {
      await client.sendRawTransaction({ serializedTransaction: raw })
      return undefined
    } catch (error) {
      const known = error instanceof BaseError ? getNodeError(error, {}) : undefined
      return known && !(known instanceof UnknownNodeError) ? known.shortMessage : undefined
    }
  })

/** What became of a transaction; undefined while it is in no block, and where the node does not say. */
export const receiptOf = ({ ask }: Connection, hash: Hex): Promise<Receipt | undefined> =>
  ask((client) => client.getTransactionReceipt({ hash })).catch((error: unknown) => {
    if (error instanceof NodeError || error instanceof BaseError) return undefined
    throw error
  })

/** An amount of the chain's coin, as people write it. */
export const coins = (amount: bigint): string => formatEther(amount)
