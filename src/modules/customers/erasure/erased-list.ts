/** The list of erasures where a restored database does not take it away: beside the database, and where backups are kept. */
import { locking } from '../../../core/command-context.ts'
import { type BackupPlace, type BackupTarget, openedTarget, readText, textChunks } from '../../operations/backup/index.ts'
import { type Erasure, type Listed, lineOf, listedFolder, listedName, listedOf } from './domain.ts'
import type { ErasureDeps } from './providers.ts'
import { erasureStore as store } from './store.ts'

type ListDeps = Pick<ErasureDeps, 'db' | 'erasedList' | 'erasedListed' | 'log'>
const readAtOnce = 500

/**
 * Adds erasures to the list beside the database. They stand whether or not that can be done now: where the disk refuses, it is done again with
 * the next look.
 */
export async function listNow({ erasedList, erasedListed, log }: Omit<ListDeps, 'db'>, erasures: readonly Erasure[]): Promise<void> {
  try {
    await erasedList.append(erasures.map(lineOf))
    if (erasedListed.count !== undefined) erasedListed.count += erasures.length
  } catch (error) {
    erasedListed.count = undefined
    log.error('erasures.not_listed', {
      file: erasedList.path,
      error,
      advice: 'it is written again every few seconds: until then a backup that is restored brings them back',
    })
  }
}

/** What a list says, and how many of its lines say nothing. */
export function listedIn(lines: readonly string[]): { listed: Map<string, Listed>; broken: number } {
  const listed = new Map<string, Listed>()
  let broken = 0
  for (const line of lines) {
    const one = listedOf(line)
    if (one) listed.set(one.customerId, one)
    else broken++
  }
  return { listed, broken }
}

/**
 * Sees that the list beside the database has what the database knows: other processes erase too, and somebody may have taken the file away.
 * Looks closer only where the two differ in number.
 */
export async function keepList(deps: ListDeps): Promise<void> {
  const { db, erasedList, erasedListed, log } = deps
  const inDatabase = await store.count(db.read)
  if (erasedListed.count === inDatabase && (inDatabase === 0 || (await erasedList.isThere()))) return
  const lines = await erasedList.read()
  if (lines === undefined && inDatabase === 0) {
    erasedListed.count = 0
    return
  }
  if (lines === undefined)
    log.error('erasures.list_missing', {
      file: erasedList.path,
      erasures: inDatabase,
      advice:
        'it is written anew from this database: whoever was erased after this database was made, if it is a restored one, is in it again. Put the file back where there is a copy of it',
    })
  const { listed } = listedIn(lines ?? [])
  let after: Erasure | undefined
  do {
    const rows = await store.next(db.read, after, readAtOnce)
    await erasedList.append(rows.filter(({ customerId }) => !listed.has(customerId)).map(lineOf))
    after = rows[readAtOnce - 1]
  } while (after)
  erasedListed.count = inDatabase
}

const placedAtOnce = 100

/**
 * Puts what is not there yet into every place where backups of this database are kept. One that does not answer keeps nothing from the others: by
 * one of these a lost machine is restored.
 */
export async function listInPlaces(deps: ErasureDeps): Promise<void> {
  const { config, db, clock, erasedPlaced } = deps
  // Those that are named have what `souk backup` puts there, too.
  const places = config.databaseUrl.startsWith('file:') ? deps.backupPlaces.filter(({ isNamed }) => isNamed || config.backupEnabled) : []
  let answering = places
  let after: Erasure | undefined
  do {
    const erasures = await store.unfinished(db.read, 'listedAt', placedAtOnce, after)
    const good = await Promise.all(answering.map((place) => putInto(deps, place, erasures)))
    answering = answering.filter((_, nth) => good[nth])
    for (const { customerId } of erasures) {
      if (!places.every((place) => erasedPlaced.get(place)?.has(customerId))) continue
      await db.write((tx) => store.change(tx, customerId, { listedAt: clock.now() }), locking)
      for (const place of places) erasedPlaced.get(place)?.delete(customerId)
    }
    after = erasures[placedAtOnce - 1]
  } while (after && (answering.length > 0 || places.length === 0))
}

/** Whether the place took all that it did not have. */
async function putInto(deps: ErasureDeps, place: BackupPlace, erasures: readonly Erasure[]): Promise<boolean> {
  const placed = deps.erasedPlaced.get(place) ?? new Set()
  deps.erasedPlaced.set(place, placed)
  try {
    for (const erasure of erasures) {
      if (placed.has(erasure.customerId)) continue
      const { store: copies } = await openedTarget(deps, place)
      await copies.put(listedName(erasure.customerId), textChunks(lineOf(erasure)))
      placed.add(erasure.customerId)
    }
    return true
  } catch (error) {
    const advice = 'tried again with every look, until it is in every place'
    deps.log.warn('erasures.not_in_backups', { place: place.store.place, error, advice })
    return false
  }
}

/** What the list in a place for backups says. @throws what the place says that does not answer, or opens with another passphrase */
export async function listedInPlace({ store: copies }: Pick<BackupTarget, 'store'>): Promise<Listed[]> {
  const names: string[] = []
  for await (const { name } of copies.list(listedFolder)) names.push(name)
  const found: Listed[] = []
  for (const name of names) {
    const one = listedOf((await readText(copies, name)) ?? '')
    if (one) found.push(one)
  }
  return found
}
