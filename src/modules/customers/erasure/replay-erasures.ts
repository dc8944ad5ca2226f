import { finishErasures, repeatErasure } from './erase-customer.ts'
import { completeList, copyListToStorages, decodeList } from './erased-list.ts'
import type { ErasureDeps } from './providers.ts'
import { erasureStore as store } from './store.ts'

const idsPerQuery = 500

/**
 * Repeats listed erasures that are missing in the database, because an older copy was restored. Runs before requests
 * are accepted.
 * @returns their number
 */
export async function replayErasures(deps: ErasureDeps): Promise<number> {
  const { erasedList, log, db } = deps
  const { listed, broken } = decodeList((await erasedList.read()) ?? [])
  if (broken > 0)
    log.error('erasures.list_damaged', { file: erasedList.path, lines: broken, advice: 'These lines name no customer. Check the file' })
  const ids = [...listed.keys()]
  let repeated = 0
  for (let from = 0; from < ids.length; from += idsPerQuery) {
    const chunk = ids.slice(from, from + idsPerQuery)
    const existing = await store.known(db.read, chunk)
    for (const id of chunk) {
      const erasure = listed.get(id)
      if (existing.has(id) || !erasure) continue
      await repeatErasure(deps, erasure)
      repeated++
    }
  }
  if (repeated > 0) log.warn('erasures.replayed', { customers: repeated })
  await completeList(deps)
  return repeated
}

/** Finishes erasures: second sweep, and the list in every storage. */
export async function finishPendingErasures(deps: ErasureDeps): Promise<void> {
  await completeList(deps)
  await finishErasures(deps)
  // Last, because a storage may be slow.
  await copyListToStorages(deps)
}
