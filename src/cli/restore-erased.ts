/** Merges the lists of erased customers before an older database is restored. */
import { createErasedList } from '../clients/erased-list.ts'
import type { Config } from '../config.ts'
import { decodeList, encodeErasure, readListInStorage } from '../modules/customers/erasure/index.ts'
import { isSealedPlace } from '../modules/operations/backup/index.ts'
import { backupPlacesOf, findOpenTarget, openBackupTarget } from './backup-targets.ts'
import { withReader } from './database-file.ts'
import { explain } from './failure.ts'

/**
 * Adds the entries of all backup targets to the local list.
 * @returns all ids, and whether every target could be read
 */
export async function mergeErasedLists(config: Config): Promise<{ ids: ReadonlySet<string>; isWhole: boolean }> {
  const list = createErasedList(config.dataDir)
  const { listed } = decodeList((await list.read()) ?? [])
  let isWhole = true
  for (const place of backupPlacesOf(config)) {
    try {
      const isLocked = config.backupPassphrase === undefined && (await isSealedPlace(place))
      const target = findOpenTarget(config, place) ?? (isLocked ? undefined : await openBackupTarget(config, place))
      if (!target) {
        isWhole = false
        process.stderr.write(`The list of erased customers in ${place.store.place} is encrypted: set BACKUP_PASSPHRASE.\n`)
        continue
      }
      const more = (await readListInStorage(target)).filter(({ customerId }) => !listed.has(customerId))
      await list.append(more.map(encodeErasure))
      for (const one of more) listed.set(one.customerId, one)
    } catch (error) {
      isWhole = false
      process.stderr.write(`The list of erased customers in ${place.store.place} can't be read. ${explain(error, {}).text}\n`)
    }
  }
  return { ids: new Set(listed.keys()), isWhole }
}

/** Counts how many of these customers a database file does not know as erased. */
export function countErasedSince(file: string, ids: ReadonlySet<string>): number {
  if (ids.size === 0) return 0
  const storedErasures = withReader(file, (connection) => {
    const isThere = connection.query("select 1 from sqlite_master where name = 'erasures'").get() !== null
    return isThere ? connection.query<{ customer_id: string }, []>('select customer_id from erasures').all() : []
  })
  const knownIds = new Set(storedErasures.map(({ customer_id }) => customer_id))
  return [...ids].filter((id) => !knownIds.has(id)).length
}
