/** viem's client of one node, with the guarded fetch underneath. Loads viem: import this by `await import()`. */
import { BaseError, createPublicClient, type HttpTransport, http, type PublicClient, RpcRequestError } from 'viem'
import { NodeError } from '../../core/chain.ts'
import { OutgoingError, type SafeFetch } from '../../core/outgoing.ts'
import { errorIn, isAnswerTo } from './answers.ts'
import { failureOf, Refusal, retryAfterOf, unreachable } from './failures.ts'

/** Larger responses are refused, and the range is made smaller. */
export const answerMaxBytes = 16 * 1024 * 1024
const timeoutMs = 20_000

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

export type ClientSettings = Omit<NodeSettings, 'chainId'>
type Options = {
  /** Sends all requests of one moment as one JSON-RPC batch. */
  readonly batch?: boolean
  /** Called with each response's length before parsing. @returns a function that yields to other work */
  readonly arrived?: (bytes: number) => Promise<() => Promise<unknown>>
}

/** Explicit type arguments: inferring them exceeds TypeScript's depth limit. */
export type ChainClient = PublicClient<HttpTransport, undefined, undefined, undefined, undefined>

/**
 * viem batches by URL, so each client has a unique one. viem never gets the node's URL, so its messages cannot contain
 * it.
 */
let clients = 0

export function createClient(
  { url, safeFetch, signal, now, ...settings }: ClientSettings,
  { batch = false, arrived }: Options = {},
): ChainClient {
  async function fetchFn(_: unknown, init?: { readonly body?: unknown }): Promise<Response> {
    const body = String(init?.body)
    const { status, headers, bytes } = await safeFetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body,
      timeoutMs: settings.timeoutMs ?? timeoutMs,
      bytesMax: answerMaxBytes,
      trusted: true,
      ...(signal ? { signal } : {}),
    }).catch((error: unknown): never => {
      const isTooLarge = error instanceof OutgoingError && error.kind === 'answer too large' && body.includes('"eth_getLogs"')
      throw isTooLarge ? new NodeError('RANGE', `an answer of more than ${answerMaxBytes} bytes`) : unreachable(error)
    })
    const yieldThread = await arrived?.(bytes.length)
    const text = new TextDecoder().decode(bytes)
    const answer = parseJson(text)
    const error = errorIn(answer) ?? (Array.isArray(answer) && (status !== 200 || answer.length === 1) ? errorIn(answer[0]) : undefined)
    if (status !== 200 || (error && !isAnswerTo(JSON.parse(body), answer)))
      throw new Refusal({ status, ...(error ?? { code: undefined, message: text }), retryAfterMs: retryAfterOf(headers, now()) })
    if (!isAnswerTo(JSON.parse(body), answer)) throw new NodeError('FAULT', 'it answered what is no answer to a batch')
    await yieldThread?.()
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the refusal of a node behind an error of viem; undefined for other errors. */
export function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof BaseError)) return undefined
  const cause = error.walk((inner) => inner instanceof Refusal || inner instanceof RpcRequestError)
  if (cause instanceof Refusal) return cause
  return cause instanceof RpcRequestError ? new Refusal({ status: 200, code: cause.code, message: cause.details }) : undefined
}

function nodeErrorWithin(error: unknown): NodeError | undefined {
  const cause = error instanceof BaseError ? error.walk((inner) => inner instanceof NodeError) : undefined
  return cause instanceof NodeError ? cause : undefined
}

/** Whether a node did not answer or refused; false if viem rejected its answer. */
export const isNodeFailure = (error: unknown): boolean => nodeErrorWithin(error) !== undefined || refusalIn(error) !== undefined

/**
 * Returns the failure of a node behind an error of viem; undefined if the node answered and viem rejected the answer.
 */
export function nodeErrorIn(error: unknown, url: string): NodeError | undefined {
  const cause = nodeErrorWithin(error)
  if (cause) return cause
  const refusal = refusalIn(error)
  return refusal && failureOf(refusal, undefined, url)
}

/** A node. Only its host may be shown. `ask` throws NodeError if the node does not respond or refuses. */
export type Connection = { readonly host: string; ask<T>(work: (client: ChainClient) => Promise<T>): Promise<T> }

export function connect(settings: ClientSettings): Connection {
  const client = createClient(settings)
  return {
    host: new URL(settings.url).host,
    async ask(work) {
      try {
        return await work(client)
      } catch (error) {
        throw nodeErrorIn(error, settings.url) ?? error
      }
    },
  }
}
