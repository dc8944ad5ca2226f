import { ApiError } from './api-error.ts'

export type IdempotencyHeader = { readonly 'idempotency-key': string }
export type IdempotentSend = <T, Seen = undefined>(
  what: unknown,
  send: (header: IdempotencyHeader, seen: Seen) => Promise<T>,
  see?: () => Seen,
) => Promise<T>
/** A request whose outcome is unknown. */
export type PendingSend = { readonly key: string; readonly seen: unknown }

/**
 * Creates a sender that repeats a request under the same `Idempotency-Key` until its outcome is known. A changed
 * request, or one sent after a response, gets a new key: the server replays a stored refusal, even if its cause is
 * gone.
 * @param sent requests with unknown outcome, by content; shared, so that a reopened dialog repeats its request
 * @returns a function that calls `send` with the header and the result of `see` from the first attempt. An error of
 * `see` prevents sending.
 */
export function createIdempotentSend(
  newKey: () => string,
  sent = new Map<string, PendingSend>(),
  about: () => string = () => '',
): IdempotentSend {
  return async <T, Seen = undefined>(
    what: unknown,
    send: (header: IdempotencyHeader, seen: Seen) => Promise<T>,
    see?: () => Seen,
  ): Promise<T> => {
    const of = `${about()} ${JSON.stringify(what) ?? ''}`
    const first = sent.get(of) ?? { key: newKey(), seen: see?.() }
    sent.set(of, first)
    try {
      const answer = await send({ 'idempotency-key': first.key }, first.seen as Seen)
      sent.delete(of)
      return answer
    } catch (error) {
      if (isDecided(error)) sent.delete(of)
      throw error
    }
  }
}

/** Statuses that the server does not store under a key, so they say nothing about an earlier attempt. */
const statusesNotStored: readonly number[] = [400, 401, 403, 429]
/** Returns whether the request definitely failed. A 409 with `Retry-After` means that the first attempt still runs. */
const isDecided = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  !statusesNotStored.includes(error.status) &&
  error.retryAfter === null
