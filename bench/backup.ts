/**
 * What a backup by command and the shipping of the log cost those who buy meanwhile, and how long restore and check take, against SQLite's own
 * integrity check: of a database of orders.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { searchFills } from '../db/schema/search-index.ts'
import { fillSearch } from '../jobs/fill-search.ts'
import { parseConfig } from '../src/config.ts'
import { openInstance } from '../src/instance.ts'
import { backfillKpis, foldKpis } from '../src/modules/operations/kpi/index.ts'
import { souk } from '../test/cli/souk.ts'
import { bought } from './buyers.ts'
import type { Bought, Buying } from './callers.ts'
import { figure, median, only, quick, rows, say, spreadOf, work } from './runs.ts'
import { benchSettings, seed } from './seed.ts'
import { seedOrders } from './seed-orders.ts'

const products = 300
/** Some 3.4 kB each in the file. */
const orders = quick ? 30_000 : 300_000
const callers = 16
const seconds = quick ? 3 : 10
const rounds = quick ? 2 : 3

type Told = Omit<Buying, 'settings'>
type Settings = Record<string, string>

async function timed<T>(what: () => Promise<T> | T): Promise<{ ms: number; answer: T }> {
  const began = performance.now()
  const answer = await what()
  return { ms: performance.now() - began, answer }
}

const secondsText = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
const succeeded = ({ status, stderr }: Awaited<ReturnType<typeof souk>>) => {
  if (status !== 0) throw new Error(stderr)
}

export async function measureBackup(): Promise<void> {
  const seeded = await seed(join(work, 'backup'), products)
  const { dataDir, shopId } = seeded
  const { publishableKey, variantIds } = seedOrders(seeded, orders)
  const file = join(dataDir, 'souk.db')
  const settings = { ...benchSettings(dataDir), BACKUP_DIR: join(work, 'backups'), BACKUP_PASSPHRASE: 'a passphrase of the bench' }
  const size = `${Math.round(statSync(file).size / 1e6)} MB`
  const told: Told = {
    dataDir,
    shops: [{ shopId, publishableKey, variantIds }],
    callers,
    seconds,
    processor: 'sandbox',
    synchronous: 'FULL',
  }
  await fillIndexes(settings)
  await besideBackups(told, settings, size)
  await whileShipping(told, settings)
  const integrity = await timed(() => {
    using connection = new Sqlite(file, { readonly: true })
    return connection.query('PRAGMA integrity_check').all()
  })
  const check = await timed(() => souk(['check'], dataDir, { settings }))
  succeeded(check.answer)
  const restore = await timed(() => souk(['restore', 'latest', '--check', '--data-dir', join(work, 'restored')], dataDir, { settings }))
  succeeded(restore.answer)
  rows.push({
    what: `souk check of ${size}, ${figure(orders)} orders`,
    souk: secondsText(check.ms),
    floor: `integrity_check ${secondsText(integrity.ms)}`,
    ratio: (check.ms / integrity.ms).toFixed(2),
    spread: '',
    target: '≤ 2',
  })
  only(`souk restore latest --check of ${size}`, secondsText(restore.ms), '')
}

/**
 * Fills the search indexes and daily totals of the seeded rows, as after an upgrade. `souk check` compares them with
 * the rows.
 */
async function fillIndexes(settings: Settings): Promise<void> {
  const instance = await openInstance({ config: parseConfig(settings), as: 'server' })
  const { db } = instance.deps
  const subjects = ['ORDERS', 'PRODUCTS', 'CUSTOMERS'] as const
  await db.write((tx) => tx.insert(searchFills).values(subjects.map((subject) => ({ subject, below: '~', done: 0 }))))
  while ((await db.read.select().from(searchFills).limit(1)).length > 0) await fillSearch(instance.deps)
  await backfillKpis(instance.deps)
  await foldKpis(instance.deps)
  await instance.close()
}

/** Checkouts alone, and while one backup after the other is made. */
async function besideBackups(told: Told, settings: Settings, size: string): Promise<void> {
  const [alone, beside, took]: [Bought[], Bought[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    alone.push(await bought('buying.ts', told))
    let isOver = false
    const backups = (async () => {
      while (!isOver) {
        const { ms, answer } = await timed(() => souk(['backup'], told.dataDir, { settings }))
        succeeded(answer)
        took.push(ms)
      }
    })()
    beside.push(await bought('buying.ts', told).finally(() => (isOver = true)))
    await backups
  }
  say(`${took.length} backups were made`)
  const text = (all: readonly Bought[]) =>
    `p99 ${figure(median(all.map(({ p99Ms }) => p99Ms)))} ms, ${figure(median(all.map(({ cpuMsEach }) => cpuMsEach)), 1)} ms of processor an order`
  const ratios = beside.map(({ p99Ms }, nth) => p99Ms / (alone[nth]?.p99Ms ?? 1))
  rows.push({
    what: `cart to CONFIRMED beside a backup of ${size}, ${callers} callers`,
    souk: text(beside),
    floor: `alone ${text(alone)}`,
    ratio: median(ratios).toFixed(2),
    spread: spreadOf(ratios),
    target: '≤ 2',
  })
  only(`souk backup of ${size}, meanwhile`, secondsText(median(took)), '')
}

/** Checkouts with the log shipped every second and without, in turn. */
async function whileShipping(told: Told, settings: Settings): Promise<void> {
  const [off, on]: [Bought[], Bought[]] = [[], []]
  let longest = { log: 0, held: 0 }
  for (let round = 0; round < rounds; round++) {
    off.push(await bought('buying.ts', told))
    using _ = watching(told.dataDir, ({ log, held }) => {
      longest = { log: Math.max(longest.log, log), held: Math.max(longest.held, held) }
    })
    on.push(await bought('buying.ts', { ...told, settings: { ...settings, SHIP_LOG_SECONDS: '1' } }))
  }
  const text = (all: readonly Bought[]) =>
    `${figure(median(all.map(({ perSecond }) => perSecond)))}/s, ${figure(median(all.map(({ cpuMsEach }) => cpuMsEach)), 1)} ms of processor an order`
  const ratios = on.map(({ perSecond }, nth) => perSecond / (off[nth]?.perSecond ?? 1))
  rows.push({
    what: 'cart to CONFIRMED while the log is shipped every second',
    souk: text(on),
    floor: `without ${text(off)}`,
    ratio: median(ratios).toFixed(2),
    spread: spreadOf(ratios),
    target: '',
  })
  const megabytes = (bytes: number) => `${figure(bytes / 1e6)} MB`
  only('  the log at its longest; with what waits to be shipped', `${megabytes(longest.log)}; ${megabytes(longest.held)}`, '≤ 537 MB')
}

/** Tells the length of the log, without and with what was read from it and is not shipped, until it is disposed of. */
function watching(dataDir: string, tell: (lengths: { log: number; held: number }) => void): Disposable {
  const file = join(dataDir, 'souk.db')
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const timer = setInterval(() => {
    const folder = `${file}-unshipped`
    const waiting = existsSync(folder) ? readdirSync(folder).reduce((sum, name) => sum + sizeOf(join(folder, name)), 0) : 0
    const log = sizeOf(`${file}-wal`)
    tell({ log, held: log + waiting })
  }, 100)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
