/** Names, manifests and retention of backups. */

import { dayMs, dayNumberOf, hourMs } from '../../../lib/day.ts'
import { parseJson } from '../../../lib/json.ts'
import { sha256 } from '../../../lib/seal.ts'

/** The record of a backup. It is written last: a backup without it does not exist. */
export type Manifest = {
  readonly format: 'souk backup'
  readonly version: 1
  readonly name: string
  /** When the backup started, in milliseconds since the epoch. It contains every write acknowledged before. */
  readonly at: number
  /** The version of souk. */
  readonly souk: string
  /** Distinguishes the backups of different instances. */
  readonly instance: string
  readonly database: {
    readonly bytes: number
    readonly sha256: string
    readonly rows: Readonly<Record<string, number>>
    readonly migrations: readonly string[]
  }
  /** The versions of the encryption keys that its secrets need. Never the keys themselves. */
  readonly keys: readonly string[]
  /** Whether the sealed key file is part of the backup. */
  readonly withKeys: boolean
  readonly documents: readonly string[]
  /** Named documents that could not be copied. */
  readonly missing: readonly string[]
}

/** A complete backup, from its manifest. */
export type Backup = Pick<Manifest, 'name' | 'at' | 'instance' | 'keys' | 'missing'> & { readonly bytes: number }

/** @param at milliseconds since the epoch */
export const backupName = (at: number): string => new Date(at).toISOString().replace(/[-:.]/g, '')
/** Returns whether a text is the name of a backup, which may be incomplete. */
export const isBackupName = (text: string): boolean => /^\d{8}T\d{9}Z$/.test(text)
/** The first character of every backup name until the year 3000, so that listings skip other files. */
export const backupNamePrefix = '2'

/**
 * Returns the path of a backup's manifest.
 * @param name of the backup
 */
export const manifestOf = (name: string): string => `${name}/manifest.json`
/** Returns the path of its database file. */
export const databaseOf = (name: string): string => `${name}/souk.db`
/** Returns the path of its sealed key file. */
export const keysOf = (name: string): string => `${name}/keys.json`
export const documentsFolder = 'documents/'
export const keysFolder = 'keys/'
/**
 * Returns the path of a document, which all backups share.
 * @param name its storage name
 */
export const documentOf = (name: string): string => `${documentsFolder}${name}`

/** Parses a manifest of this version; undefined for any other text. */
export function parseManifest(text: string): Manifest | undefined {
  const manifest = parseJson(text) as Manifest | null | undefined
  if (manifest?.format !== 'souk backup' || manifest.version !== 1) return undefined
  const isWhole = isBackupName(manifest.name) && Number.isSafeInteger(manifest.at) && typeof manifest.database?.sha256 === 'string'
  return isWhole ? manifest : undefined
}

type RetentionRule = { readonly daily: number; readonly weekly: number; readonly monthly: number }

/**
 * Selects the backups to keep: the last of each of the newest days, weeks (from Monday) and months (UTC), and all of
 * the newest one's last 24 hours.
 * A backup from the future, made with a wrong clock, is kept until its time has come and counts for no period.
 * @param backups in any order
 * @param now milliseconds; at least the time of the newest backup that is not in the future
 */
export function retainedBackups<B extends Pick<Backup, 'name' | 'at'>>(
  backups: readonly B[],
  { daily, weekly, monthly }: RetentionRule,
  now: number,
): ReadonlySet<string> {
  const isInFuture = ({ at }: B) => at > now
  const newestFirst = backups.filter((backup) => !isInFuture(backup)).sort((a, b) => b.at - a.at)
  const lastOf = (most: number, spanOf: (at: number) => number | string) => {
    const spans = new Map<number | string, string>()
    for (const { at, name } of newestFirst) {
      const span = spanOf(at)
      if (spans.size < most && !spans.has(span)) spans.set(span, name)
    }
    return spans.values()
  }
  const newest = newestFirst[0]?.at ?? 0
  return new Set([
    ...backups.filter(isInFuture).map(({ name }) => name),
    ...newestFirst.filter(({ at }) => newest - at < dayMs).map(({ name }) => name),
    ...lastOf(Math.max(1, daily), dayNumberOf),
    // The epoch began on a Thursday.
    ...lastOf(weekly, (at) => Math.floor((dayNumberOf(at) + 3) / 7)),
    ...lastOf(monthly, (at) => new Date(at).toISOString().slice(0, 7)),
  ])
}

/** Returns whether the last backup is too old. Without one, the time counts from when it could first be made. */
export const isLate = (lastAt: number | undefined, since: number, now: number, lateHours: number): boolean =>
  now - (lastAt ?? since) > lateHours * hourMs

/**
 * Returns whether a backup verifies an existing document on this day (UTC). Each document is verified once in seven
 * days.
 * @param at milliseconds since the epoch
 */
export const isVerificationDay = (at: number, document: string): boolean =>
  (Number.parseInt(sha256(document).slice(0, 8), 16) + dayNumberOf(at)) % 7 === 0

/**
 * Returns whether a path is on the disk of the data directory.
 * @param deviceOf identifies the disk of a path; undefined if unknown
 */
export const isOnSameDisk = (location: string, dataDir: string, deviceOf: (path: string) => number | undefined): boolean => {
  const device = deviceOf(location)
  return device !== undefined && device === deviceOf(dataDir)
}

/** Derives the id of a random key. */
export const keyId = (secret: Uint8Array): string => sha256(Buffer.from(secret).toString('hex')).slice(0, 8)

/** Compares row counts with the manifest, one line per table. */
export function rowProblems(recorded: Manifest['database']['rows'], found: Manifest['database']['rows']): string[] {
  const tables = [...new Set([...Object.keys(recorded), ...Object.keys(found)])].sort()
  return tables
    .filter((table) => recorded[table] !== found[table])
    .map((table) => `${table}: ${found[table] ?? 'no'} rows instead of ${recorded[table] ?? 'none'}`)
}
