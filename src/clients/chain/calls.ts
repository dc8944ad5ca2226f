/** One call of a node at a time, with what a contract refused it by: what signing needs. `rpc.ts` reads in batches. */
import type { SafeFetch } from '../../core/outgoing.ts'
import type { RpcError } from './answers.ts'
import { failureOf } from './failures.ts'
import { createCaller } from './rpc.ts'

export type Caller = {
  /** All of its URL that may be shown. */
  readonly host: string
  /** @throws Reverted where a contract refused, NotTaken where a transaction was, NodeError for every other failure there is */
  call(method: string, params: readonly unknown[]): Promise<unknown>
}

/** A contract refused a call. */
export class Reverted extends Error {
  override readonly name = 'Reverted'
  constructor(
    /** What it gave as its reason, encoded; undefined where the node does not tell. */
    readonly data: `0x${string}` | undefined,
  ) {
    super('the contract refused it')
  }
}

/** A node does not take a transaction: it was not sent. The message says why, in our words. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken'
}

type CallsSettings = { readonly url: string; readonly safeFetch: SafeFetch; readonly now: () => number }

export function createCalls(settings: CallsSettings): Caller {
  const { host, batch } = createCaller(settings)
  return {
    host,
    async call(method, params) {
      const [answer] = await batch([{ method, params }])
      const error = answer?.error
      if (error) throw refusalIn(error) ?? refusedSending(error.message) ?? failureOf(error, undefined)
      return answer?.result
    },
  }
}

/** Nodes put the reason of a contract into `data`, into `data.data`, or behind words in it. */
function refusalIn({ code, message, data }: RpcError): Reverted | undefined {
  if (code !== 3 && !/revert/i.test(message)) return undefined
  const text = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
  const [reason] = typeof text === 'string' ? (/0x(?:[0-9a-f]{2})+/i.exec(text) ?? []) : []
  return new Reverted(reason?.toLowerCase() as `0x${string}` | undefined)
}

const sendingWords: readonly (readonly [RegExp, string])[] = [
  [/insufficient funds|gas required exceeds allowance/i, 'the wallet does not hold enough to pay for it'],
  [/nonce too low|replacement transaction/i, 'another transaction of this wallet is under way: wait until it is in a block'],
  [/underpriced|less than block base fee/i, 'fees have risen meanwhile: run it again'],
  [/intrinsic gas|gas limit|gas too|tx gas/i, 'it needs more gas than the node allows'],
]

/** What nodes say of transactions that they do not take, in our words. */
function refusedSending(message: string): NotTaken | undefined {
  const words = sendingWords.find(([pattern]) => pattern.test(message))?.[1]
  return words === undefined ? undefined : new NotTaken(words)
}
