/** Tests log shipping during writes: targets that are unavailable, slow or full, and a lost log. */
import { Database as Sqlite } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type CommitLog, LogBroken, type ShippedLog } from '../../../../db/engine.ts'
import { problemsOf } from '../../../../db/sqlite/copy.ts'
import { configure } from '../../../../db/sqlite/engine.ts'
import { databaseFileAt } from '../../../../db/sqlite/file.ts'
import { buildFromLog } from '../../../../src/cli/restore-log.ts'
import { createFolderStore } from '../../../../src/clients/backups/folder.ts'
import type { BackupStore } from '../../../../src/core/backup-store.ts'
import { logShippingMetrics } from '../../../../src/modules/operations/log-shipping/index.ts'
import { logShippingProviders } from '../../../../src/modules/operations/log-shipping/providers.ts'
import { startShipping } from '../../../../src/modules/operations/log-shipping/service.ts'
import type { ShippingDeps } from '../../../../src/modules/operations/log-shipping/shipper.ts'
import { temporaryDir } from '../../../support/database.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Options = {
  /** Wraps the store. */
  wrapStore?: (store: BackupStore) => BackupStore
  followLog?: (open: () => Promise<CommitLog>) => (kept?: ShippedLog) => Promise<CommitLog>
  diskFree?: () => number
  /** Milliseconds by which the clock is ahead. */
  aheadMs?: () => number
  /** The folder of an earlier shop. */
  folder?: string
  /** The store folder of another shipper. */
  storeFolder?: string
  shipper?: string
  /** Milliseconds added to the monotonic clock. */
  addedMs?: () => number
  heldMaxBytes?: number
}

/** Opens a database with a counter, and ships its log round by round. */
function openShop({
  wrapStore = (store) => store,
  followLog,
  diskFree,
  aheadMs = () => 0,
  folder = temporaryDir(),
  ...more
}: Options = {}) {
  const { storeFolder = join(folder, 'store'), shipper = 'the first', addedMs = () => 0, heldMaxBytes } = more
  const file = join(folder, 'shop.db')
  const isNew = !existsSync(file)
  const writer = new Sqlite(file, { create: true })
  configure(writer, 'OFF')
  if (isNew) {
    writer.run('CREATE TABLE counter (n INTEGER)')
    writer.run('INSERT INTO counter VALUES (0)')
  }
  const store = createFolderStore(storeFolder, Date.now)
  const events: string[] = []
  const waiting = new Set<() => void>()
  let now = Date.now()
  const advices: unknown[] = []
  const note = (event: string, fields?: { advice?: unknown }) => {
    events.push(event)
    if (fields?.advice !== undefined) advices.push(fields.advice)
  }
  const deps = {
    log: { debug: note, info: note, warn: note, error: note },
    clock: { now: () => ++now + aheadMs(), monotonic: () => performance.now() + addedMs() },
    ...{ sleep: () => new Promise<void>((resume) => waiting.add(resume)), randomBytes, build: { version: 'test' } },
    ...{ diskFree: diskFree ?? (() => undefined), config: { diskFreeMinBytes: 1_000, shipLogDays: 7 }, ...logShippingProviders() },
  } as unknown as ShippingDeps
  const database = databaseFileAt(file)
  const { stop } = startShipping(deps, {
    ...{
      openStore: async () => wrapStore(store),
      followLog: followLog?.(() => database.followLog()) ?? ((kept) => database.followLog(kept)),
      releaseLog: () => undefined,
      sizes: () => ({ bytes: 0, logBytes: 0 }),
      keysText: () => undefined,
    },
    ...{ everyMs: 1, instance: '00000000', shipper, ...(heldMaxBytes === undefined ? {} : { heldMaxBytes }) },
  })
  /** Runs rounds until the condition holds. */
  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      for (const resume of waiting) resume()
      waiting.clear()
      // Leaves the CPU to the thread that reads the log.
      await Bun.sleep(1)
    }
  }
  return {
    ...{ folder, writer, store, events, advices, deps, stop, until },
    snapshots: () => events.filter((event) => event === 'log_shipping.snapshot').length,
    count: () => void writer.run('UPDATE counter SET n = n + 1'),
    /** Runs rounds until everything committed so far is shipped. A running round may have read the log before. */
    async ship(): Promise<void> {
      const { shippedAt } = deps.logShipping
      const by = deps.clock.now()
      await until(() => deps.logShipping.shippedAt !== shippedAt && (deps.logShipping.shippedAt ?? 0) > by)
    },
    async restore(to?: number): Promise<number> {
      const target = join(folder, `restored-${events.length}.db`)
      await buildFromLog({ store, to, file: target, untilDamage: false, instance: undefined })
      using connection = new Sqlite(target)
      return connection.query<{ n: number }, []>('SELECT n FROM counter').get()?.n ?? -1
    },
  }
}

test('an unavailable target is retried until it has everything', async () => {
  let [isAway, refused] = [false, 0]
  const { count, until, events, deps, restore, stop } = openShop({
    wrapStore: (store) => ({
      ...store,
      put(name, chunks) {
        if (!isAway) return store.put(name, chunks)
        refused++
        throw new Error('gone')
      },
    }),
  })
  await until(() => deps.logShipping.shippedAt !== undefined)
  const { shippedAt } = deps.logShipping
  isAway = true
  count()
  await until(() => refused > 3)
  // The failure is logged once, and the metrics show it.
  expect(events.filter((event) => event === 'log_shipping.fails').length).toBe(1)
  expect(deps.logShipping.shippedAt).toBe(shippedAt as number)
  expect(logShippingMetrics(deps).join('\n')).toContain(`souk_log_shipping_failures_total ${deps.logShipping.failures}`)
  for (let nth = 0; nth < 20; nth++) count()
  isAway = false
  await until(() => events.includes('log_shipping.works'))
  await stop()
  expect(await restore()).toBe(21)
  expect(deps.logShipping.generations).toBe(1)
})

test('on a full disk the log is released; with space a new generation begins', async () => {
  let [isAway, free] = [false, 1_000_000]
  const { writer, count, until, events, deps, restore, stop } = openShop({
    wrapStore: (store) => ({ ...store, put: (name, chunks) => (isAway ? Promise.reject(new Error('full')) : store.put(name, chunks)) }),
    diskFree: () => free,
  })
  await until(() => deps.logShipping.shippedAt !== undefined)
  isAway = true
  free = 10
  count()
  await until(() => events.includes('log_shipping.gave_up'))
  // No reader pins the log any more.
  writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  count()
  isAway = false
  free = 1_000_000
  await until(() => deps.logShipping.generations === 2 && events.filter((event) => event === 'log_shipping.snapshot').length === 2)
  count()
  await stop()
  expect(await restore()).toBe(3)
})

test('while a target never responds, the log is still checked', async () => {
  let [hangs, free] = [false, 1_000_000]
  const hanging: (() => void)[] = []
  const rejectLater = () => new Promise<never>((_, reject) => hanging.push(() => reject(new Error('gone'))))
  const { count, until, events, deps, stop } = openShop({
    wrapStore: (store) => ({ ...store, put: (name, chunks) => (hangs ? rejectLater() : store.put(name, chunks)) }),
    diskFree: () => free,
  })
  await until(() => deps.logShipping.shippedAt !== undefined)
  hangs = true
  count()
  free = 10
  await until(() => events.includes('log_shipping.gave_up'))
  hangs = false
  // The next generation may have called the target, too.
  for (const end of hanging) end()
  free = 1_000_000
  await until(() => deps.logShipping.generations === 2)
  await stop()
})

test('data waiting for an unresponsive target is limited and removed from the disk', async () => {
  let hangs = false
  const hanging: (() => void)[] = []
  const rejectLater = () => new Promise<never>((_, reject) => hanging.push(() => reject(new Error('gone'))))
  const heldMaxBytes = 2_000_000
  const { folder, writer, count, until, events, deps, restore, snapshots, stop } = openShop({
    wrapStore: (store) => ({ ...store, put: (name, chunks) => (hangs ? rejectLater() : store.put(name, chunks)) }),
    heldMaxBytes,
  })
  writer.run('CREATE TABLE blobs (x BLOB)')
  await until(() => snapshots() === 1)
  hangs = true
  const walSizes: number[] = []
  const sizeOf = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
  while (!events.includes('log_shipping.gave_up')) {
    writer.run('INSERT INTO blobs VALUES (randomblob(50000))')
    count()
    walSizes.push(sizeOf('shop.db-wal'))
    let rounds = 0
    await until(() => ++rounds > 20)
  }
  expect(Math.max(...walSizes)).toBeLessThan(80_000_000)
  expect([sizeOf('shop.db-wal') < heldMaxBytes, existsSync(join(folder, 'shop.db-unshipped'))]).toEqual([true, false])
  hangs = false
  for (const end of hanging) end()
  await until(() => snapshots() === 2)
  count()
  await stop()
  expect([await restore(), deps.logShipping.generations]).toEqual([walSizes.length + 1, 2])
})

test('a stop while the target does not respond leaves the rest to the next start, which continues', async () => {
  let isAway = false
  const first = openShop({
    wrapStore: (store) => ({ ...store, put: (name, chunks) => (isAway ? Promise.reject(new Error('gone')) : store.put(name, chunks)) }),
  })
  await first.until(() => first.snapshots() === 1)
  isAway = true
  first.count()
  await first.until(() => first.events.includes('log_shipping.fails'))
  first.count()
  await first.stop()
  first.writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  first.writer.close()
  const next = openShop({ folder: first.folder })
  await next.until(() => next.events.includes('log_shipping.goes_on'))
  next.count()
  await next.ship()
  await next.stop()
  expect([await next.restore(), next.snapshots(), next.deps.logShipping.generations]).toEqual([3, 0, 0])
})

test('a spool that cannot be written is removed at once, also while the target is away', async () => {
  let [isAway, isFull] = [false, false]
  const rejectFull = () => Promise.reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }))
  const { folder, writer, count, until, events, deps, restore, snapshots, stop } = openShop({
    wrapStore: (store) => ({ ...store, put: (name, chunks) => (isAway ? Promise.reject(new Error('gone')) : store.put(name, chunks)) }),
    followLog: (open) => async () => {
      const log = await open()
      return { ...log, checkpointLong: () => (isFull ? rejectFull() : log.checkpointLong()) }
    },
  })
  writer.run('CREATE TABLE blobs (x BLOB)')
  await until(() => snapshots() === 1)
  isAway = true
  const spool = join(folder, 'shop.db-unshipped')
  for (let nth = 0; nth < 30 || !existsSync(spool); nth++) {
    writer.run('INSERT INTO blobs VALUES (randomblob(1000000))')
    let rounds = 0
    await until(() => ++rounds > 20)
  }
  isFull = true
  await until(() => events.includes('log_shipping.gave_up'))
  let rounds = 0
  await until(() => ++rounds > 20)
  const logBytes = statSync(join(folder, 'shop.db-wal'), { throwIfNoEntry: false })?.size ?? 0
  expect([existsSync(spool), logBytes < 1_000_000]).toEqual([false, true])
  ;[isAway, isFull] = [false, false]
  await until(() => snapshots() === 2)
  count()
  await stop()
  expect([await restore(), deps.logShipping.generations]).toEqual([1, 2])
})

test('a lost log leads to a new generation with a new snapshot', async () => {
  let isLost = false
  const { count, until, events, advices, deps, restore, stop } = openShop({
    followLog: (open) => async () => {
      const log = await open()
      return { ...log, next: () => (isLost ? Promise.reject(new LogBroken('lost')) : log.next()) }
    },
  })
  await until(() => deps.logShipping.shippedAt !== undefined)
  isLost = true
  count()
  await until(() => events.includes('log_shipping.log_lost'))
  expect(advices).toContain('Unshipped parts of the log are lost. A new snapshot is created')
  isLost = false
  count()
  await until(() => events.filter((event) => event === 'log_shipping.snapshot').length === 2)
  await stop()
  expect(await restore()).toBe(2)
})

const day = 24 * 60 * 60 * 1000

test('after a clock correction the newest state is still the last one, and the correction is logged', async () => {
  const earlier = openShop({ aheadMs: () => day })
  await earlier.until(() => earlier.deps.logShipping.shippedAt !== undefined)
  earlier.count()
  await earlier.stop()
  expect(await earlier.restore()).toBe(1)
  const after = openShop({ folder: earlier.folder })
  await after.until(() => after.events.includes('log_shipping.goes_on'))
  after.count()
  await after.stop()
  expect(await after.restore()).toBe(2)
  expect(after.events).toContain('log_shipping.clock_behind')
})

test('a clock set back during shipping keeps commits in order', async () => {
  const minute = 60_000
  let aheadMs = 0
  const { count, until, ship, events, restore, stop } = openShop({ aheadMs: () => aheadMs })
  await until(() => events.includes('log_shipping.snapshot'))
  const shipCommit = async (offsetMs: number) => {
    aheadMs = offsetMs
    count()
    await ship()
  }
  await shipCommit(10 * minute)
  for (let nth = 0; nth < 3; nth++) await shipCommit(0)
  await stop()
  expect([await restore(Date.now() + 5 * minute), await restore(Date.now() + 20 * minute), await restore()]).toEqual([0, 4, 4])
})

test('a clock ahead does not expire shipped data', async () => {
  let aheadMs = 0
  const first = openShop({ aheadMs: () => aheadMs })
  await first.until(() => first.snapshots() === 1)
  const moment = Date.now() + 10_000
  aheadMs = 365 * day
  first.count()
  await first.until(() => first.snapshots() === 2)
  await first.stop()
  expect(await first.restore(moment)).toBe(0)
  aheadMs = 800 * day
  const second = openShop({ folder: first.folder, aheadMs: () => aheadMs })
  await second.until(() => second.events.includes('log_shipping.goes_on'))
  await second.stop()
  expect([await second.restore(moment), await second.restore()]).toEqual([0, 1])
})

test('a running copy of an instance ships nothing while the original does, and takes over once the original stops', async () => {
  const minute = 60_000
  let [addedMs, copyMs] = [0, 0]
  const original = openShop({ addedMs: () => addedMs })
  await original.until(() => original.snapshots() === 1)
  const storeFolder = join(original.folder, 'store')
  const copy = openShop({ storeFolder, shipper: 'the copy', addedMs: () => copyMs })
  await copy.until(() => copy.events.includes('log_shipping.another_ships'))
  copy.count()
  // The copy runs for two minutes, during which the original renews its claim.
  for (const at of [1, 2, 3, 4]) {
    copyMs = at * minute
    addedMs = at * (minute + 1_000)
    original.count()
    await original.ship()
    const { failures } = copy.deps.logShipping
    await copy.until(() => copy.deps.logShipping.failures > failures + 1)
  }
  expect([copy.snapshots(), copy.deps.logShipping.shippedAt]).toEqual([0, undefined])
  expect(await original.restore()).toBe(4)
  // The original pauses, so the copy takes over. When it continues, it detects the take-over.
  copyMs += 4 * minute
  await copy.until(() => copy.snapshots() === 1)
  expect(original.events).not.toContain('log_shipping.another_ships')
  addedMs += 2 * minute
  await original.until(() => original.events.includes('log_shipping.another_ships'))
  await original.stop()
  await copy.stop()
})

test('a stopped process leaves the log to the next at once', async () => {
  const first = openShop()
  await first.until(() => first.snapshots() === 1)
  await first.stop()
  const next = openShop({ storeFolder: join(first.folder, 'store'), shipper: 'another machine' })
  await next.until(() => next.snapshots() === 1)
  expect(next.events).not.toContain('log_shipping.another_ships')
  await next.stop()
})

test('a restarted process continues without a new snapshot', async () => {
  const first = openShop()
  await first.until(() => first.snapshots() === 1)
  first.count()
  await first.stop()
  first.writer.close()
  const next = openShop({ folder: first.folder })
  await next.until(() => next.events.includes('log_shipping.goes_on'))
  next.count()
  const { shippedAt } = next.deps.logShipping
  expect(logShippingMetrics(next.deps).join('\n')).toContain(`souk_log_shipped_timestamp_seconds ${(shippedAt ?? 0) / 1000}`)
  await next.ship()
  expect(await next.restore()).toBe(2)
  await next.stop()
  next.writer.close()
  // Restarts once more without commits in between.
  const last = openShop({ folder: first.folder })
  await last.until(() => last.events.includes('log_shipping.goes_on'))
  last.count()
  await last.stop()
  expect(await last.restore()).toBe(3)
  expect([next, last].map(({ snapshots, deps }) => [snapshots(), deps.logShipping.generations])).toEqual([
    [0, 0],
    [0, 0],
  ])
})

test('commits made while no process followed the log lead to a new generation', async () => {
  const first = openShop()
  await first.until(() => first.snapshots() === 1)
  first.count()
  await first.stop()
  // A command commits. As the last connection it moves the log into the file and removes it.
  first.count()
  first.writer.close()
  const next = openShop({ folder: first.folder })
  // Until a new snapshot, the last restorable state is the earlier one.
  await next.until(() => next.deps.logShipping.shippedAt !== undefined)
  expect([await next.restore(), next.events.includes('log_shipping.goes_on')]).toEqual([1, false])
  await next.until(() => next.snapshots() === 1)
  await next.stop()
  expect(await next.restore()).toBe(2)
})

test('before the first response of the target nothing is reported as stored', async () => {
  const { deps, until, stop } = openShop({ wrapStore: () => ({ ...never, list: async function* () {} }) as unknown as BackupStore })
  expect(logShippingMetrics(deps).join('\n')).toContain('souk_log_shipped_timestamp_seconds 0')
  let isStopped = false
  void stop().then(() => {
    isStopped = true
  })
  await until(() => isStopped)
})

test('a removed or replaced target disk is noticed, and shipping begins again', async () => {
  const minute = 60_000
  let addedMs = 0
  const { folder, count, until, events, snapshots, deps, restore, stop } = openShop({ addedMs: () => addedMs })
  await until(() => snapshots() === 1)
  renameSync(join(folder, 'store'), join(folder, 'taken away'))
  count()
  addedMs += 2 * minute
  await until(() => events.includes('log_shipping.place_changed'))
  await until(() => snapshots() === 2)
  count()
  await stop()
  expect([await restore(), deps.logShipping.generations]).toEqual([2, 2])
})

test('commits are shipped while old files are removed', async () => {
  const deleted: string[] = []
  let aheadMs = 0
  const { count, until, snapshots, ship, stop } = openShop({
    aheadMs: () => aheadMs,
    addedMs: () => aheadMs,
    wrapStore: (store) => ({
      ...store,
      delete(name) {
        deleted.push(name)
        return name.includes('shipper') ? store.delete(name) : new Promise(() => undefined)
      },
    }),
  })
  await until(() => snapshots() === 1)
  for (let nth = 2; nth <= 3; nth++) {
    aheadMs += 10 * day
    count()
    await until(() => snapshots() === nth)
  }
  await until(() => deleted.length > 0)
  count()
  await ship()
  await stop()
})

const never = Object.fromEntries(['get', 'put', 'delete', 'free'].map((name) => [name, () => new Promise(() => undefined)]))

test('a snapshot made after a start works with segments shipped before it', async () => {
  let aheadMs = 0
  const first = openShop()
  await first.until(() => first.snapshots() === 1)
  // An open reader prevents the checkpoint.
  using reader = new Sqlite(join(first.folder, 'shop.db'), { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT n FROM counter').get()
  first.writer.run('CREATE TABLE other (x TEXT)')
  for (let nth = 0; nth < 50; nth++) first.writer.run('INSERT INTO other VALUES (hex(randomblob(500)))')
  await first.stop()
  const next = openShop({ folder: first.folder, aheadMs: () => aheadMs, addedMs: () => aheadMs })
  await next.until(() => next.events.includes('log_shipping.goes_on'))
  next.count()
  aheadMs = 2 * day
  next.count()
  await next.until(() => next.snapshots() === 1)
  await next.stop()
  const file = join(first.folder, 'again.db')
  const { notes } = await buildFromLog({ store: next.store, to: undefined, file, untilDamage: false, instance: undefined })
  // The restore uses the new snapshot.
  expect(notes).toEqual([])
  using database = new Sqlite(file)
  expect(database.query('SELECT (SELECT n FROM counter) AS n, (SELECT count(*) FROM other) AS others').get()).toEqual({ n: 2, others: 50 })
  expect(problemsOf(database)).toEqual([])
})
