/** Where backups go, and the keys that they are sealed under there. */
import type { BackupStore } from '../../../core/backup-store.ts'
import { OperatorError } from '../../../core/errors.ts'
import { type BackupKey, type BackupKeys, createSealedStore, sealedMagic } from '../../../core/sealed-store.ts'
import { openWithPassphrase, sealUnderPassphrase } from '../../../lib/passphrase.ts'
import { keyId, keysFolder, manifestOf, nameStart } from './domain.ts'

/** A place for backups, as the settings name it. Nothing is opened, made or called. */
export type BackupPlace = {
  readonly store: BackupStore
  /** Whether the operator has named it: without a word, backups lie on the disk of the data. */
  readonly isNamed: boolean
}

/** A place whose copies can be read and written. */
export type BackupTarget = BackupPlace & {
  /** As the place is: documents are sealed by themselves. */
  readonly raw: BackupStore
  readonly isSealed: boolean
  /** The file of the key that it is sealed under, as it has to lie there. */
  readonly keyFile?: KeyFile
  /** That key is new, although something is there already that is sealed under others: the passphrase opens none of them. */
  readonly isNewBesideOthers?: boolean
}
type KeyFile = { readonly name: string; readonly text: string }

/** Of a record that names a million documents, and more. */
const textMaxBytes = 64 * 1024 * 1024

/** A text that fits into memory; undefined where there is none. @throws OperatorError of one that does not */
export async function textOf(store: BackupStore, name: string): Promise<string | undefined> {
  const found = await store.get(name)
  if (!found) return undefined
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of found.chunks()) {
    bytes += piece.length
    if (bytes > textMaxBytes) throw new OperatorError(`${name} in ${store.place} is longer than anything that souk puts there`)
    pieces.push(Buffer.from(piece))
  }
  return Buffer.concat(pieces).toString('utf8')
}

export async function* chunkOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/**
 * Opens a place: under a passphrase, everything in it but documents is sealed under a random key, which lies there sealed under the
 * passphrase. Whoever has both can read all of it, on any machine.
 * @param mayCreate makes a key where the passphrase opens none that is there; else that is refused
 * @throws OperatorError, AppError UNAVAILABLE
 */
export async function openTarget(
  place: BackupPlace,
  passphrase: string | undefined,
  { randomBytes, mayCreate }: { randomBytes: (count: number) => Uint8Array; mayCreate: boolean },
): Promise<BackupTarget> {
  const { store } = place
  if (passphrase === undefined) return { ...place, raw: store, isSealed: false }
  const opened: { key: BackupKey; file: KeyFile }[] = []
  const names: string[] = []
  for await (const { name } of store.list(keysFolder)) names.push(name)
  for (const name of names) {
    const text = (await textOf(store, name)) ?? ''
    const found = await openWithPassphrase(text, passphrase)
    if (found.kind !== 'opened') continue
    const secret = Buffer.from(found.plain, 'base64')
    opened.push({ key: { id: keyId(secret), secret }, file: { name, text } })
  }
  let isNewBesideOthers = false
  if (opened.length === 0) {
    if (!mayCreate)
      throw new OperatorError(
        names.length === 0
          ? `There is no key in ${store.place} (below ${keysFolder}) that backups are sealed under: those that are sealed cannot be opened without it; unset BACKUP_PASSPHRASE to read those that are not`
          : `The passphrase is not the one that the backups in ${store.place} are sealed under, or what lies below ${keysFolder} there was altered, or did not come whole`,
      )
    isNewBesideOthers = names.length > 0 || (await holdsSealed(store))
    opened.push(await makeKey(store, passphrase, randomBytes))
  }
  const { key: current, file: keyFile } = opened[0] as (typeof opened)[number]
  const keys: BackupKeys = { current, of: (id) => opened.find(({ key }) => key.id === id)?.key }
  return { ...place, raw: store, store: createSealedStore(store, keys, randomBytes), isSealed: true, keyFile, isNewBesideOthers }
}

async function makeKey(store: BackupStore, passphrase: string, randomBytes: (count: number) => Uint8Array) {
  const secret = randomBytes(32)
  const key: BackupKey = { id: keyId(secret), secret }
  const text = await sealUnderPassphrase(Buffer.from(secret).toString('base64'), passphrase, randomBytes)
  const file: KeyFile = { name: `${keysFolder}${key.id}.json`, text }
  await store.put(file.name, chunkOf(text))
  return { key, file }
}

/** Whether a place has a backup that is sealed, whatever under: those of before there was a passphrase are read without one. */
async function holdsSealed(store: BackupStore): Promise<boolean> {
  for await (const { name } of store.list(nameStart)) {
    if (!name.endsWith(manifestOf(''))) continue
    let head = ''
    for await (const piece of (await store.get(name))?.chunks() ?? []) {
      head += Buffer.from(piece).toString('latin1', 0, sealedMagic.length)
      if (head.length >= sealedMagic.length) break
    }
    if (head.startsWith(sealedMagic)) return true
  }
  return false
}

/** Whether a place has a backup, or a part of one. */
export async function holdsSomething(store: BackupStore): Promise<boolean> {
  for await (const _ of store.list(nameStart)) return true
  return false
}
