/** Times the dashboards, and product reads while an operator views them; see compare-sizes.ts. */
import { eq, sql } from 'drizzle-orm'
import { engine } from '../db/columns.ts'
import { products } from '../db/schema/catalog.ts'
import { users } from '../db/schema/people.ts'
import { shops } from '../db/schema/shop.ts'
import { system } from '../src/core/command-context.ts'
import type { Instance } from '../src/instance.ts'
import { addDays, dayMs, dayOf } from '../src/lib/day.ts'
import { processorNames } from '../src/lib/processors.ts'
import { createProduct } from '../src/modules/catalog/products/index.ts'
import { startSession } from '../src/modules/identity/auth/service.ts'
import { createMerchant, createSuperAdmin } from '../src/modules/identity/merchant/service.ts'
import { contextOf } from '../src/modules/shop/shop/index.ts'
import { administer } from './databases.ts'
import { ask, fastestTimes, finish, openMeasured, type Source, type Times } from './measured-instance.ts'

export type KpiMeasurement = {
  readonly times: Times
  /** Product reads a second of the last network, without and with viewed dashboards, per round. */
  readonly withoutDashboards: readonly number[]
  readonly withDashboards: readonly number[]
}

const shopsCount = 200
const productsCount = 2_000
const days = 365
/** A capture, a gift card payment, and the refunds of both. */
const movementsOfOrder = 4
/** A partner referred every tenth order. */
const partnersEvery = 10
/** Every fifth order is by a new customer. */
const signUpsEvery = 5
/** Time between two views of an operator. */
const viewEveryMs = 200
const password = 'bench-password'

const dashboards = [
  ...['registered-users', 'verified-shops', 'confirmed-orders', 'created-products', 'gmv', 'refund-rate'].map(
    (name) => `dashboard/${name}`,
  ),
  ...['top-merchants', 'top-products'].map((name) => `affiliate/${name}`),
]

const numbered = (what: string, nth: number) => `${what}_${String(nth).padStart(26, '0')}`

/** Inserts more merchants, shops and products as copies of rows that the program created. */
async function seedNetwork({ deps }: Instance): Promise<{ productId: string }> {
  const { user, shop } = await createMerchant(
    deps,
    { email: 'bench@example.com', password },
    { name: 'bench', currency: 'USD', country: 'US' },
    system,
  )
  const input = {
    title: 'Thing',
    status: 'ACTIVE' as const,
    publishedAt: deps.clock.now() - dayMs,
    variants: [{ price: { amount: 1_000, currency: 'USD' } }],
  }
  const product = await createProduct(deps, { shop: contextOf(shop), actor: { id: user.id } }, input)
  const [[owner], [shopRow], [productRow]] = await Promise.all([
    deps.db.read.select().from(users).where(eq(users.id, user.id)),
    deps.db.read.select().from(shops),
    deps.db.read.select().from(products),
  ])
  if (!(owner && shopRow && productRow)) throw new Error('nothing was made')
  await deps.db.write(async (tx) => {
    for (let nth = 0; nth < shopsCount; nth++) {
      await tx.insert(users).values({ ...owner, id: numbered('usr', nth), email: `bench${nth}@example.com` })
      await tx.insert(shops).values({ ...shopRow, id: numbered('shop', nth), name: `bench-${nth}`, merchantId: numbered('usr', nth) })
    }
  })
  for (let from = 0; from < productsCount; from += shopsCount)
    await deps.db.write(async (tx) => {
      const some = Array.from({ length: shopsCount }, (_, nth) => from + nth)
      await tx.insert(products).values(
        some.map((nth) => ({
          ...productRow,
          id: numbered('prod', nth),
          handle: `thing-${nth}`,
          shopId: numbered('shop', nth % shopsCount),
        })),
      )
    })
  return { productId: product.id }
}

/**
 * Inserts the folded figures of the movements. Dashboards read no facts (a test ensures this), so there are none.
 * Orders are spread over a year, and the product in rank k sells a k-th of the best.
 */
async function seedFigures({ deps }: Instance, transactions: number): Promise<void> {
  const orders = Math.ceil(transactions / movementsOfOrder)
  const first = Math.floor(deps.clock.now() / dayMs) - days + 1
  const isSqlite = engine === 'sqlite'
  const id = (what: string, nth: string) => (isSqlite ? `printf('${what}_%026d', ${nth})` : `'${what}_' || lpad((${nth})::text, 26, '0')`)
  const productIndex = `cast(floor(power(${productsCount}, ((n * 7919) % 100003) / 100003.0)) as integer) - 1`
  const processor = `case n % ${processorNames.length} ${processorNames.map((name, nth) => `when ${nth} then '${name}'`).join(' ')} end`
  const numbers = isSqlite
    ? `(with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n + 1 < ${orders}) select n from numbers)`
    : `generate_series(0::bigint, ${orders - 1}::bigint)`
  // Exceeds the server's time limit for our statements.
  const run = async (text: string): Promise<unknown> =>
    isSqlite ? deps.db.write((tx) => tx.rows(sql.raw(text))) : administer(deps.config.databaseUrl, text)
  await run(
    `create table bench_sales as
    select ${first} + (n * ${days}) / ${orders} as day, ${processor} as processor, ${productIndex} as product_index, 1 + n % 3 as units,
      1000 + (n * 97) % 90000 as cents, n % ${partnersEvery} = 0 as brought, n % ${signUpsEvery} = 0 as is_new
    from ${numbers} as numbered(n)`.replace(isSqlite ? ' as numbered(n)' : '', ''),
  )
  const shop = id('shop', `product_index % ${shopsCount}`)
  for (const [kpi, key, value, which] of [
    ['ORDERS', 'processor', 'count(*)', 'true'],
    ['GMV', 'processor', 'sum(cents - 100)', 'true'],
    ['GMV', "'gift_card'", 'sum(100)', 'true'],
    ['REFUNDS', 'processor', 'sum((cents - 100) / 10)', 'true'],
    ['REFUNDS', "'gift_card'", 'sum(10)', 'true'],
    ['USERS', "'CUSTOMER'", 'count(*)', 'is_new'],
    ['MERCHANT_CENTS', shop, 'sum(cents)', 'brought'],
    ['MERCHANT_ORDERS', shop, 'count(*)', 'brought'],
    ['PRODUCT_UNITS', id('prod', 'product_index'), 'sum(units)', 'brought'],
    ['PRODUCT_CENTS', id('prod', 'product_index'), 'sum(cents)', 'brought'],
  ] as const)
    await run(`insert into kpi_days select '${kpi}', 1, day, ${key}, ${value} from bench_sales where ${which} group by 3, 4`)
  for (const span of [8, 64])
    await run(
      `insert into kpi_days select kpi, ${span}, (day / ${span}) * ${span}, key, sum(value) from kpi_days where span = 1 group by 1, 3, 4`,
    )
  await run('drop table bench_sales')
  await run(isSqlite ? 'analyze' : 'vacuum analyze')
}

async function open(source: Source) {
  const instance = await openMeasured(source)
  const { deps } = instance
  const operator = await createSuperAdmin(deps, { email: 'root@example.com', password })
  const { productId } = await seedNetwork(instance)
  await seedFigures(instance, source.size)
  const { data } = await startSession(deps, { id: operator.id, role: 'SUPER_ADMIN' }, system)
  const headers = { authorization: `Bearer ${data.accessToken}` }
  const today = dayOf(deps.clock.now())
  const window = `?startDate=${addDays(today, 1 - days)}&endDate=${today}`
  /** Returns the time of a dashboard over a year, in milliseconds. */
  const dashboard = async (name: string) => (await ask(instance, `/admin/${name}${window}`, headers)).ms
  return {
    instance,
    dashboard,
    /** Returns product reads a second by 16 readers, with or without viewed dashboards. */
    async productReads(seconds: number, viewsDashboards: boolean): Promise<number> {
      const end = performance.now() + seconds * 1_000
      let count = 0
      const reader = async () => {
        for (; performance.now() < end; count++) {
          await ask(instance, `/product-v2/public/${productId}`, headers)
          if (count % 64 === 0) await new Promise((resume) => setImmediate(resume))
        }
      }
      const operator = async () => {
        for (let nth = 0; viewsDashboards && performance.now() < end; nth++) {
          await dashboard(dashboards[nth % dashboards.length] ?? '')
          await Bun.sleep(viewEveryMs)
        }
      }
      await Promise.all([operator(), ...Array.from({ length: 16 }, reader)])
      return count / seconds
    },
  }
}

const { instances, rounds, seconds }: { instances: readonly Source[]; rounds: number; seconds: number } = await Bun.stdin.json()
const networks = []
for (const source of instances) networks.push(await open(source))
const views = networks.map(({ dashboard }) => dashboard)
const times = await fastestTimes(dashboards, views, { rounds, repetitions: 5 })
const [withoutDashboards, withDashboards]: [number[], number[]] = [[], []]
const large = networks.at(-1)
for (let round = 0; round < rounds; round++) {
  withoutDashboards.push((await large?.productReads(seconds, false)) ?? 0)
  withDashboards.push((await large?.productReads(seconds, true)) ?? 0)
}
const measurement: KpiMeasurement = { times, withoutDashboards, withDashboards }
await finish(
  measurement,
  networks.map(({ instance }) => instance),
)
