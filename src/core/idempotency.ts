import type { Writer } from '../../db/engine.ts'

/** Stores the answer in the same write as the effect, so that both happen or neither. */
export type Keep = (tx: Writer, answer: unknown) => Promise<void>

export type Claim =
  | {
      kind: 'claimed'
      /** An attempt before this one vanished: what it was to do may be done. */
      resumed: boolean
      keep: (status: number) => Keep
      fail: (status: number, answer: unknown) => Promise<void>
      release: () => Promise<void>
    }
  | { kind: 'replay'; status: number; body: string }
  | { kind: 'mismatch' }
  | { kind: 'inFlight'; retryAfterSeconds: number }

export type Idempotency = { claim(request: { scope: string; key: string; fingerprint: string }): Promise<Claim> }
