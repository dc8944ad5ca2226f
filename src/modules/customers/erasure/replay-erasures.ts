import { eraseAgain, finishErasures } from './erase-customer.ts'
import { keepList, listedIn, listInPlaces } from './erased-list.ts'
import type { ErasureDeps } from './providers.ts'
import { erasureStore as store } from './store.ts'

const lookedUpAtOnce = 500

/**
 * Brings a database up to the list beside it, before anybody is let in: whoever is on it and not erased here came back with an older copy of the
 * database, and is erased again.
 * @returns how many that were
 */
export async function replayErasures(deps: ErasureDeps): Promise<number> {
  const { erasedList, log, db } = deps
  const { listed, broken } = listedIn((await erasedList.read()) ?? [])
  if (broken > 0)
    log.error('erasures.list_damaged', { file: erasedList.path, lines: broken, advice: 'these lines say nobody: see what they were' })
  const ids = [...listed.keys()]
  let again = 0
  for (let from = 0; from < ids.length; from += lookedUpAtOnce) {
    const some = ids.slice(from, from + lookedUpAtOnce)
    const known = await store.known(db.read, some)
    for (const id of some) {
      const one = listed.get(id)
      if (known.has(id) || !one) continue
      await eraseAgain(deps, one)
      again++
    }
  }
  if (again > 0) log.warn('erasures.replayed', { customers: again })
  await keepList(deps)
  return again
}

/** What is left to do of erasures: a second look at what was under way, and the list in every place. */
export async function tendErasures(deps: ErasureDeps): Promise<void> {
  await keepList(deps)
  await finishErasures(deps)
  // Last: a place may take its time.
  await listInPlaces(deps)
}
