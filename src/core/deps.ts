import type { Database } from '../../db/engine.ts'
import type { Config } from '../config.ts'
import type { NewId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Clock, ClockWatch } from './clock.ts'
import type { ErrorNotes } from './error-notes.ts'
import type { Keyring } from './keyring.ts'
import type { SafeFetch, TxtLookup } from './outgoing.ts'
import type { SharedState } from './shared-state.ts'

export type { Clock }

/**
 * The caller on whose behalf a password is hashed. Hashing is expensive, so the queue is fair between customers and
 * merchants, between networks, and between addresses.
 */
export type PasswordCaller = { readonly kind: 'customer' | 'merchant'; readonly address: string }

/** All methods throw AppError UNAVAILABLE if the queue is too long for a response in time. */
export type Passwords = {
  /** Returns an argon2id hash. */
  hash(password: string, turn: PasswordCaller): Promise<string>
  /** Verifies a password. Without a hash it takes the same time and returns false. */
  verify(password: string, hash: string | undefined, turn: PasswordCaller): Promise<boolean>
}

/** Everything with an external effect. Tests provide their own. */
export type Deps = {
  readonly config: Config
  readonly db: Database
  readonly clock: Clock
  readonly clockWatch: ClockWatch
  /** Cryptographically strong random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
  readonly newId: NewId
  readonly log: Log
  /** Counts of logged errors. */
  readonly errorNotes: ErrorNotes
  readonly keyring: Keyring
  readonly passwords: Passwords
  readonly safeFetch: SafeFetch
  readonly lookUpTxt: TxtLookup
  /** Country code of an address according to GEO_DATABASE; undefined if unknown. */
  readonly countryOf: (address: string) => string | undefined
  /** State that the processes of an instance share (Redis). */
  readonly shared: SharedState
  /** Resolves after `ms` milliseconds. */
  readonly sleep: (ms: number) => Promise<void>
  /** Free bytes of the disk with the data; undefined with PostgreSQL. */
  readonly diskFree: () => number | undefined
  /** Open file descriptors and their limit; undefined if the system does not report them. */
  readonly openFiles: () => { readonly open: number; readonly max: number } | undefined
  /** Lifecycle state of the process. */
  readonly life: {
    stopping: boolean
    /** URL of the server, once it listens. */
    url?: string
    /** Which figures of the past are being computed: those of the dashboards and of shops, or of shops only. */
    countingPast?: 'NETWORK' | 'SHOPS' | undefined
  }
  /** Identifies the process among those of the database: host name, pid and a random part. */
  readonly processName: string
  readonly build: { readonly version: string }
  /** Host name of the machine. */
  readonly host: string
}
