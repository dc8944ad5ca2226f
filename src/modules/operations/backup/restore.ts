/** Finding a backup and reading it back. */
import type { BackupStore } from '../../../core/backup-store.ts'
import { OperatorError } from '../../../core/errors.ts'
import { digesting } from '../../../lib/digest.ts'
import { SealBroken } from '../../../lib/sealed-stream.ts'
import { databaseOf, keysFolder, keysOf, type Manifest } from './domain.ts'
import { listBackups, readManifest } from './service.ts'
import { type BackupPlace, type BackupTarget, textOf } from './targets.ts'

/**
 * A backup, and the store that gives back what it consists of. `raw`: where its documents are; `passedOver`: names of later ones that have no record, and
 * so are none.
 */
export type FoundBackup = {
  readonly manifest: Manifest
  readonly store: BackupStore
  readonly raw: BackupStore
  readonly passedOver: readonly string[]
}

/** What is said of those that are named as backups and have a database without a record. */
export const withoutRecord =
  'has no record (manifest.json), and so is no backup: it is being made, its making broke off, or somebody took the record away'

/** Whether a place has anything that a passphrase opens. */
export async function isSealedPlace({ store }: BackupPlace): Promise<boolean> {
  for await (const _key of store.list(keysFolder)) return true
  return false
}

/**
 * A backup by its name, or the last one that is not from the future.
 * @param name as `souk backup --list` shows it, or `latest`
 * @throws OperatorError when there is none, or when nobody can say whose is meant
 */
export async function findBackup(target: BackupTarget, name: string, now: number): Promise<FoundBackup> {
  const { place } = target.store
  if (name !== 'latest') {
    const found = await told(() => readManifest(target, name), `Backup ${name} in ${place} does not open`)
    if (!found) throw new OperatorError(`There is no backup ${name} in ${place}: \`souk backup --list\` shows those that there are`)
    return { ...found, raw: target.raw, passedOver: [] }
  }
  const { backups, unreadable, unrecorded } = await listBackups(target)
  if (backups.length === 0)
    throw new OperatorError(
      unreadable.length === 0
        ? `There is no backup in ${place}${unrecorded.length === 0 ? '' : `, and ${unrecorded.at(-1)} ${withoutRecord}`}`
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
  const passedOver = unrecorded.filter((one) => one > (last?.name ?? ''))
  return { ...(await findBackup(target, last?.name ?? '', now)), passedOver }
}

/**
 * The database of a backup. That it is whole is known at the end.
 * @throws OperatorError when it is not what is on record; SealBroken
 */
export async function* fetchDatabase({ store, manifest: { name, database } }: FoundBackup): AsyncGenerator<Uint8Array> {
  const found = await store.get(databaseOf(name))
  if (!found) throw new OperatorError(`The database of backup ${name} is gone from ${store.place}`)
  yield* digesting(found.chunks(), (sha256, bytes) => {
    if (bytes === database.bytes && sha256 === database.sha256) return
    throw new OperatorError(
      `The database of backup ${name} in ${store.place} is not what was put there: it was changed, or its disk has damaged it`,
    )
  })
}

/** The text of the key file that is in a backup; undefined where there is none. @throws OperatorError where it does not open */
export const readKeys = async ({ store, manifest: { name, withKeys } }: FoundBackup): Promise<string | undefined> =>
  withKeys ? told(() => textOf(store, keysOf(name)), `The keys of backup ${name} in ${store.place} do not open`) : undefined

/** @throws OperatorError that says what does not open */
async function told<T>(read: () => Promise<T>, what: string): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof SealBroken
      ? new OperatorError(`${what}: it is sealed under another passphrase, was changed, or its disk has damaged it`)
      : error
  }
}
