/** The places of backups and the keys that seal them. */
import type { BackupStore } from '../../../core/backup-store.ts'
import { OperatorError } from '../../../core/errors.ts'
import { type BackupKey, type BackupKeys, createSealedStore, sealedMagic } from '../../../core/sealed-store.ts'
import { openUnderPassphrase, sealUnderPassphrase } from '../../../lib/passphrase.ts'
import { backupNamePrefix, keyId, keysFolder, manifestOf } from './domain.ts'

/** A configured place. Nothing is opened, created or called. */
export type BackupPlace = {
  readonly store: BackupStore
  /** Whether the operator configured it. The default place is on the disk of the data. */
  readonly isNamed: boolean
}

/** An opened place. */
export type BackupTarget = BackupPlace & {
  /** The store without sealing. Documents have their own seal. */
  readonly raw: BackupStore
  readonly isSealed: boolean
  /** The key file as it must be stored there. */
  readonly keyFile?: KeyFile
  /** Whether the key is new although backups sealed with other keys exist: the passphrase opens none of them. */
  readonly isNewBesideOthers?: boolean
}
type KeyFile = { readonly name: string; readonly text: string }

/** The limit of a manifest, enough for a million documents. */
const textMaxBytes = 64 * 1024 * 1024

/**
 * Reads a text; undefined if there is none.
 * @throws OperatorError above the limit
 */
export async function readText(store: BackupStore, name: string): Promise<string | undefined> {
  const file = await store.get(name)
  if (!file) return undefined
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of file.chunks()) {
    bytes += piece.length
    if (bytes > textMaxBytes) throw new OperatorError(`${name} in ${store.place} is too large to be a file of souk`)
    pieces.push(Buffer.from(piece))
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** Yields a text as UTF-8, for `put`. */
export async function* textChunks(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/**
 * Opens a place. With a passphrase, everything except documents is sealed with a random key that is stored there,
 * sealed with the passphrase. Both together open the backups on any machine.
 * @param mayCreate creates a key if the passphrase opens none; otherwise that is refused
 * @throws OperatorError, AppError UNAVAILABLE
 */
export async function openTarget(
  place: BackupPlace,
  passphrase: string | undefined,
  { randomBytes, mayCreate }: { randomBytes: (count: number) => Uint8Array; mayCreate: boolean },
): Promise<BackupTarget> {
  const { store } = place
  if (passphrase === undefined) return { ...place, raw: store, isSealed: false }
  const openedKeys: { key: BackupKey; file: KeyFile }[] = []
  const names: string[] = []
  for await (const { name } of store.list(keysFolder)) names.push(name)
  for (const name of names) {
    const text = (await readText(store, name)) ?? ''
    const result = await openUnderPassphrase(text, passphrase)
    if (result.kind !== 'opened') continue
    const secret = Buffer.from(result.plain, 'base64')
    openedKeys.push({ key: { id: keyId(secret), secret }, file: { name, text } })
  }
  let isNewBesideOthers = false
  if (openedKeys.length === 0) {
    if (!mayCreate)
      throw new OperatorError(
        names.length === 0
          ? `The backup key is missing in ${store.place} (${keysFolder}). Encrypted backups can't be opened without it. Unset BACKUP_PASSPHRASE to read unencrypted ones`
          : `Wrong passphrase for the backups in ${store.place}, or the files in ${keysFolder} are changed or incomplete`,
      )
    isNewBesideOthers = names.length > 0 || (await hasSealedBackup(store))
    openedKeys.push(await makeKey(store, passphrase, randomBytes))
  }
  const { key: current, file: keyFile } = openedKeys[0] as (typeof openedKeys)[number]
  const keys: BackupKeys = { current, of: (id) => openedKeys.find(({ key }) => key.id === id)?.key }
  return { ...place, raw: store, store: createSealedStore(store, keys, randomBytes), isSealed: true, keyFile, isNewBesideOthers }
}

async function makeKey(store: BackupStore, passphrase: string, randomBytes: (count: number) => Uint8Array) {
  const secret = randomBytes(32)
  const key: BackupKey = { id: keyId(secret), secret }
  const text = await sealUnderPassphrase(Buffer.from(secret).toString('base64'), passphrase, randomBytes)
  const file: KeyFile = { name: `${keysFolder}${key.id}.json`, text }
  await store.put(file.name, textChunks(text))
  return { key, file }
}

/** Returns whether a sealed backup exists. Older ones without a passphrase are not sealed. */
async function hasSealedBackup(store: BackupStore): Promise<boolean> {
  for await (const { name } of store.list(backupNamePrefix)) {
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

/** Returns whether a store has a file of any backup, complete or not. */
export async function hasBackupFiles(store: BackupStore): Promise<boolean> {
  for await (const _ of store.list(backupNamePrefix)) return true
  return false
}
