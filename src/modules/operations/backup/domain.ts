/** What a backup is called, what is on record of it, and which ones are kept. */
import { sha256 } from '../../../lib/seal.ts'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** What is on record of a backup. It is written last: without it there is none. */
export type Manifest = {
  readonly format: 'souk backup'
  readonly version: 1
  readonly name: string
  /** When it was begun, in milliseconds since the epoch: everything that was acknowledged before is in it. */
  readonly at: number
  /** Of the program. */
  readonly souk: string
  /** Tells the backups of one instance from those of another. */
  readonly instance: string
  readonly database: {
    readonly bytes: number
    readonly sha256: string
    readonly rows: Readonly<Record<string, number>>
    readonly migrations: readonly string[]
  }
  /** Versions of the encryption keys without which its secrets cannot be read; never the keys. */
  readonly keys: readonly string[]
  /** Whether the keys are beside it, sealed like the rest. */
  readonly withKeys: boolean
  readonly documents: readonly string[]
  /** Documents that it names and that could not be copied. */
  readonly missing: readonly string[]
}

/** A backup that is there, as its manifest says. */
export type Backup = Pick<Manifest, 'name' | 'at' | 'instance' | 'keys' | 'missing'> & { readonly bytes: number }

/** @param at milliseconds since the epoch */
export const backupName = (at: number): string => new Date(at).toISOString().replace(/[-:.]/g, '')
/** Whether a text is the name of a backup, or of one that is not whole. */
export const isNameOfBackup = (text: string): boolean => /^\d{8}T\d{9}Z$/.test(text)
/** What every such name begins with, until the year 3000: a listing by it passes by whatever else is there. */
export const nameStart = '2'

export const manifestOf = (name: string): string => `${name}/manifest.json`
export const databaseOf = (name: string): string => `${name}/souk.db`
export const keysOf = (name: string): string => `${name}/keys.json`
export const documentsFolder = 'documents/'
export const keysFolder = 'keys/'
export const documentOf = (name: string): string => `${documentsFolder}${name}`

/** The manifest that a text is, or undefined where it is none of this version. */
export function parseManifest(text: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(text) as Manifest | null
    if (manifest?.format !== 'souk backup' || manifest.version !== 1) return undefined
    const isWhole = isNameOfBackup(manifest.name) && Number.isSafeInteger(manifest.at) && typeof manifest.database?.sha256 === 'string'
    return isWhole ? manifest : undefined
  } catch {
    return undefined
  }
}

export type Keeping = { readonly daily: number; readonly weekly: number; readonly monthly: number }

/**
 * The backups that a rule keeps: the last of each of so many days, weeks (from Monday on) and months (UTC) of which there are any, and in any
 * case those of the newest one's last 24 hours: whoever makes one before and one after a mishap has both. One that a wrong clock put into
 * the future stays until its time has come, and takes nobody's place.
 * @param backups in any order
 * @param now milliseconds since the epoch: the time of the newest that is none of the future, or later
 */
export function kept<B extends Pick<Backup, 'name' | 'at'>>(
  backups: readonly B[],
  { daily, weekly, monthly }: Keeping,
  now: number,
): ReadonlySet<string> {
  const isToCome = ({ at }: B) => at > now
  const newestFirst = backups.filter((backup) => !isToCome(backup)).sort((a, b) => b.at - a.at)
  const lastOf = (most: number, spanOf: (at: number) => number | string) => {
    const spans = new Map<number | string, string>()
    for (const { at, name } of newestFirst) {
      const span = spanOf(at)
      if (spans.size < most && !spans.has(span)) spans.set(span, name)
    }
    return spans.values()
  }
  const day = (at: number) => Math.floor(at / dayMs)
  const newest = newestFirst[0]?.at ?? 0
  return new Set([
    ...backups.filter(isToCome).map(({ name }) => name),
    ...newestFirst.filter(({ at }) => newest - at < dayMs).map(({ name }) => name),
    ...lastOf(Math.max(1, daily), day),
    // The epoch began on a Thursday.
    ...lastOf(weekly, (at) => Math.floor((day(at) + 3) / 7)),
    ...lastOf(monthly, (at) => new Date(at).toISOString().slice(0, 7)),
  ])
}

/** Whether the last backup is older than it may be; none is late from the moment on at which it could have been made. */
export const isLate = (lastAt: number | undefined, since: number, now: number, lateHours: number): boolean =>
  now - (lastAt ?? since) > lateHours * hourMs

/**
 * Whether a backup looks at a document again that is in the target already: at a seventh of them each day (UTC), at each within seven days.
 * @param at milliseconds since the epoch
 */
export const isLookedAtOn = (at: number, document: string): boolean =>
  (Number.parseInt(sha256(document).slice(0, 8), 16) + Math.floor(at / dayMs)) % 7 === 0

/** Whether a place lies on the disk of the data. @param deviceOf tells one disk from another; undefined where nobody can tell */
export const isOnSameDisk = (place: string, dataDir: string, deviceOf: (path: string) => number | undefined): boolean => {
  const device = deviceOf(place)
  return device !== undefined && device === deviceOf(dataDir)
}

/** The id of a key that is random: it gives nothing away. */
export const keyId = (secret: Uint8Array): string => sha256(Buffer.from(secret).toString('hex')).slice(0, 8)

/** What differs between the rows of a database and those on record, a line a table. */
export function rowProblems(recorded: Manifest['database']['rows'], found: Manifest['database']['rows']): string[] {
  const tables = [...new Set([...Object.keys(recorded), ...Object.keys(found)])].sort()
  return tables
    .filter((table) => recorded[table] !== found[table])
    .map((table) => `${table}: ${found[table] ?? 'no'} rows, and ${recorded[table] ?? 'none'} on record`)
}
