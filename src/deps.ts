import type { Database } from '../db/engine.ts'
import type { SafeFetch } from './clients/safe-fetch.ts'
import type { Config } from './config.ts'
import type { AnswerCache } from './http/caching.ts'
import type { Idempotency } from './http/idempotency.ts'
import type { Identity } from './http/principal.ts'
import type { Keyring } from './keys.ts'
import type { NewId } from './lib/ids.ts'
import type { Log } from './lib/log.ts'

export type Clock = { /** Milliseconds since the epoch. */ now(): number }

export type Passwords = {
  /** An argon2id hash of the password. */
  hash(password: string): Promise<string>
  /** Whether the password belongs to the hash; without a hash it takes as long and says no. */
  verify(password: string, hash: string | undefined): Promise<boolean>
}

/** Everything with an outside effect. Tests hand in their own. */
export type Deps = {
  readonly config: Config
  readonly db: Database
  readonly clock: Clock
  /** Cryptographically strong random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
  readonly newId: NewId
  readonly log: Log
  readonly keyring: Keyring
  readonly passwords: Passwords
  readonly safeFetch: SafeFetch
  /** Resolves after so many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>
  /** Bytes free on the disk that holds the data, or undefined where that is the database server's concern. */
  readonly diskFree: () => number | undefined
  readonly build: { readonly version: string; readonly startedAt: number }
}

/** What the HTTP layer needs besides. */
export type HttpDeps = Deps & {
  readonly identity: Identity
  readonly idempotency: Idempotency
  /** Whole public answers, kept while the database does not change. */
  readonly answers: AnswerCache
  /** The caller's address, for limits: always something. */
  readonly limitKey: (request: Request) => string
  /** The caller's address, for what is guarded by address; undefined when it cannot be believed. */
  readonly guardedAddress: (request: Request) => string | undefined
}
