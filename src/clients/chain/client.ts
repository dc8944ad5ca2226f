/** viem's client of one node, with the guarded fetch underneath. Loads viem: import this by `await import()`. */
import { BaseError, createPublicClient, type HttpTransport, http, type PublicClient, RpcRequestError } from 'viem'
import { NodeError } from '../../core/chain.ts'
import { OutgoingError, type SafeFetch } from '../../core/outgoing.ts'
import { parseJson } from '../../lib/json.ts'
import { errorIn, isAnswerTo } from './answers.ts'
import { failureOf, Refusal, retryAfterOf, unreachable } from './failures.ts'

/** Larger responses are refused, and the range is made smaller. */
const answerMaxBytes = 16 * 1024 * 1024

export type NodeSettings = {
  /** It may hold a key: only its host is shown. */
  readonly url: string
  readonly chainId: number
  readonly safeFetch: SafeFetch
  /** Milliseconds since the epoch, for dates in `Retry-After`. */
  readonly now: () => number
  readonly timeoutMs?: number
  /** Cancels requests in flight. */
  readonly signal?: AbortSignal
}

type ClientSettings = Omit<NodeSettings, 'chainId'>
/** Explicit type arguments: inferring them exceeds TypeScript's depth limit. */
type ChainClient = PublicClient<HttpTransport, undefined, undefined, undefined, undefined>

/** viem batches by URL, so each client has a unique one. viem never gets the node's URL, which may contain a key. */
let clients = 0

/**
 * Creates a viem client for one node.
 * @param batch sends all requests of one moment as one JSON-RPC batch
 * @param count is called with the length of each response
 */
export function createClient(
  { url, safeFetch, signal, now, timeoutMs = 20_000 }: ClientSettings,
  batch = false,
  count?: (bytes: number) => void,
): ChainClient {
  async function fetchFn(_: unknown, init?: { readonly body?: unknown }): Promise<Response> {
    const body = String(init?.body)
    const { status, headers, bytes } = await safeFetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      ...{ body, timeoutMs, bytesMax: answerMaxBytes, trusted: true, ...(signal ? { signal } : {}) },
    }).catch((error: unknown): never => {
      const isTooLarge = error instanceof OutgoingError && error.kind === 'answer too large' && body.includes('"eth_getLogs"')
      throw isTooLarge ? new NodeError('RANGE', `an answer of more than ${answerMaxBytes} bytes`) : unreachable(error)
    })
    count?.(bytes.length)
    const text = new TextDecoder().decode(bytes)
    const answer = parseJson(text)
    const isAnswer = isAnswerTo(JSON.parse(body), answer)
    const error = errorIn(answer) ?? (Array.isArray(answer) && (status !== 200 || answer.length === 1) ? errorIn(answer[0]) : undefined)
    if (status !== 200 || (error && !isAnswer))
      throw new Refusal({ status, ...(error ?? { code: undefined, message: text }), retryAfterMs: retryAfterOf(headers, now()) })
    if (!isAnswer) throw new NodeError('FAULT', 'its answer does not match the batch')
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  }
  return createPublicClient<HttpTransport, undefined, undefined, undefined, undefined>({
    ccipRead: false,
    transport: http(`http://${++clients}.invalid`, {
      batch: batch && { batchSize: Number.POSITIVE_INFINITY },
      fetchFn,
      maxResponseBodySize: false,
      retryCount: 0,
      // The guarded fetch has a timeout of its own.
      timeout: 0,
    }),
  })
}

/** Returns the failure or refusal of a node behind an error of viem; undefined if viem rejected the answer. */
export function failureIn(error: unknown): NodeError | Refusal | undefined {
  const isFailure = (inner: unknown) => inner instanceof NodeError || inner instanceof Refusal || inner instanceof RpcRequestError
  const cause: unknown = error instanceof BaseError ? error.walk(isFailure) : undefined
  if (cause instanceof RpcRequestError) return new Refusal({ code: cause.code, message: cause.details })
  return cause instanceof NodeError || cause instanceof Refusal ? cause : undefined
}

/** A node. Only its host may be shown. `ask` throws NodeError if the node does not respond or refuses. */
export type Connection = { readonly host: string; ask<T>(work: (client: ChainClient) => Promise<T>): Promise<T> }

/** Creates the connection to a node. Sends nothing before the first `ask`. */
export function connect(settings: ClientSettings): Connection {
  const client = createClient(settings)
  return {
    host: new URL(settings.url).host,
    ask: (work) =>
      work(client).catch((error: unknown): never => {
        const failure = failureIn(error)
        throw failure instanceof Refusal ? failureOf(failure.response, undefined, settings.url) : (failure ?? error)
      }),
  }
}
