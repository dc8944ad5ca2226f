/** Calls providers and validates their responses. */

import { ProviderError } from '../../core/operations.ts'
import { OutgoingError, type SafeFetch, type SafeResponse } from '../../core/outgoing.ts'
import { plainText } from '../../lib/plain-text.ts'
import { countAt, textAt, valueAt } from '../processors/answers.ts'

export { countAt, textAt, valueAt }

export type ProviderPort = {
  readonly safeFetch: SafeFetch
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** The time for all calls of one query. */
  readonly totalMs?: number
}
type CallOptions = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Accepted statuses. */
  readonly takes?: readonly number[]
}
export type ProviderResponse = {
  readonly status: number
  readonly headers: Headers
  readonly bytes: number
  /** Undefined without a body. */
  readonly json: unknown
}
export type Ask = (url: string, call?: CallOptions) => Promise<ProviderResponse>

/** A hundred issues of Sentry take about 400 KB. */
const answerMaxBytes = 4 * 1024 * 1024
const totalMaxMs = 15_000
const retryAfterMaxMs = 60 * 60_000
const second = 1_000
/** The limit of names and titles. */
const textMax = 200

/**
 * Creates a function that makes the calls of one query within one time limit.
 * @throws ProviderError for every failure
 */
export function createAsk({ safeFetch, now, totalMs = totalMaxMs }: ProviderPort): Ask {
  // The timer does not keep the process alive.
  const signal = AbortSignal.timeout(totalMs)
  return async (url, { takes = [200], ...call } = {}) => {
    const answer = await safeFetch(url, {
      ...call,
      headers: { accept: 'application/json', 'user-agent': 'souk', ...call.headers },
      timeoutMs: totalMs,
      bytesMax: answerMaxBytes,
      trusted: true,
      signal,
    }).catch((error: unknown) => {
      // The message of any other error may contain the URL.
      throw new ProviderError(error instanceof OutgoingError ? error.message : 'no answer', undefined, { cause: error })
    })
    if (!takes.includes(answer.status)) throw refusal(answer, now())
    return {
      status: answer.status,
      headers: answer.headers,
      bytes: answer.bytes.length,
      json: answer.bytes.length > 0 ? parseJson(answer) : undefined,
    }
  }
}

/** Classifies an unexpected response. */
function refusal({ status, headers, bytes }: SafeResponse, now: number): ProviderError {
  const isLimited = headers.get('x-ratelimit-remaining') === '0' || /throttl|limit exceeded|too many/i.test(awsErrorCode(bytes))
  const pause = pauseOf(headers, now)
  if (status === 429 || ((status === 400 || status === 403) && isLimited))
    return new ProviderError(`asked too often (status ${status})`, pause)
  if (status === 401 || status === 403) return new ProviderError(`the credentials were refused (status ${status})`)
  return new ProviderError(`status ${status}`, pause)
}

/** AWS puts the error type into the body. */
const awsErrorCode = (bytes: Uint8Array): string => {
  const text = new TextDecoder().decode(bytes.subarray(0, 2_000))
  return /"(?:__type|code)"\s*:\s*"([^"]{1,200})"/i.exec(text)?.[1] ?? ''
}

/** Reads `Retry-After` (seconds or a date) or GitHub's rate limit reset; undefined without either. */
function pauseOf(headers: Headers, now: number): number | undefined {
  const after = headers.get('retry-after')
  const reset = headers.get('x-ratelimit-remaining') === '0' ? headers.get('x-ratelimit-reset') : null
  const ms = after
    ? /^\d{1,9}$/.test(after)
      ? Number(after) * second
      : Date.parse(after) - now
    : reset
      ? Number(reset) * second - now
      : Number.NaN
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), retryAfterMaxMs) : undefined
}

function parseJson({ headers, bytes }: SafeResponse): unknown {
  if (!/json/i.test(headers.get('content-type') ?? '')) throw new ProviderError('the answer is not JSON')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new ProviderError('the answer is not JSON')
  }
}

/**
 * Requires a value.
 * @throws ProviderError that names what is missing but quotes no content
 */
export function requireValue<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new ProviderError(`the answer makes no sense: ${what}`)
  return value
}

/** Requires a list. */
export function listAt(json: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = valueAt(json, ...path)
  if (!Array.isArray(value)) throw new ProviderError(`the answer makes no sense: no list ${path.join('.')}`)
  return value
}

/** Requires a text and makes it safe to display. */
export const displayTextAt = (json: unknown, ...path: readonly (string | number)[]): string =>
  requireValue(plainText(textAt(json, ...path) ?? '', textMax) || undefined, `no ${path.join('.')}`)

/** Requires a time; returns ISO 8601 in UTC. */
export function instantAt(json: unknown, ...path: readonly (string | number)[]): string {
  const time = Date.parse(textAt(json, ...path) ?? '')
  if (Number.isNaN(time)) throw new ProviderError(`the answer makes no sense: no time ${path.join('.')}`)
  return new Date(time).toISOString()
}

/** Requires a count. */
export const numberAt = (json: unknown, ...path: readonly (string | number)[]): number =>
  requireValue(countAt(json, ...path), `no count ${path.join('.')}`)

/** Returns the parameters of the next page from a `Link` header; undefined on the last page. */
export function nextPage(headers: Headers): URLSearchParams | undefined {
  for (const link of (headers.get('link') ?? '').split(/,\s*(?=<)/)) {
    const [, url = '', attributes = ''] = /^<([^>]*)>(.*)$/s.exec(link.trim()) ?? []
    // Sentry always names a next page and says whether it has results.
    if (/rel="?next"?/.test(attributes) && !/results="?false"?/.test(attributes)) return URL.parse(url)?.searchParams
  }
  return undefined
}

/** Derives a state from counts alone. */
export const stateByCounts = (desired: number, running: number) => (running >= desired ? 'steady' : 'degraded')
