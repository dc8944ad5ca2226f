/**
 * Counts in a database, a commit at a time, and ships its log, until it is killed. Prints `made N` for each count that was acknowledged, with a
 * checkpoint now and then (each so many commits; each commit of so many bytes), and `shipped N`: all counts up to there are in the store.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { openSqlite } from '../../db/sqlite/engine.ts'
import { databaseFileAt } from '../../db/sqlite/file.ts'
import { createFolderStore } from '../../src/clients/backups/folder.ts'
import { logShippingProviders } from '../../src/modules/operations/log-shipping/providers.ts'
import { type ShippingDeps, startShipping } from '../../src/modules/operations/log-shipping/service.ts'

async function count(): Promise<void> {
  const [, , file = '', store = '', every = '70', bytes = '5000'] = Bun.argv
  const database = databaseFileAt(file)
  const db = openSqlite(file)
  database.holdLog()
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
  const deps = {
    ...{ log: silent, clock: { now: () => Date.now(), monotonic: () => performance.now() }, sleep: Bun.sleep, randomBytes },
    ...{ diskFree: () => undefined, config: { diskFreeMinBytes: 0, shipLogDays: 7 }, build: { version: 'test' } },
    ...logShippingProviders(),
  } as unknown as ShippingDeps
  startShipping(deps, {
    openStore: async () => createFolderStore(store, Date.now),
    followLog: (kept) => database.followLog(kept),
    releaseLog: () => database.releaseLog(),
    sizes: () => ({ bytes: 0, logBytes: 0 }),
    keysText: () => undefined,
    everyMs: 5,
    instance: '00000000',
    shipper: 'the same',
  })
  /** When each was acknowledged. */
  const made: { n: number; at: number }[] = []
  let told = -1
  for (;;) {
    await db.write(async (tx) => {
      await tx.rows(sql`update counter set n = n + 1`)
      await tx.rows(sql`insert into blobs (x) values (randomblob(${Number(bytes)}))`)
      await tx.rows(sql`delete from blobs where id % 50 = (select n % 50 from counter)`)
    })
    const [row] = await db.read.rows<{ n: number }>(sql`select n from counter`)
    const n = row?.n ?? 0
    made.push({ n, at: Date.now() })
    process.stdout.write(`made ${n}\n`)
    const { shippedAt = 0 } = deps.logShipping
    const shipped = made.findLast(({ at }) => at < shippedAt)?.n ?? -1
    if (shipped > told) process.stdout.write(`shipped ${shipped}\n`)
    told = Math.max(told, shipped)
    if (n % Number(every) === 0) await db.checkpoint()
    // Until something is shipped, slowly: a log of 4,000 pages SQLite moves by itself, and whoever is killed in that moment begins anew.
    await Bun.sleep(told < 0 ? 10 : 1)
  }
}

void count()
