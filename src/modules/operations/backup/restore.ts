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
export const withoutManifestText =
  'has no record (manifest.json), and so is no backup: it is being made, its making broke off, or somebody took the record away'

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
    const backup = await explainSealError(() => readManifest(target, name), `Backup ${name} in ${place} does not open`)
    if (!backup) throw new OperatorError(`There is no backup ${name} in ${place}: \`souk backup --list\` shows those that there are`)
    return { ...backup, raw: target.raw, passedOver: [] }
  }
  const { backups, unreadable, unrecorded } = await listBackups(target)
  if (backups.length === 0)
    throw new OperatorError(
      unreadable.length === 0
        ? `There is no backup in ${place}${unrecorded.length === 0 ? '' : `, and ${unrecorded.at(-1)} ${withoutManifestText}`}`
        : `The backups in ${place} cannot be read (${unreadable.join(', ')}): the passphrase is another, they are damaged, or of a newer souk`,
    )
  if (new Set(backups.map(({ instance }) => instance)).size > 1)
    throw new OperatorError(`${place} has backups of several instances: name one, as \`souk backup --list\` shows it`)
  const last = backups.find(({ at }) => at <= now) ?? backups.at(-1)
  const newer = unreadable.filter((unread) => unread > (last?.name ?? '')).sort()
  if (newer.length > 0)
    throw new OperatorError(
      `The last backup in ${place}, ${newer.at(-1)}, cannot be read: the passphrase is another, it is damaged, or of a newer souk. The last that can is ${last?.name}: name it to have it restored`,
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
  if (!file) throw new OperatorError(`The database of backup ${name} is gone from ${store.place}`)
  yield* withDigest(file.chunks(), (sha256, bytes) => {
    if (bytes === database.bytes && sha256 === database.sha256) return
    throw new OperatorError(
      `The database of backup ${name} in ${store.place} is not what was put there: it was changed, or its disk has damaged it`,
    )
  })
}

/**
 * Reads the key file of a backup; undefined if it has none.
 * @throws OperatorError if it does not open
 */
export const readKeys = async ({ store, manifest: { name, withKeys } }: FoundBackup): Promise<string | undefined> =>
  withKeys ? explainSealError(() => readText(store, keysOf(name)), `The keys of backup ${name} in ${store.place} do not open`) : undefined

/** @throws OperatorError that says what does not open */
async function explainSealError<T>(read: () => Promise<T>, what: string): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof SealBroken
      ? new OperatorError(`${what}: it is sealed under another passphrase, was changed, or its disk has damaged it`)
      : error
  }
}
