/** What is to happen once, however often it is sent. */
import { Refused } from './refused.ts'

export type Once = <T>(what: unknown, send: (key: string) => Promise<T>) => Promise<T>

/**
 * Sends under one `Idempotency-Key` for as long as the same is asked and nobody knows what became of it. Something else, or the same again
 * after an answer, is another intention: a refusal is kept under its key, and would be answered again though its cause is gone.
 * @returns sends `what` by `send`, which gets the key
 */
export function once(newKey: () => string): Once {
  let held: { readonly of: string; readonly key: string } | undefined
  return async (what, send) => {
    const of = JSON.stringify(what) ?? ''
    if (held?.of !== of) held = { of, key: newKey() }
    try {
      const answer = await send(held.key)
      held = undefined
      return answer
    } catch (error) {
      if (isDecided(error)) held = undefined
      throw error
    }
  }
}

/** Whether it certainly did not happen. The same key at work still says when to ask again. */
const isDecided = (error: unknown): boolean =>
  error instanceof Refused && error.status >= 400 && error.status < 500 && error.retryAfter === null
