/** Shipping beside a shop that goes on: a target that is gone, slow or full, and a log that is lost. */
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
import { type ShippingDeps, startShipping } from '../../../../src/modules/operations/log-shipping/service.ts'
import { temporaryDir } from '../../../support/database.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Options = {
  /** Stands before the store. */
  before?: (store: BackupStore) => BackupStore
  followLog?: (open: () => Promise<CommitLog>) => (kept?: ShippedLog) => Promise<CommitLog>
  diskFree?: () => number
  /** By how many milliseconds the clock is ahead. */
  ahead?: () => number
  /** Of a shop that was there before. */
  folder?: string
  /** Where another one ships to as well. */
  storeFolder?: string
  shipper?: string
  /** By how many milliseconds more has passed than did. */
  passed?: () => number
  heldMaxBytes?: number
}

/** A database that counts, and the shipping of its log, a round whenever it is asked for. */
function shop({ before = (store) => store, followLog, diskFree, ahead = () => 0, folder = temporaryDir(), ...given }: Options = {}) {
  const { storeFolder = join(folder, 'store'), shipper = 'the first', passed = () => 0, heldMaxBytes } = given
  const file = join(folder, 'shop.db')
  const isNew = !existsSync(file)
  const writer = new Sqlite(file, { create: true })
  configure(writer, 'OFF')
  if (isNew) {
    writer.run('CREATE TABLE counter (n INTEGER)')
    writer.run('INSERT INTO counter VALUES (0)')
  }
  const store = createFolderStore(storeFolder, Date.now)
  const said: string[] = []
  const waiting = new Set<() => void>()
  let now = Date.now()
  const advices: unknown[] = []
  const note = (event: string, fields?: { advice?: unknown }) => {
    said.push(event)
    if (fields?.advice !== undefined) advices.push(fields.advice)
  }
  const deps = {
    log: { debug: note, info: note, warn: note, error: note },
    clock: { now: () => ++now + ahead(), monotonic: () => performance.now() + passed() },
    ...{ sleep: () => new Promise<void>((resume) => waiting.add(resume)), randomBytes, build: { version: 'test' } },
    ...{ diskFree: diskFree ?? (() => undefined), config: { diskFreeMinBytes: 1_000, shipLogDays: 7 }, ...logShippingProviders() },
  } as unknown as ShippingDeps
  const database = databaseFileAt(file)
  const { stop } = startShipping(deps, {
    ...{
      openStore: async () => before(store),
      followLog: followLog?.(() => database.followLog()) ?? ((kept) => database.followLog(kept)),
      letLogGo: () => undefined,
      sizes: () => ({ bytes: 0, logBytes: 0 }),
      keysText: () => undefined,
    },
    ...{ everyMs: 1, instance: '00000000', shipper, ...(heldMaxBytes === undefined ? {} : { heldMaxBytes }) },
  })
  /** Lets rounds go by until that is so. */
  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      for (const resume of waiting) resume()
      waiting.clear()
      await new Promise((resume) => setImmediate(resume))
    }
  }
  return {
    ...{ folder, writer, store, said, advices, deps, stop, until },
    snapshots: () => said.filter((event) => event === 'log_shipping.snapshot').length,
    count: () => void writer.run('UPDATE counter SET n = n + 1'),
    /** Lets rounds go by until what is committed by now is there: a round that is under way may have looked at the log before. */
    async shipped(): Promise<void> {
      const { shippedAt } = deps.logShipping
      const by = deps.clock.now()
      await until(() => deps.logShipping.shippedAt !== shippedAt && (deps.logShipping.shippedAt ?? 0) > by)
    },
    async restored(to?: number): Promise<number> {
      const restored = join(folder, `restored-${said.length}.db`)
      await buildFromLog({ store, to, file: restored, untilDamage: false, instance: undefined })
      using connection = new Sqlite(restored)
      return connection.query<{ n: number }, []>('SELECT n FROM counter').get()?.n ?? -1
    },
  }
}

test('an unavailable target is retried until it has everything', async () => {
  let [isGone, refused] = [false, 0]
  const { count, until, said, deps, restored, stop } = shop({
    before: (store) => ({
      ...store,
      put(name, chunks) {
        if (!isGone) return store.put(name, chunks)
        refused++
        throw new Error('gone')
      },
    }),
  })
  await until(() => deps.logShipping.shippedAt !== undefined)
  const { shippedAt } = deps.logShipping
  isGone = true
  count()
  await until(() => refused > 3)
  // The event is logged once, and the metrics show it.
  expect(said.filter((event) => event === 'log_shipping.fails').length).toBe(1)
  expect(deps.logShipping.shippedAt).toBe(shippedAt as number)
  expect(logShippingMetrics(deps).join('\n')).toContain(`souk_log_shipping_failures_total ${deps.logShipping.failures}`)
  for (let nth = 0; nth < 20; nth++) count()
  isGone = false
  await until(() => said.includes('log_shipping.works'))
  await stop()
  expect(await restored()).toBe(21)
  expect(deps.logShipping.generations).toBe(1)
})

test('on a full disk the log is released; with space a new generation begins', async () => {
  let [isGone, free] = [false, 1_000_000]
  const { writer, count, until, said, deps, restored, stop } = shop({
    before: (store) => ({ ...store, put: (name, chunks) => (isGone ? Promise.reject(new Error('full')) : store.put(name, chunks)) }),
    diskFree: () => free,
  })
  await until(() => deps.logShipping.shippedAt !== undefined)
  isGone = true
  free = 10
  count()
  await until(() => said.includes('log_shipping.gave_up'))
  // No reader pins the log any more.
  writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  count()
  isGone = false
  free = 1_000_000
  await until(() => deps.logShipping.generations === 2 && said.filter((event) => event === 'log_shipping.snapshot').length === 2)
  count()
  await stop()
  expect(await restored()).toBe(3)
})

test('a target that never responds delays nobody: the log is checked meanwhile', async () => {
  let [hangs, free] = [false, 1_000_000]
  const hanging: (() => void)[] = []
  const hang = () => new Promise<never>((_, reject) => hanging.push(() => reject(new Error('gone'))))
  const { count, until, said, deps, stop } = shop({
    before: (store) => ({ ...store, put: (name, chunks) => (hangs ? hang() : store.put(name, chunks)) }),
    diskFree: () => free,
  })
  await until(() => deps.logShipping.shippedAt !== undefined)
  hangs = true
  count()
  free = 10
  await until(() => said.includes('log_shipping.gave_up'))
  hangs = false
  // The next beginning may have asked it, too.
  for (const end of hanging) end()
  free = 1_000_000
  await until(() => deps.logShipping.generations === 2)
  await stop()
})

test('data waiting for an unresponsive target is limited and removed from the disk', async () => {
  let hangs = false
  const hanging: (() => void)[] = []
  const hang = () => new Promise<never>((_, reject) => hanging.push(() => reject(new Error('gone'))))
  const heldMaxBytes = 2_000_000
  const { folder, writer, count, until, said, deps, restored, snapshots, stop } = shop({
    before: (store) => ({ ...store, put: (name, chunks) => (hangs ? hang() : store.put(name, chunks)) }),
    heldMaxBytes,
  })
  writer.run('CREATE TABLE blobs (x BLOB)')
  await until(() => snapshots() === 1)
  hangs = true
  const held: number[] = []
  const sizeOf = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
  while (!said.includes('log_shipping.gave_up')) {
    writer.run('INSERT INTO blobs VALUES (randomblob(50000))')
    count()
    held.push(sizeOf('shop.db-wal'))
    let rounds = 0
    await until(() => ++rounds > 20)
  }
  expect(Math.max(...held)).toBeLessThan(80_000_000)
  expect([sizeOf('shop.db-wal') < heldMaxBytes, existsSync(join(folder, 'shop.db-unshipped'))]).toEqual([true, false])
  hangs = false
  for (const end of hanging) end()
  await until(() => snapshots() === 2)
  count()
  await stop()
  expect([await restored(), deps.logShipping.generations]).toEqual([held.length + 1, 2])
})

test('a stop while the target is silent leaves the rest to the next start, which continues', async () => {
  let isGone = false
  const first = shop({
    before: (store) => ({ ...store, put: (name, chunks) => (isGone ? Promise.reject(new Error('gone')) : store.put(name, chunks)) }),
  })
  await first.until(() => first.snapshots() === 1)
  isGone = true
  first.count()
  await first.until(() => first.said.includes('log_shipping.fails'))
  first.count()
  await first.stop()
  first.writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  first.writer.close()
  const next = shop({ folder: first.folder })
  await next.until(() => next.said.includes('log_shipping.goes_on'))
  next.count()
  await next.shipped()
  await next.stop()
  expect([await next.restored(), next.snapshots(), next.deps.logShipping.generations]).toEqual([3, 0, 0])
})

test('a spool that cannot be written is removed at once, also while the target is away', async () => {
  let [isGone, isFull] = [false, false]
  const full = () => Promise.reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }))
  const { folder, writer, count, until, said, deps, restored, snapshots, stop } = shop({
    before: (store) => ({ ...store, put: (name, chunks) => (isGone ? Promise.reject(new Error('gone')) : store.put(name, chunks)) }),
    followLog: (open) => async () => {
      const log = await open()
      return { ...log, checkpointLong: () => (isFull ? full() : log.checkpointLong()) }
    },
  })
  writer.run('CREATE TABLE blobs (x BLOB)')
  await until(() => snapshots() === 1)
  isGone = true
  const spool = join(folder, 'shop.db-unshipped')
  for (let nth = 0; nth < 30 || !existsSync(spool); nth++) {
    writer.run('INSERT INTO blobs VALUES (randomblob(1000000))')
    let rounds = 0
    await until(() => ++rounds > 20)
  }
  isFull = true
  await until(() => said.includes('log_shipping.gave_up'))
  let rounds = 0
  await until(() => ++rounds > 20)
  const logBytes = statSync(join(folder, 'shop.db-wal'), { throwIfNoEntry: false })?.size ?? 0
  expect([existsSync(spool), logBytes < 1_000_000]).toEqual([false, true])
  ;[isGone, isFull] = [false, false]
  await until(() => snapshots() === 2)
  count()
  await stop()
  expect([await restored(), deps.logShipping.generations]).toEqual([1, 2])
})

test('a lost log leads to a new generation with a new snapshot', async () => {
  let isLost = false
  const { count, until, said, advices, deps, restored, stop } = shop({
    followLog: (open) => async () => {
      const log = await open()
      return { ...log, next: () => (isLost ? Promise.reject(new LogBroken('lost')) : log.next()) }
    },
  })
  await until(() => deps.logShipping.shippedAt !== undefined)
  isLost = true
  count()
  await until(() => said.includes('log_shipping.log_lost'))
  expect(advices).toContain('Unshipped parts of the log are lost. A new snapshot is created')
  isLost = false
  count()
  await until(() => said.filter((event) => event === 'log_shipping.snapshot').length === 2)
  await stop()
  expect(await restored()).toBe(2)
})

const day = 24 * 60 * 60 * 1000

test('a corrected clock does not make an older state the last one, and is logged', async () => {
  const before = shop({ ahead: () => day })
  await before.until(() => before.deps.logShipping.shippedAt !== undefined)
  before.count()
  await before.stop()
  expect(await before.restored()).toBe(1)
  const after = shop({ folder: before.folder })
  await after.until(() => after.said.includes('log_shipping.goes_on'))
  after.count()
  await after.stop()
  expect(await after.restored()).toBe(2)
  expect(after.said).toContain('log_shipping.clock_behind')
})

test('a clock set back during shipping keeps commits in order', async () => {
  const minute = 60_000
  let ahead = 0
  const { count, until, shipped, said, restored, stop } = shop({ ahead: () => ahead })
  await until(() => said.includes('log_shipping.snapshot'))
  const counted = async (isAhead: number) => {
    ahead = isAhead
    count()
    await shipped()
  }
  await counted(10 * minute)
  for (let nth = 0; nth < 3; nth++) await counted(0)
  await stop()
  expect([await restored(Date.now() + 5 * minute), await restored(Date.now() + 20 * minute), await restored()]).toEqual([0, 4, 4])
})

test('a clock ahead makes nothing shipped old', async () => {
  let ahead = 0
  const first = shop({ ahead: () => ahead })
  await first.until(() => first.snapshots() === 1)
  const moment = Date.now() + 10_000
  ahead = 365 * day
  first.count()
  await first.until(() => first.snapshots() === 2)
  await first.stop()
  expect(await first.restored(moment)).toBe(0)
  ahead = 800 * day
  const second = shop({ folder: first.folder, ahead: () => ahead })
  await second.until(() => second.said.includes('log_shipping.goes_on'))
  await second.stop()
  expect([await second.restored(moment), await second.restored()]).toEqual([0, 1])
})

test('a running copy of an instance ships nothing while the original does, and takes over once it is silent', async () => {
  const minute = 60_000
  let [passed, ofCopy] = [0, 0]
  const original = shop({ passed: () => passed })
  await original.until(() => original.snapshots() === 1)
  const storeFolder = join(original.folder, 'store')
  const copy = shop({ storeFolder, shipper: 'the copy', passed: () => ofCopy })
  await copy.until(() => copy.said.includes('log_shipping.another_ships'))
  copy.count()
  // The copy runs for two minutes, during which the original renews its claim.
  for (const at of [1, 2, 3, 4]) {
    ofCopy = at * minute
    passed = at * (minute + 1_000)
    original.count()
    await original.shipped()
    const { failures } = copy.deps.logShipping
    await copy.until(() => copy.deps.logShipping.failures > failures + 1)
  }
  expect([copy.snapshots(), copy.deps.logShipping.shippedAt]).toEqual([0, undefined])
  expect(await original.restored()).toBe(4)
  // The original stands still: for the copy it has died, and when it goes on it sees that it was taken for dead.
  ofCopy += 4 * minute
  await copy.until(() => copy.snapshots() === 1)
  expect(original.said).not.toContain('log_shipping.another_ships')
  passed += 2 * minute
  await original.until(() => original.said.includes('log_shipping.another_ships'))
  await original.stop()
  await copy.stop()
})

test('a stopped process leaves the log to the next at once', async () => {
  const first = shop()
  await first.until(() => first.snapshots() === 1)
  await first.stop()
  const next = shop({ storeFolder: join(first.folder, 'store'), shipper: 'another machine' })
  await next.until(() => next.snapshots() === 1)
  expect(next.said).not.toContain('log_shipping.another_ships')
  await next.stop()
})

test('a restarted process continues without a new snapshot', async () => {
  const first = shop()
  await first.until(() => first.snapshots() === 1)
  first.count()
  await first.stop()
  first.writer.close()
  const next = shop({ folder: first.folder })
  await next.until(() => next.said.includes('log_shipping.goes_on'))
  next.count()
  const { shippedAt } = next.deps.logShipping
  expect(logShippingMetrics(next.deps).join('\n')).toContain(`souk_log_shipped_timestamp_seconds ${(shippedAt ?? 0) / 1000}`)
  await next.shipped()
  expect(await next.restored()).toBe(2)
  await next.stop()
  next.writer.close()
  // And once more, with nothing committed in between.
  const last = shop({ folder: first.folder })
  await last.until(() => last.said.includes('log_shipping.goes_on'))
  last.count()
  await last.stop()
  expect(await last.restored()).toBe(3)
  expect([next, last].map(({ snapshots, deps }) => [snapshots(), deps.logShipping.generations])).toEqual([
    [0, 0],
    [0, 0],
  ])
})

test('commits made while nobody followed the log lead to a new generation', async () => {
  const first = shop()
  await first.until(() => first.snapshots() === 1)
  first.count()
  await first.stop()
  // A command: as the last one it moves the log into the file, and removes it.
  first.count()
  first.writer.close()
  const next = shop({ folder: first.folder })
  // Until then the last moment is that of before.
  await next.until(() => next.deps.logShipping.shippedAt !== undefined)
  expect([await next.restored(), next.said.includes('log_shipping.goes_on')]).toEqual([1, false])
  await next.until(() => next.snapshots() === 1)
  await next.stop()
  expect(await next.restored()).toBe(2)
})

test('before the first response of the target nothing is reported as stored', async () => {
  const { deps, until, stop } = shop({ before: () => ({ ...never, list: async function* () {} }) as unknown as BackupStore })
  expect(logShippingMetrics(deps).join('\n')).toContain('souk_log_shipped_timestamp_seconds 0')
  let isStopped = false
  void stop().then(() => {
    isStopped = true
  })
  await until(() => isStopped)
})

test('a removed or replaced target disk is noticed, and shipping begins again', async () => {
  const minute = 60_000
  let passed = 0
  const { folder, count, until, said, snapshots, deps, restored, stop } = shop({ passed: () => passed })
  await until(() => snapshots() === 1)
  renameSync(join(folder, 'store'), join(folder, 'taken away'))
  count()
  passed += 2 * minute
  await until(() => said.includes('log_shipping.place_changed'))
  await until(() => snapshots() === 2)
  count()
  await stop()
  expect([await restored(), deps.logShipping.generations]).toEqual([2, 2])
})

test('commits are shipped while old files are removed', async () => {
  const pages: string[] = []
  let ahead = 0
  const { count, until, snapshots, shipped, stop } = shop({
    ahead: () => ahead,
    passed: () => ahead,
    before: (store) => ({
      ...store,
      delete(name) {
        pages.push(name)
        return name.includes('shipper') ? store.delete(name) : new Promise(() => undefined)
      },
    }),
  })
  await until(() => snapshots() === 1)
  for (let nth = 2; nth <= 3; nth++) {
    ahead += 10 * day
    count()
    await until(() => snapshots() === nth)
  }
  await until(() => pages.length > 0)
  count()
  await shipped()
  await stop()
})

const never = Object.fromEntries(['get', 'put', 'delete', 'free'].map((name) => [name, () => new Promise(() => undefined)]))

test('a snapshot made after a start works with segments shipped before it', async () => {
  let ahead = 0
  const first = shop()
  await first.until(() => first.snapshots() === 1)
  // An open reader prevents the checkpoint.
  using reader = new Sqlite(join(first.folder, 'shop.db'), { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT n FROM counter').get()
  first.writer.run('CREATE TABLE other (x TEXT)')
  for (let nth = 0; nth < 50; nth++) first.writer.run('INSERT INTO other VALUES (hex(randomblob(500)))')
  await first.stop()
  const next = shop({ folder: first.folder, ahead: () => ahead, passed: () => ahead })
  await next.until(() => next.said.includes('log_shipping.goes_on'))
  next.count()
  ahead = 2 * day
  next.count()
  await next.until(() => next.snapshots() === 1)
  await next.stop()
  const file = join(first.folder, 'again.db')
  const { notes } = await buildFromLog({ store: next.store, to: undefined, file, untilDamage: false, instance: undefined })
  // It is that snapshot, and not the one before.
  expect(notes).toEqual([])
  using restored = new Sqlite(file)
  expect(restored.query('SELECT (SELECT n FROM counter) AS n, (SELECT count(*) FROM other) AS others').get()).toEqual({ n: 2, others: 50 })
  expect(problemsOf(restored)).toEqual([])
})
