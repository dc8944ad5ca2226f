import { ApiError } from './api-error.ts'

export type IdempotencyHeader = { readonly 'idempotency-key': string }
export type IdempotentSend = <T, Snapshot = undefined>(
  content: unknown,
  send: (header: IdempotencyHeader, snapshot: Snapshot) => Promise<T>,
  takeSnapshot?: () => Snapshot,
) => Promise<T>
/** A request whose outcome is unknown. */
export type PendingSend = { readonly key: string; readonly snapshot: unknown }

/**
 * Creates a sender that repeats a request under the same `Idempotency-Key` until its outcome is known. A changed
 * request, or one sent after a response, gets a new key: the server replays a stored refusal, even if its cause is
 * gone.
 * @param pendingSends requests with unknown outcome, by content; shared, so that a reopened dialog repeats its request
 * @returns a function that calls `send` with the header and the snapshot that the first attempt took. An error of
 * `takeSnapshot` prevents sending.
 */
export function createIdempotentSend(
  newKey: () => string,
  pendingSends = new Map<string, PendingSend>(),
  scope: () => string = () => '',
): IdempotentSend {
  return async <T, Snapshot = undefined>(
    content: unknown,
    send: (header: IdempotencyHeader, snapshot: Snapshot) => Promise<T>,
    takeSnapshot?: () => Snapshot,
  ): Promise<T> => {
    const contentKey = `${scope()} ${JSON.stringify(content) ?? ''}`
    const attempt = pendingSends.get(contentKey) ?? { key: newKey(), snapshot: takeSnapshot?.() }
    pendingSends.set(contentKey, attempt)
    try {
      const response = await send({ 'idempotency-key': attempt.key }, attempt.snapshot as Snapshot)
      pendingSends.delete(contentKey)
      return response
    } catch (error) {
      if (isDefiniteFailure(error)) pendingSends.delete(contentKey)
      throw error
    }
  }
}

/** Statuses that the server does not store under a key, so they say nothing about an earlier attempt. */
const statusesNotStored: readonly number[] = [400, 401, 403, 429]
/** Returns whether the request definitely failed. A 409 with `Retry-After` means that the first attempt still runs. */
const isDefiniteFailure = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  !statusesNotStored.includes(error.status) &&
  error.retryAfter === null
