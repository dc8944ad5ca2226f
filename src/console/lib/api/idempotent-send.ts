/** What is to happen once, however often it is sent. */
import { ApiError } from './api-error.ts'

export type IdempotentSend = <T, Seen = undefined>(
  what: unknown,
  send: (key: string, seen: Seen) => Promise<T>,
  see?: () => Seen,
) => Promise<T>
/** Of what nobody knows the outcome of. */
export type PendingSend = { readonly key: string; readonly seen: unknown }

/**
 * Sends under one `Idempotency-Key` for as long as the same is asked and nobody knows what became of it. Something else, or the same again
 * after an answer, is another intention: a refusal is kept under its key, and would be answered again though its cause is gone.
 * @param sent what nobody knows the outcome of, by what it is: whoever closes a window and opens it again means the same
 * @returns sends `what` by `send`, which gets the key, and what `see` gave when it was sent for the first time: the same is meant where the same was
 *   typed, though the body would be another by now. What `see` throws keeps it from being sent
 */
export function createIdempotentSend(
  newKey: () => string,
  sent = new Map<string, PendingSend>(),
  about: () => string = () => '',
): IdempotentSend {
  return async <T, Seen = undefined>(what: unknown, send: (key: string, seen: Seen) => Promise<T>, see?: () => Seen): Promise<T> => {
    const of = `${about()} ${JSON.stringify(what) ?? ''}`
    const first = sent.get(of) ?? { key: newKey(), seen: see?.() }
    sent.set(of, first)
    try {
      const answer = await send(first.key, first.seen as Seen)
      sent.delete(of)
      return answer
    } catch (error) {
      if (isDecided(error)) sent.delete(of)
      throw error
    }
  }
}

/** Of these nothing is kept under a key: they say nothing of what was sent under it before. */
const statusesNotStored: readonly number[] = [400, 401, 403, 429]
/** Whether it certainly did not happen. The same key at work still says when to ask again. */
const isDecided = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status >= 400 &&
  error.status < 500 &&
  !statusesNotStored.includes(error.status) &&
  error.retryAfter === null
