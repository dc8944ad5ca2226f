/** Asks providers and reads what they answer: nobody vouches for its form. */

import { ProviderError } from '../../core/operations.ts'
import { OutgoingError, type SafeAnswer, type SafeFetch } from '../../core/outgoing.ts'
import { plainText } from '../../lib/plain-text.ts'
import { countAt, textAt, valueAt } from '../processors/answers.ts'

export { countAt, textAt, valueAt }

export type Calling = {
  readonly safeFetch: SafeFetch
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** For all calls of one question together. */
  readonly totalMs?: number
}
export type Call = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Which statuses are answers. */
  readonly takes?: readonly number[]
}
export type Answered = {
  readonly status: number
  readonly headers: Headers
  readonly bytes: number
  /** Undefined where there is no body. */
  readonly json: unknown
}
export type Ask = (url: string, call?: Call) => Promise<Answered>

/** A hundred issues of Sentry's are some 400 KB. */
const answerMaxBytes = 4 * 1024 * 1024
const totalMaxMs = 15_000
const retryAfterMaxMs = 60 * 60_000
const second = 1_000
/** Of names and titles. */
const textMax = 200

/** A way to make the calls of one question, all within the same time. @throws ProviderError for every failure there is */
export function createAsk({ safeFetch, now, totalMs = totalMaxMs }: Calling): Ask {
  // Cleared with the process: a timer of an abort signal holds nothing up.
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
      // Another error may quote the URL.
      throw new ProviderError(error instanceof OutgoingError ? error.message : 'no answer', undefined, { cause: error })
    })
    if (!takes.includes(answer.status)) throw refusal(answer, now())
    return {
      status: answer.status,
      headers: answer.headers,
      bytes: answer.bytes.length,
      json: answer.bytes.length > 0 ? parsed(answer) : undefined,
    }
  }
}

/** What an answer is that is none of those that were expected. */
function refusal({ status, headers, bytes }: SafeAnswer, now: number): ProviderError {
  const isLimited = headers.get('x-ratelimit-remaining') === '0' || /throttl|limit exceeded|too many/i.test(wordOf(bytes))
  const pause = pauseOf(headers, now)
  if (status === 429 || ((status === 400 || status === 403) && isLimited))
    return new ProviderError(`asked too often (status ${status})`, pause)
  if (status === 401 || status === 403) return new ProviderError(`the credentials were refused (status ${status})`)
  return new ProviderError(`status ${status}`, pause)
}

/** AWS says in the body which error it is. */
const wordOf = (bytes: Uint8Array): string => {
  const text = new TextDecoder().decode(bytes.subarray(0, 2_000))
  return /"(?:__type|code)"\s*:\s*"([^"]{1,200})"/i.exec(text)?.[1] ?? ''
}

/** `Retry-After` in seconds or as a date, or GitHub's end of a limit; undefined where none says anything. */
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

function parsed({ headers, bytes }: SafeAnswer): unknown {
  if (!/json/i.test(headers.get('content-type') ?? '')) throw new ProviderError('the answer is not JSON')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new ProviderError('the answer is not JSON')
  }
}

/** What has to be there. @throws ProviderError that says what was missing, and nothing that was answered */
export function needed<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new ProviderError(`the answer makes no sense: ${what}`)
  return value
}

/** A list that has to be there. */
export function listAt(json: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = valueAt(json, ...path)
  if (!Array.isArray(value)) throw new ProviderError(`the answer makes no sense: no list ${path.join('.')}`)
  return value
}

/** A text that is fit to be shown, and has to be there. */
export const plainAt = (json: unknown, ...path: readonly (string | number)[]): string =>
  needed(plainText(textAt(json, ...path) ?? '', textMax) || undefined, `no ${path.join('.')}`)

/** A moment, as ISO 8601 in UTC, that has to be there. */
export function instantAt(json: unknown, ...path: readonly (string | number)[]): string {
  const at = Date.parse(textAt(json, ...path) ?? '')
  if (Number.isNaN(at)) throw new ProviderError(`the answer makes no sense: no time ${path.join('.')}`)
  return new Date(at).toISOString()
}

/** A count that has to be there. */
export const numberAt = (json: unknown, ...path: readonly (string | number)[]): number =>
  needed(countAt(json, ...path), `no count ${path.join('.')}`)

/** What of a `Link` header leads to the next page: the parameters of its URL; undefined on the last page. */
export function nextPage(headers: Headers): URLSearchParams | undefined {
  for (const link of (headers.get('link') ?? '').split(/,\s*(?=<)/)) {
    const [, url = '', rest = ''] = /^<([^>]*)>(.*)$/s.exec(link.trim()) ?? []
    // Sentry names a next page in any case, and says whether there is anything on it.
    if (/rel="?next"?/.test(rest) && !/results="?false"?/.test(rest)) return URL.parse(url)?.searchParams
  }
  return undefined
}

/** The state that the counts alone tell. */
export const stateByCounts = (desired: number, running: number) => (running >= desired ? 'steady' : 'degraded')
