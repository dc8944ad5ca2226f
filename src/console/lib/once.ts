/** What is to happen once, however often it is sent. */
import { Refused } from './refused.ts'

export type Once = <T>(what: unknown, send: (key: string) => Promise<T>) => Promise<T>

/**
 * Sends under one `Idempotency-Key` for as long as the same is asked and nobody knows what became of it. Something else, or the same again
 * after an answer, is another intention: a refusal is kept under its key, and would be answered again though its cause is gone.
 * @param undecided keys of what nobody knows the outcome of, by what it is: whoever closes a window and opens it again means the same
 * @returns sends `what` by `send`, which gets the key
 */
export function once(newKey: () => string, undecided = new Map<string, string>(), about: () => string = () => ''): Once {
  return async (what, send) => {
    const of = `${about()} ${JSON.stringify(what) ?? ''}`
    const key = undecided.get(of) ?? newKey()
    undecided.set(of, key)
    try {
      const answer = await send(key)
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
