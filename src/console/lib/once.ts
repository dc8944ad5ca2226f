/** What is to happen once, however often it is sent. */
import { Refused } from './refused.ts'

export type Once = <T, Seen = undefined>(what: unknown, send: (key: string, seen: Seen) => Promise<T>, seen?: Seen) => Promise<T>
/** Of what nobody knows the outcome of. */
export type Sent = { readonly key: string; readonly seen: unknown }

/**
 * Sends under one `Idempotency-Key` for as long as the same is asked and nobody knows what became of it. Something else, or the same again
 * after an answer, is another intention: a refusal is kept under its key, and would be answered again though its cause is gone.
 * @param undecided what nobody knows the outcome of, by what it is: whoever closes a window and opens it again means the same
 * @returns sends `what` by `send`, which gets the key, and what was `seen` when it was sent for the first time
 */
export function once(newKey: () => string, undecided = new Map<string, Sent>(), about: () => string = () => ''): Once {
  return async <T, Seen = undefined>(what: unknown, send: (key: string, seen: Seen) => Promise<T>, seen?: Seen) => {
    const of = `${about()} ${JSON.stringify(what) ?? ''}`
    const sent = undecided.get(of) ?? { key: newKey(), seen }
    undecided.set(of, sent)
    try {
      const answer = await send(sent.key, sent.seen as Seen)
      undecided.delete(of)
      return answer
    } catch (error) {
      if (isDecided(error)) undecided.delete(of)
      throw error
    }
  }
}

/** Whether it certainly did not happen. The same key at work still says when to ask again. */
const isDecided = (error: unknown): boolean =>
  error instanceof Refused && error.status >= 400 && error.status < 500 && error.retryAfter === null
