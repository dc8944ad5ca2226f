/** Buying on PostgreSQL: one shop against the floor, and many shops by one process and by three. */
import { join } from 'node:path'
import { measureBuying, runBuyers } from './buyers.ts'
import type { Buying, BuyingResult, ShopToBuyIn } from './callers.ts'
import { withDatabases } from './databases.ts'
import { figure, median, print, quick, reportRatios, runScript, work } from './runs.ts'

const callers = 64
const shopCount = 16
const processes = 3
const seconds = quick ? 4 : 10

/** @param serverUrl of a user who may create databases */
export async function measureBuyingOnPostgres(serverUrl: string): Promise<void> {
  print('buying on Postgres')
  await withDatabases(serverUrl, ['buying'], async ([databaseUrl = '']) => {
    const input = { dataDir: join(work, 'postgres'), databaseUrl, callers, seconds }
    const shops = await seedShops(input)
    const [shop] = shops
    if (shop) await measureBuying(`cart to CONFIRMED, ${callers} callers, one shop, Postgres`, '≥ 0.6', { ...input, shops: [shop] }, false)
    await compareProcessCounts({ ...input, shops, processor: 'sandbox', synchronous: 'FULL' })
  })
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
  const row = {
    what: `cart to CONFIRMED, ${callers} callers, ${shopCount} shops, Postgres: ${processes} processes to one`,
    souk: `${figure(median(many.map(perSecond)))}/s, ${refused(many.flat())} × 503`,
    floor: `one process ${figure(median(one.map((each) => each.perSecond)))}/s, ${refused(one)} × 503`,
    target: '> 1',
  }
  reportRatios(row, ratios)
}

const seedShops = ({ dataDir, databaseUrl }: { dataDir: string; databaseUrl: string }): Promise<ShopToBuyIn[]> =>
  runScript(['seed-postgres.ts', dataDir, String(shopCount)], {}, databaseUrl)
