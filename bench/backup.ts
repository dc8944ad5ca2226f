/**
 * Measures what a backup and log shipping cost buyers, and how long restore and check take compared with SQLite's
 * integrity check.
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
import { runBuyers } from './buyers.ts'
import type { Buying, BuyingResult } from './callers.ts'
import { figure, median, print, quick, reportRatios, reportSingle, work } from './runs.ts'
import { benchSettings, seed } from './seed.ts'
import { seedOrders } from './seed-orders.ts'

const products = 300
/** About 3.4 kB each in the file. */
const orders = quick ? 30_000 : 300_000
const callers = 16
const seconds = quick ? 3 : 10
const rounds = quick ? 2 : 3

type BuyingInput = Omit<Buying, 'settings'>
type Settings = Record<string, string>

async function timeCommand<T>(what: () => Promise<T> | T): Promise<{ ms: number; answer: T }> {
  const startedAt = performance.now()
  const answer = await what()
  return { ms: performance.now() - startedAt, answer }
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
  const input: BuyingInput = {
    dataDir,
    shops: [{ shopId, publishableKey, variantIds }],
    callers,
    seconds,
    processor: 'sandbox',
    synchronous: 'FULL',
  }
  await fillIndexes(settings)
  await measureDuringBackups(input, settings, size)
  await measureWhileShipping(input, settings)
  const integrity = await timeCommand(() => {
    using connection = new Sqlite(file, { readonly: true })
    return connection.query('PRAGMA integrity_check').all()
  })
  const check = await timeCommand(() => souk(['check'], dataDir, { settings }))
  succeeded(check.answer)
  const restore = await timeCommand(() =>
    souk(['restore', 'latest', '--check', '--data-dir', join(work, 'restored')], dataDir, { settings }),
  )
  succeeded(restore.answer)
  const what = `souk check of ${size}, ${figure(orders)} orders`
  const times = { souk: secondsText(check.ms), floor: `integrity_check ${secondsText(integrity.ms)}` }
  reportRatios({ what, ...times, target: '≤ 2' }, [check.ms / integrity.ms])
  reportSingle(`souk restore latest --check of ${size}`, secondsText(restore.ms), '')
}

/**
 * Fills search indexes and daily sums of the seeded rows, as after an upgrade. `souk check` compares them with the
 * rows.
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

/** Checkouts alone, and during consecutive backups. */
async function measureDuringBackups(input: BuyingInput, settings: Settings, size: string): Promise<void> {
  const [alone, duringBackups, took]: [BuyingResult[], BuyingResult[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    alone.push(await runBuyers('buying.ts', input))
    let isOver = false
    const backups = (async () => {
      while (!isOver) {
        const { ms, answer } = await timeCommand(() => souk(['backup'], input.dataDir, { settings }))
        succeeded(answer)
        took.push(ms)
      }
    })()
    duringBackups.push(await runBuyers('buying.ts', input).finally(() => (isOver = true)))
    await backups
  }
  print(`${took.length} backups were made`)
  const text = (all: readonly BuyingResult[]) =>
    `p99 ${figure(median(all.map(({ p99Ms }) => p99Ms)))} ms, ${figure(median(all.map(({ cpuMsEach }) => cpuMsEach)), 1)} ms of processor an order`
  const ratios = duringBackups.map(({ p99Ms }, nth) => p99Ms / (alone[nth]?.p99Ms ?? 1))
  const what = `cart to CONFIRMED beside a backup of ${size}, ${callers} callers`
  reportRatios({ what, souk: text(duringBackups), floor: `alone ${text(alone)}`, target: '≤ 2' }, ratios)
  reportSingle(`souk backup of ${size}, meanwhile`, secondsText(median(took)), '')
}

/** Checkouts with the log shipped every second and without, in turn. */
async function measureWhileShipping(input: BuyingInput, settings: Settings): Promise<void> {
  const [off, on]: [BuyingResult[], BuyingResult[]] = [[], []]
  let longest = { log: 0, unshipped: 0 }
  for (let round = 0; round < rounds; round++) {
    off.push(await runBuyers('buying.ts', input))
    using _ = watchLogLength(input.dataDir, ({ log, unshipped }) => {
      longest = { log: Math.max(longest.log, log), unshipped: Math.max(longest.unshipped, unshipped) }
    })
    on.push(await runBuyers('buying.ts', { ...input, settings: { ...settings, SHIP_LOG_SECONDS: '1' } }))
  }
  const text = (all: readonly BuyingResult[]) =>
    `${figure(median(all.map(({ perSecond }) => perSecond)))}/s, ${figure(median(all.map(({ cpuMsEach }) => cpuMsEach)), 1)} ms of processor an order`
  const ratios = on.map(({ perSecond }, nth) => perSecond / (off[nth]?.perSecond ?? 1))
  const what = 'cart to CONFIRMED while the log is shipped every second'
  reportRatios({ what, souk: text(on), floor: `without ${text(off)}`, target: '' }, ratios)
  const megabytes = (bytes: number) => `${figure(bytes / 1e6)} MB`
  reportSingle('  longest log; with unshipped data', `${megabytes(longest.log)}; ${megabytes(longest.unshipped)}`, '≤ 537 MB')
}

/** Reports the length of the log and of unshipped data until disposed. */
function watchLogLength(dataDir: string, report: (lengths: { log: number; unshipped: number }) => void): Disposable {
  const file = join(dataDir, 'souk.db')
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const timer = setInterval(() => {
    const folder = `${file}-unshipped`
    const waiting = existsSync(folder) ? readdirSync(folder).reduce((sum, name) => sum + sizeOf(join(folder, name)), 0) : 0
    const log = sizeOf(`${file}-wal`)
    report({ log, unshipped: log + waiting })
  }, 100)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
