/** One call of a node at a time, with what a contract refused it by: what signing needs. `rpc.ts` reads in batches. */
import { NodeError } from '../../core/chain.ts'
import { OutgoingError, type SafeAnswer, type SafeFetch } from '../../core/outgoing.ts'
import { errorIn } from './answers.ts'
import { failureOf, statusFailure } from './failures.ts'

const answerMaxBytes = 1024 * 1024
const timeoutMs = 20_000

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

type CallerSettings = { readonly url: string; readonly safeFetch: SafeFetch; readonly now: () => number }

export function createCaller({ url, safeFetch, now }: CallerSettings): Caller {
  const { host } = new URL(url)

  async function post(body: object): Promise<SafeAnswer> {
    try {
      return await safeFetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        timeoutMs,
        bytesMax: answerMaxBytes,
        trusted: true,
      })
    } catch (error) {
      // Another error may quote the URL.
      throw new NodeError('FAULT', `no answer: ${error instanceof OutgoingError ? error.kind : 'connection failed'}`)
    }
  }

  return {
    host,
    async call(method, params) {
      const { status, headers, bytes } = await post({ jsonrpc: '2.0', id: 1, method, params })
      const answer = parsed(bytes)
      const error = errorIn(answer)
      if (error) throw refusalIn(answer) ?? refusedSending(error.message) ?? failureOf(error, undefined)
      const failure = statusFailure(status, headers, undefined, now())
      if (failure) throw failure
      if (answer?.['id'] !== 1 || !('result' in answer)) throw new NodeError('FAULT', 'it answered what is no answer to a call')
      return answer['result']
    },
  }
}

function parsed(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const answer: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof answer === 'object' && answer !== null && !Array.isArray(answer) ? (answer as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Nodes put the reason of a contract into `data`, into `data.data`, or behind words in it. */
function refusalIn(answer: Record<string, unknown> | undefined): Reverted | undefined {
  const { code, message, data } = (answer?.['error'] ?? {}) as { code?: unknown; message?: unknown; data?: unknown }
  if (code !== 3 && !(typeof message === 'string' && /revert/i.test(message.slice(0, 2_000)))) return undefined
  const text = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data
  const [reason] = typeof text === 'string' ? (/0x(?:[0-9a-f]{2})+/i.exec(text) ?? []) : []
  return new Reverted(reason?.toLowerCase() as `0x${string}` | undefined)
}

const sendingWords: readonly (readonly [RegExp, string])[] = [
  [/insufficient funds|gas required exceeds allowance/i, 'the wallet does not hold enough to pay for it'],
  [
    /nonce too low|already known|replacement transaction|underpriced/i,
    'another transaction of this wallet is under way: wait until it is in a block',
  ],
  [/intrinsic gas|gas limit|gas too|tx gas/i, 'it needs more gas than the node allows'],
]

/** What nodes say of transactions that they do not take, in our words. */
function refusedSending(message: unknown): NotTaken | undefined {
  const text = typeof message === 'string' ? message.slice(0, 2_000) : ''
  const words = sendingWords.find(([pattern]) => pattern.test(text))?.[1]
  return words === undefined ? undefined : new NotTaken(words)
}
