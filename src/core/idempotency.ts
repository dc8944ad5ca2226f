import type { Writer } from '../../db/engine.ts'

export type Claim =
  | {
      kind: 'claimed'
      /** An attempt before this one vanished: what it was to do may be done. */
      resumed: boolean
      /** Stores the answer in the same write as the effect, so that both happen or neither. */
      keep: (tx: Writer, status: number, answer: unknown) => Promise<void>
      fail: (status: number, answer: unknown) => Promise<void>
      release: () => Promise<void>
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
}

export type Idempotency = { claim(request: { scope: string; key: string; fingerprint: string }): Promise<Claim> }
