/** Buying on a Postgres server: one shop against the floor, and many shops by one process and by three. */
import { join } from 'node:path'
import pg from 'pg'
import { bought, buyingInTurn } from './buyers.ts'
import type { Bought, Buying, ShopToBuyIn } from './callers.ts'
import { answered, figure, median, quick, rows, say, spreadOf, work } from './runs.ts'

const callers = 64
const shopCount = 16
const processes = 3
const seconds = quick ? 4 : 10

/**
 * Makes a database on the server, measures, and drops it.
 * @param serverUrl of a user who may create databases
 */
export async function measureBuyingOnPostgres(serverUrl: string): Promise<void> {
  say('buying on Postgres')
  const name = `souk_bench_${process.pid}`
  await administer(serverUrl, `CREATE DATABASE ${name}`)
  try {
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    const told = { dataDir: join(work, 'postgres'), databaseUrl: url.href, callers, seconds }
    const shops = await seedShops(told)
    const [shop] = shops
    if (shop) await buyingInTurn(`cart to CONFIRMED, ${callers} callers, one shop, Postgres`, '≥ 0.5', { ...told, shops: [shop] }, false)
    await oneAndMany({ ...told, shops, processor: 'sandbox', synchronous: 'FULL' })
  } finally {
    await administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  }
}

/** The same callers, in one process and shared out over three, in turn. */
async function oneAndMany(told: Buying): Promise<void> {
  const one: Bought[] = []
  const many: Bought[][] = []
  for (let round = 0; round < 2; round++) {
    one.push(await bought('buying.ts', told))
    const share = { ...told, callers: Math.ceil(callers / processes) }
    many.push(await Promise.all(Array.from({ length: processes }, () => bought('buying.ts', share))))
  }
  const perSecond = (all: readonly Bought[]) => all.reduce((sum, each) => sum + each.perSecond, 0)
  const refused = (all: readonly Bought[]) => all.reduce((sum, each) => sum + each.refused, 0)
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
  answered(['seed-postgres.ts', dataDir, String(shopCount)], {}, databaseUrl)

/**
 * Lends an empty database for each size, and drops them all afterwards.
 * @param what they are called by, besides
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

/** Runs a statement by a connection of its own. */
export async function administer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
