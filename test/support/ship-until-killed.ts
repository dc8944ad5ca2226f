/**
 * Increments a counter in a database, one commit each, and ships its log until it is killed. Prints `made N` for each
 * acknowledged commit, and `shipped N` when all counts up to N are in the store. Arguments: file, store, number of
 * commits between checkpoints, bytes per commit.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { openSqlite } from '../../db/sqlite/engine.ts'
import { databaseFileAt } from '../../db/sqlite/file.ts'
import { createFolderStore } from '../../src/clients/backups/folder.ts'
import { logShippingProviders } from '../../src/modules/operations/log-shipping/providers.ts'
import { startShipping } from '../../src/modules/operations/log-shipping/service.ts'
import type { ShippingDeps } from '../../src/modules/operations/log-shipping/shipper.ts'

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
  /** Each count with the time of its acknowledgement. */
  const acknowledged: { n: number; at: number }[] = []
  let reported = -1
  for (;;) {
    await db.write(async (tx) => {
      await tx.rows(sql`update counter set n = n + 1`)
      await tx.rows(sql`insert into blobs (x) values (randomblob(${Number(bytes)}))`)
      await tx.rows(sql`delete from blobs where id % 50 = (select n % 50 from counter)`)
    })
    const [row] = await db.read.rows<{ n: number }>(sql`select n from counter`)
    const n = row?.n ?? 0
    acknowledged.push({ n, at: Date.now() })
    process.stdout.write(`made ${n}\n`)
    const { shippedAt = 0 } = deps.logShipping
    const shipped = acknowledged.findLast(({ at }) => at < shippedAt)?.n ?? -1
    if (shipped > reported) process.stdout.write(`shipped ${shipped}\n`)
    reported = Math.max(reported, shipped)
    if (n % Number(every) === 0) await db.checkpoint()
    // Slowly until the first shipment: SQLite checkpoints a log of 4,000 pages on its own, and a kill then restarts
    // shipping.
    await Bun.sleep(reported < 0 ? 10 : 1)
  }
}

void count()
