import type { Writer } from '../../db/engine.ts'
import type { AppError } from './errors.ts'

/**
 * The result of claiming a key. Without `claimed`, the request does not run: it gets the stored response or a refusal.
 */
export type Claim =
  | {
      kind: 'claimed'
      /** An earlier attempt ended without a result: its effect may exist already. */
      isResumed: boolean
      /**
       * Stores the response in the write of the effect.
       * @param isSure does not wait for the result: if the key has another attempt, the write throws NothingChanged
       */
      storeAnswer: (tx: Writer, status: number, answer: unknown, isSure?: boolean) => Promise<void>
      /** See `Attempt`. */
      assertUnused: () => Promise<void>
      /**
       * Stores a refusal. `fail`, `release` and `handOver` throw AppError CONFLICT if another request with the key has
       * done the work.
       */
      storeRefusal: (status: number, answer: unknown) => Promise<void>
      /** Deletes the key, because nothing happened. */
      release: () => Promise<void>
      /** Lets the next request with the key continue at once. */
      handOver: () => Promise<void>
      /** Extends the lease of the key. */
      renew: () => Promise<void>
    }
  | { kind: 'replay'; status: number; body: string }
  | { kind: 'mismatch' }
  | { kind: 'inFlight'; retryAfterSeconds: number }

/** One attempt at an idempotent request. */
export type Attempt = {
  /** A hash that identifies the request in stored records. It does not reveal the caller's key. */
  readonly key: string
  /** An earlier attempt with the same key ended without a result: its effect may exist already. */
  readonly isResumed: boolean
  /**
   * Stores the response inside the write of the effect, for routes that do not use the write of `once`. Does nothing
   * without a key.
   * @param isSure as in `Claim`
   */
  readonly storeAnswer: (tx: Writer, answer: unknown, isSure?: boolean) => Promise<void>
  /**
   * Stores a refusal inside the write that causes it; the caller throws it afterwards. A retry would otherwise see the
   * changed state. Does nothing without a key.
   * @param refusal an error that is stored: CONFLICT, NOT_FOUND or INCOMPLETE
   */
  readonly storeRefusal: (tx: Writer, refusal: AppError) => Promise<void>
  /**
   * Call it before an effect outside the write that stores the response, such as the cancellation of a payment.
   * @throws AppError CONFLICT if a concurrent request with the key has done the work
   */
  readonly assertUnused: () => Promise<void>
}

/** What an attempt without a key stores and checks: nothing. */
export const storesNothing: Omit<Attempt, 'key' | 'isResumed'> = {
  storeAnswer: async () => undefined,
  storeRefusal: async () => undefined,
  assertUnused: async () => undefined,
}

/** Stores responses by idempotency key, so that a retry has no second effect. */
export type Idempotency = {
  /**
   * Claims a key. `isOneWrite`: the request makes one write, which stores the answer and inserts the key too. Requests
   * with the same key all work then; the first write that commits wins, and the others change nothing. An
   * effect outside that write calls `assertUnused` first.
   */
  claim(request: { scope: string; key: string; fingerprint: string; isOneWrite?: boolean }): Promise<Claim>
  /** Retries to store the ends of attempts that the database could not store before. */
  flushEnded(): Promise<void>
}
