import type { Database } from '../../db/engine.ts'
import type { Config } from '../config.ts'
import type { NewId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Clock, ClockWatch } from './clock.ts'
import type { ErrorNotes } from './error-notes.ts'
import type { Keyring } from './keyring.ts'
import type { SafeFetch, TxtLookup } from './outgoing.ts'
import type { Shared } from './shared-state.ts'

export type { Clock }

/**
 * For whom a password is hashed, which costs much: strangers, who may all become customers, do not hold up those who run shops and
 * the instance, and no address holds up another, nor a network of many addresses.
 */
export type PasswordTurn = { readonly kind: 'customer' | 'merchant'; readonly address: string }

/** All refuse with an AppError UNAVAILABLE when the wait would be too long for an answer in time. */
export type Passwords = {
  /** An argon2id hash of the password. */
  hash(password: string, turn: PasswordTurn): Promise<string>
  /** Whether the password belongs to the hash; without a hash it takes as long and says no. */
  verify(password: string, hash: string | undefined, turn: PasswordTurn): Promise<boolean>
}

/** Everything with an outside effect. Tests hand in their own. */
export type Deps = {
  readonly config: Config
  readonly db: Database
  readonly clock: Clock
  readonly clockWatch: ClockWatch
  /** Cryptographically strong random bytes. */
  readonly randomBytes: (count: number) => Uint8Array
  readonly newId: NewId
  readonly log: Log
  /** What the log has been told of errors. */
  readonly errorNotes: ErrorNotes
  readonly keyring: Keyring
  readonly passwords: Passwords
  readonly safeFetch: SafeFetch
  readonly lookUpTxt: TxtLookup
  /** The two letters of the country that an address is in, as the operator's file says; undefined where it does not, or there is none. */
  readonly countryOf: (address: string) => string | undefined
  /** What other processes of the instance know too. */
  readonly shared: Shared
  /** Resolves after so many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>
  /** Bytes free on the disk that holds the data, or undefined where that is the database server's concern. */
  readonly diskFree: () => number | undefined
  /** How many files, sockets and the like the process has open, and may have; undefined where the system does not say. */
  readonly openFiles: () => { readonly open: number; readonly max: number } | undefined
  /** Where the process is in its life. */
  readonly life: {
    stopping: boolean
    /** Where it listens, once it does. */
    url?: string
    /** What there is from before figures were kept is being counted: those of the dashboards and then those of shops, or the latter alone. */
    countingPast?: 'NETWORK' | 'SHOPS' | undefined
  }
  /** Tells this process from others on the same database: its machine, its number and something random. */
  readonly processName: string
  readonly build: { readonly version: string }
  /** The machine, by its name. */
  readonly host: string
}
