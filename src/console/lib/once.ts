/** What is to happen once, however often it is sent. */
import { Refused } from './refused.ts'

export type Once = {
  <T, Seen = undefined>(what: unknown, send: (key: string, seen: Seen) => Promise<T>, seen?: Seen): Promise<T>
  /** What was sent by then, where nobody knows what became of it: sent again, it is to be the same. */
  undecided(what: unknown): unknown
}
/** Of what nobody knows the outcome of. */
export type Sent = { readonly key: string; readonly seen: unknown }

/**
 * Sends under one `Idempotency-Key` for as long as the same is asked and nobody knows what became of it. Something else, or the same again
 * after an answer, is another intention: a refusal is kept under its key, and would be answered again though its cause is gone.
 * @param sent what nobody knows the outcome of, by what it is: whoever closes a window and opens it again means the same
 * @returns sends `what` by `send`, which gets the key, and what was `seen` when it was sent for the first time: of two the same is meant where
 *   the same was typed, though the body would be another by now
 */
export function once(newKey: () => string, sent = new Map<string, Sent>(), about: () => string = () => ''): Once {
  const nameOf = (what: unknown) => `${about()} ${JSON.stringify(what) ?? ''}`
  async function send<T, Seen = undefined>(what: unknown, send: (key: string, seen: Seen) => Promise<T>, seen?: Seen): Promise<T> {
    const of = nameOf(what)
    const first = sent.get(of) ?? { key: newKey(), seen }
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
  return Object.assign(send, { undecided: (what: unknown) => sent.get(nameOf(what))?.seen })
}

/** Of these nothing is kept under a key: they say nothing of what was sent under it before. */
const unkept: readonly number[] = [400, 401, 403, 429]
/** Whether it certainly did not happen. The same key at work still says when to ask again. */
const isDecided = (error: unknown): boolean =>
  error instanceof Refused && error.status >= 400 && error.status < 500 && !unkept.includes(error.status) && error.retryAfter === null
