/** One HTTPS call to a payment processor, and the meaning of its failures. */
import { OutgoingError, type OutgoingFailure, type SafeFetch } from '../../core/outgoing.ts'
import { ProcessorUnavailable, UnknownAnswer } from './processor.ts'

/**
 * Card issuers answer within ten seconds, and a timeout leaves a payment unknown.
 */
export const callTimeoutMs = 25_000
const answerBytesDefault = 1_000_000

export type Call = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** For long answers: lists without pages. */
  readonly answerBytesMax?: number
}
/** `json` is undefined for an empty answer, and for a 4xx without JSON: its status is enough. */
export type CallAnswer = { readonly status: number; readonly headers: Headers; readonly json: unknown }

/** Makes calls for one account. `trusted`: the operator chose the URL; a merchant's is guarded. */
export type ProcessorPort = { readonly fetch: SafeFetch; readonly trusted: boolean; readonly timeoutMs?: number }

/**
 * Calls a processor and reads its answer as JSON.
 * @throws ProcessorUnavailable for no answer, a part of one, and 5xx; UnknownAnswer for a redirect, 408, 425, an answer
 *   that is too large, and a success without JSON. The request may have had its effect after each of them.
 */
export async function callProcessor(
  { fetch, trusted, timeoutMs = callTimeoutMs }: ProcessorPort,
  { url, answerBytesMax = answerBytesDefault, ...call }: Call,
): Promise<CallAnswer> {
  const loopback = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(url)
  const options = { ...call, timeoutMs, bytesMax: answerBytesMax, httpsOnly: !loopback, trusted }
  const { status, headers, bytes } = await fetch(url, options).catch((cause: unknown) => {
    throw cause instanceof OutgoingError ? unavailableFor(cause) : cause
  })
  if (status >= 500) throw new ProcessorUnavailable(`the processor answered ${status}`, { counts: true })
  if (status === 408 || status === 425) throw new UnknownAnswer(`status ${status}`)
  const text = new TextDecoder().decode(bytes)
  if (text === '') return { status, headers, json: undefined }
  try {
    return { status, headers, json: JSON.parse(text) }
  } catch (cause) {
    if (status >= 400) return { status, headers, json: undefined }
    throw new UnknownAnswer(`status ${status} without JSON`, { cause })
  }
}

const outages: readonly OutgoingFailure[] = ['timeout', 'connection failed', 'certificate not trusted']

/** Returns the error of a failed exchange: an outage, an unusable answer, or a forbidden address. */
function unavailableFor(cause: OutgoingError): ProcessorUnavailable {
  const { kind, message, status = 0 } = cause
  if (outages.includes(kind) || status >= 500)
    return new ProcessorUnavailable(`the processor did not answer: ${message}`, { cause, counts: true })
  if (status > 0) return new UnknownAnswer(`status ${status}, ${message}`, { cause })
  return new ProcessorUnavailable(`the processor was not called: ${message}`, { cause })
}

/** Returns a port for all calls of one operation, which share one timeout, so that its duration is known. */
export function portOfOperation({ now, timeoutMs = callTimeoutMs, ...port }: ProcessorPort & { now(): number }): ProcessorPort {
  const until = now() + timeoutMs
  return {
    ...port,
    get timeoutMs() {
      return Math.min(timeoutMs, Math.max(1, until - now()))
    },
  }
}

/**
 * Checks that a refusal is not a page in HTML: that comes from a proxy, so its 404 does not mean that the object is
 * missing, and its 400 does not mean that the processor refused. 401, 403, 409 and 429 are inconclusive anyway.
 * @throws UnknownAnswer
 */
export function assertNoPage({ status, headers }: CallAnswer): void {
  if (status < 400 || [401, 403, 409, 429].includes(status)) return
  if (/^text\/html\b/i.test(headers.get('content-type') ?? '')) throw new UnknownAnswer(`status ${status} of a proxy`)
}

/**
 * Creates the error for a status that does not show the payment's state. 401, 403 and 429 mean that the call had no
 * effect; 409 leaves it unknown.
 */
export const inconclusiveError = (status: number): ProcessorUnavailable =>
  new ProcessorUnavailable(`the processor answered ${status}`, { neverSent: status !== 409 })
