/**
 * The list of erasures outside the database, where a restore does not undo it: beside the database and in backup
 * storage.
 */
import { locking } from '../../../core/command-context.ts'
import { type BackupPlace, type BackupTarget, openedTarget, readText, textChunks } from '../../operations/backup/index.ts'
import { decodeErasure, type Erasure, encodeErasure, type ListedErasure, listedFolder, listedName } from './domain.ts'
import type { ErasureDeps } from './providers.ts'
import { erasureStore as store } from './store.ts'

type ListDeps = Pick<ErasureDeps, 'db' | 'erasedList' | 'erasedListSize' | 'log'>
const rowsPerPage = 500

/** Appends erasures to the list. If the disk refuses, the next run of the job repeats it; the erasures stand. */
export async function appendToList({ erasedList, erasedListSize, log }: Omit<ListDeps, 'db'>, erasures: readonly Erasure[]): Promise<void> {
  try {
    await erasedList.append(erasures.map(encodeErasure))
    if (erasedListSize.count !== undefined) erasedListSize.count += erasures.length
  } catch (error) {
    erasedListSize.count = undefined
    log.error('erasures.not_listed', {
      file: erasedList.path,
      error,
      advice: 'The write is retried every few seconds. Until then, restoring a backup brings these customers back',
    })
  }
}

/** Decodes the list. `broken` counts invalid lines. */
export function decodeList(lines: readonly string[]): { listed: Map<string, ListedErasure>; broken: number } {
  const listed = new Map<string, ListedErasure>()
  let broken = 0
  for (const line of lines) {
    const erasure = decodeErasure(line)
    if (erasure) listed.set(erasure.customerId, erasure)
    else broken++
  }
  return { listed, broken }
}

/**
 * Completes the list from the database: other processes erase too, and the file may be gone. Reads the list only if the
 * counts differ.
 */
export async function completeList(deps: ListDeps): Promise<void> {
  const { db, erasedList, erasedListSize, log } = deps
  const inDatabase = await store.count(db.read)
  if (erasedListSize.count === inDatabase && (inDatabase === 0 || (await erasedList.isThere()))) return
  const lines = await erasedList.read()
  if (lines === undefined && inDatabase === 0) {
    erasedListSize.count = 0
    return
  }
  if (lines === undefined)
    log.error('erasures.list_missing', {
      file: erasedList.path,
      erasures: inDatabase,
      advice:
        'The list is rebuilt from this database. If the database was restored, customers who were erased later are missing. Restore the file from a copy',
    })
  const { listed } = decodeList(lines ?? [])
  let after: Erasure | undefined
  do {
    const rows = await store.next(db.read, after, rowsPerPage)
    await erasedList.append(rows.filter(({ customerId }) => !listed.has(customerId)).map(encodeErasure))
    after = rows[rowsPerPage - 1]
  } while (after)
  erasedListSize.count = inDatabase
}

const erasuresPerPage = 100

/**
 * Copies erasures to all backup storages. One that does not answer does not delay the others.
 */
export async function copyListToStorages(deps: ErasureDeps): Promise<void> {
  const { config, db, clock, erasedInStorage } = deps
  // Named storages also receive the copies of `souk backup`.
  const targets = config.databaseUrl.startsWith('file:') ? deps.backupPlaces.filter(({ isNamed }) => isNamed || config.backupEnabled) : []
  let available = targets
  let after: Erasure | undefined
  do {
    const erasures = await store.unfinished(db.read, 'listedAt', erasuresPerPage, after)
    const good = await Promise.all(available.map((place) => copyToStorage(deps, place, erasures)))
    available = available.filter((_, nth) => good[nth])
    for (const { customerId } of erasures) {
      if (!targets.every((place) => erasedInStorage.get(place)?.has(customerId))) continue
      await db.write((tx) => store.change(tx, customerId, { listedAt: clock.now() }), locking)
      for (const place of targets) erasedInStorage.get(place)?.delete(customerId)
    }
    after = erasures[erasuresPerPage - 1]
  } while (after && (available.length > 0 || targets.length === 0))
}

/** Returns whether the storage accepted all missing erasures. */
async function copyToStorage(deps: ErasureDeps, place: BackupPlace, erasures: readonly Erasure[]): Promise<boolean> {
  const stored = deps.erasedInStorage.get(place) ?? new Set()
  deps.erasedInStorage.set(place, stored)
  try {
    for (const erasure of erasures) {
      if (stored.has(erasure.customerId)) continue
      const { store: copies } = await openedTarget(deps, place)
      await copies.put(listedName(erasure.customerId), textChunks(encodeErasure(erasure)))
      stored.add(erasure.customerId)
    }
    return true
  } catch (error) {
    const advice = 'The job retries until every place has the list'
    deps.log.warn('erasures.not_in_backups', { place: place.store.place, error, advice })
    return false
  }
}

/** Reads the list in a backup storage. @throws errors of a storage that does not answer or has another passphrase */
export async function readListInStorage({ store: copies }: Pick<BackupTarget, 'store'>): Promise<ListedErasure[]> {
  const names: string[] = []
  for await (const { name } of copies.list(listedFolder)) names.push(name)
  const found: ListedErasure[] = []
  for (const name of names) {
    const erasure = decodeErasure((await readText(copies, name)) ?? '')
    if (erasure) found.push(erasure)
  }
  return found
}
