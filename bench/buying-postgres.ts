/** Buying on PostgreSQL: one shop against the floor, and many shops by one process and by three. */
import { join } from 'node:path'
import pg from 'pg'
import { measureBuying, runBuyers } from './buyers.ts'
import type { Buying, BuyingResult, ShopToBuyIn } from './callers.ts'
import { figure, median, print, quick, rows, runScript, spreadOf, work } from './runs.ts'

const callers = 64
const shopCount = 16
const processes = 3
const seconds = quick ? 4 : 10

/**
 * Creates a database, measures and drops it.
 * @param serverUrl of a user who may create databases
 */
export async function measureBuyingOnPostgres(serverUrl: string): Promise<void> {
  print('buying on Postgres')
  const name = `souk_bench_${process.pid}`
  await administer(serverUrl, `CREATE DATABASE ${name}`)
  try {
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    const input = { dataDir: join(work, 'postgres'), databaseUrl: url.href, callers, seconds }
    const shops = await seedShops(input)
    const [shop] = shops
    if (shop) await measureBuying(`cart to CONFIRMED, ${callers} callers, one shop, Postgres`, '≥ 0.6', { ...input, shops: [shop] }, false)
    await compareProcessCounts({ ...input, shops, processor: 'sandbox', synchronous: 'FULL' })
  } finally {
    await administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  }
}

/** The same callers in one process and in three, in turn. */
async function compareProcessCounts(input: Buying): Promise<void> {
  const one: BuyingResult[] = []
  const many: BuyingResult[][] = []
  for (let round = 0; round < 2; round++) {
    one.push(await runBuyers('buying.ts', input))
    const share = { ...input, callers: Math.ceil(callers / processes) }
    many.push(await Promise.all(Array.from({ length: processes }, () => runBuyers('buying.ts', share))))
  }
  const perSecond = (all: readonly BuyingResult[]) => all.reduce((sum, each) => sum + each.perSecond, 0)
  const refused = (all: readonly BuyingResult[]) => all.reduce((sum, each) => sum + each.refused, 0)
  const ratios = many.map((all, at) => perSecond(all) / (one[at]?.perSecond ?? 1))
  rows.push({
    what: `cart to CONFIRMED, ${callers} callers, ${shopCount} shops, Postgres: ${processes} processes to one`,
    souk: `${figure(median(many.map(perSecond)))}/s, ${refused(many.flat())} × 503`,
    floor: `one process ${figure(median(one.map((each) => each.perSecond)))}/s, ${refused(one)} × 503`,
    ratio: median(ratios).toFixed(2),
    spread: spreadOf(ratios),
    target: '> 1',
  })
}

const seedShops = ({ dataDir, databaseUrl }: { dataDir: string; databaseUrl: string }): Promise<ShopToBuyIn[]> =>
  runScript(['seed-postgres.ts', dataDir, String(shopCount)], {}, databaseUrl)

/**
 * Runs a function with an empty database per size and drops them afterwards.
 * @param what part of their names
 */
export async function withDatabases(
  serverUrl: string,
  { sizes, what }: { sizes: readonly number[]; what: string },
  use: (databases: { size: number; databaseUrl: string }[]) => Promise<void>,
): Promise<void> {
  const databases = sizes.map((size) => {
    const url = new URL(serverUrl)
    url.pathname = `/souk_bench_${process.pid}_${what}_${size}`
    return { size, databaseUrl: url.href }
  })
  const nameOf = (databaseUrl: string) => new URL(databaseUrl).pathname.slice(1)
  try {
    for (const { databaseUrl } of databases) await administer(serverUrl, `CREATE DATABASE ${nameOf(databaseUrl)}`)
    await use(databases)
  } finally {
    for (const { databaseUrl } of databases) await administer(serverUrl, `DROP DATABASE IF EXISTS ${nameOf(databaseUrl)} WITH (FORCE)`)
  }
}

/** Runs a statement on a new connection. */
export async function administer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
