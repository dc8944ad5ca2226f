/** Estimates, signs and sends transactions. Loads viem: import this by `await import()`. */
import { BaseError, defineChain, Eip1559FeesNotSupportedError, type Hex, keccak256, type TransactionReceipt, UnknownNodeError } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getNodeError } from 'viem/utils'
import { NodeError } from '../../core/chain.ts'
import type { Connection } from './client.ts'

/** Formats an amount of the chain's coin. */
export { formatEther as coins } from 'viem'

export type Transaction = { readonly to: Hex; readonly data: Hex }
type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint } | { readonly gasPrice: bigint }
/** The most that a transaction may cost, in the smallest unit of the chain's coin. */
export type Quote = { readonly gas: bigint; readonly fees: Fees; readonly costMax: bigint }
export type Receipt = TransactionReceipt
export type Signer = ReturnType<typeof signerOf>

/** Doubles the base fee of the newest block, since fees must hold for several blocks. */
const feesOfTwo = defineChain({
  ...{ id: 0, name: '', nativeCurrency: { name: '', symbol: '', decimals: 18 }, rpcUrls: { default: { http: [] } } },
  fees: { baseFeeMultiplier: 2 },
})

/** Estimates a transaction, with a quarter more gas than it needs now. */
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

/**
 * Creates a signer from a private key. Its address is in lower case.
 * @throws for an invalid key
 */
export function signerOf(key: Hex) {
  const account = privateKeyToAccount(key)
  return {
    address: account.address.toLowerCase() as Hex,
    /** Returns the signed transaction and its hash. */
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
      const nodeError = error instanceof BaseError ? getNodeError(error, {}) : undefined
      return nodeError && !(nodeError instanceof UnknownNodeError) ? nodeError.shortMessage : undefined
    }
  })

/** Reads the receipt of a transaction; undefined while it is in no block or the node does not respond. */
export const receiptOf = ({ ask }: Connection, hash: Hex): Promise<Receipt | undefined> =>
  ask((client) => client.getTransactionReceipt({ hash })).catch((error: unknown) => {
    if (error instanceof NodeError || error instanceof BaseError) return undefined
    throw error
  })
