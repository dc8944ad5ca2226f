import type { Writer } from '../../db/engine.ts'
import type { AppError } from './errors.ts'

export type Claim =
  | {
      kind: 'claimed'
      /** An attempt before this one vanished: what it was to do may be done. */
      resumed: boolean
      /**
       * Stores the answer in the same write as the effect, so that both happen or neither.
       * @param isSure nobody waits to know whether it could be: if not, the write throws NothingChanged
       */
      keep: (tx: Writer, status: number, answer: unknown, isSure?: boolean) => Promise<void>
      fail: (status: number, answer: unknown) => Promise<void>
      /** Forgets the key: nothing has happened. */
      release: () => Promise<void>
      /** Lets the next request under the key go on at once with what this one has begun. */
      handOver: () => Promise<void>
      /** Keeps the key for as long again: its work lives. */
      renew: () => Promise<void>
    }
  | { kind: 'replay'; status: number; body: string }
  | { kind: 'mismatch' }
  | { kind: 'inFlight'; retryAfterSeconds: number }

/** One attempt at an idempotent request. */
export type Attempt = {
  /** Names the request in records of ours, so that the same one sent again is known by it; the caller's own key is not told by it. */
  readonly key: string
  /** An attempt under the same key vanished: what it was to do may be done. */
  readonly resumed: boolean
  /** Stores the answer inside the write that decides it, for those who do not make their write by `once`; `isSure` as there. Without a key it does nothing. */
  readonly keep: (tx: Writer, answer: unknown, isSure?: boolean) => Promise<void>
  /**
   * Stores a refusal inside the write that does what it tells of, for those who change something and refuse: sent again under its key the
   * request would meet what it has changed, and not be refused. The caller throws it then. Without a key it does nothing.
   * @param refusal one that stays the answer under its key: CONFLICT, NOT_FOUND or INCOMPLETE
   */
  readonly refuse: (tx: Writer, refusal: AppError) => Promise<void>
}

export type Idempotency = {
  claim(request: { scope: string; key: string; fingerprint: string }): Promise<Claim>
  /** Tells the database of attempts that have ended while it could not be told. */
  tellEnded(): Promise<void>
}
