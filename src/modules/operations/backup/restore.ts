/** Finds and reads backups. */
import type { BackupStore } from '../../../core/backup-store.ts'
import { OperatorError } from '../../../core/errors.ts'
import { withDigest } from '../../../lib/digest.ts'
import { SealBroken } from '../../../lib/sealed-stream.ts'
import { databaseOf, keysFolder, keysOf, type Manifest } from './domain.ts'
import { listBackups, readManifest } from './service.ts'
import { type BackupPlace, type BackupTarget, readText } from './targets.ts'

/**
 * A backup and the store that reads it. `raw` holds its documents; `passedOver` names later backups without a manifest.
 */
export type FoundBackup = {
  readonly manifest: Manifest
  readonly store: BackupStore
  readonly raw: BackupStore
  readonly passedOver: readonly string[]
}

/** The message for a backup that has a database but no manifest. */
export const withoutManifestText = 'has no manifest.json and is not a backup: it is unfinished, or the file was removed'

/** Returns whether a place holds a key that a passphrase opens. */
export async function isSealedPlace({ store }: BackupPlace): Promise<boolean> {
  for await (const _key of store.list(keysFolder)) return true
  return false
}

/**
 * Finds a backup by name, or the last one that is not in the future.
 * @param name as `souk backup --list` shows it, or `latest`
 * @throws OperatorError if there is none or the choice is ambiguous
 */
export async function findBackup(target: BackupTarget, name: string, now: number): Promise<FoundBackup> {
  const { place } = target.store
  if (name !== 'latest') {
    const backup = await explainSealError(() => readManifest(target, name), `Backup ${name} in ${place} can't be opened`)
    if (!backup) throw new OperatorError(`Backup ${name} not found in ${place}. Run \`souk backup --list\``)
    return { ...backup, raw: target.raw, passedOver: [] }
  }
  const { backups, unreadable, unrecorded } = await listBackups(target)
  if (backups.length === 0)
    throw new OperatorError(
      unreadable.length === 0
        ? `No backups in ${place}${unrecorded.length === 0 ? '' : `, and ${unrecorded.at(-1)} ${withoutManifestText}`}`
        : `The backups in ${place} can't be read (${unreadable.join(', ')}): other passphrase, damaged, or written by a newer version`,
    )
  if (new Set(backups.map(({ instance }) => instance)).size > 1)
    throw new OperatorError(`${place} has backups of several instances: use a name from \`souk backup --list\``)
  const last = backups.find(({ at }) => at <= now) ?? backups.at(-1)
  const newer = unreadable.filter((unread) => unread > (last?.name ?? '')).sort()
  if (newer.length > 0)
    throw new OperatorError(
      `The last backup in ${place}, ${newer.at(-1)}, can't be read: other passphrase, damaged, or written by a newer version. The last readable backup is ${last?.name}: use its name to restore it`,
    )
  const passedOver = unrecorded.filter((candidate) => candidate > (last?.name ?? ''))
  return { ...(await findBackup(target, last?.name ?? '', now)), passedOver }
}

/**
 * Reads the database of a backup and verifies it at the end.
 * @throws OperatorError if it differs from the manifest; SealBroken
 */
export async function* fetchDatabase({ store, manifest: { name, database } }: FoundBackup): AsyncGenerator<Uint8Array> {
  const file = await store.get(databaseOf(name))
  if (!file) throw new OperatorError(`The database of backup ${name} is missing in ${store.place}`)
  yield* withDigest(file.chunks(), (sha256, bytes) => {
    if (bytes === database.bytes && sha256 === database.sha256) return
    throw new OperatorError(`The database of backup ${name} in ${store.place} was changed or damaged`)
  })
}

/**
 * Reads the key file of a backup; undefined if it has none.
 * @throws OperatorError if it does not open
 */
export const readKeys = async ({ store, manifest: { name, withKeys } }: FoundBackup): Promise<string | undefined> =>
  withKeys
    ? explainSealError(() => readText(store, keysOf(name)), `The keys of backup ${name} in ${store.place} can't be opened`)
    : undefined

/** @throws OperatorError that says what does not open */
async function explainSealError<T>(read: () => Promise<T>, what: string): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof SealBroken ? new OperatorError(`${what}: other passphrase, changed, or damaged`) : error
  }
}
