/** Times lists of orders and a shop's home; see compare-sizes.ts. */
import { sql } from 'drizzle-orm'
import { engine } from '../db/columns.ts'
import { orderLines, orderNumbers, orders } from '../db/schema/selling.ts'
import { system } from '../src/core/command-context.ts'
import type { Instance } from '../src/instance.ts'
import { dayMs, dayOf } from '../src/lib/day.ts'
import { createMerchant } from '../src/modules/identity/merchant/service.ts'
import { backfillKpis } from '../src/modules/operations/kpi/index.ts'
import type { Order } from '../src/modules/selling/order/domain.ts'
import { searchWordsOf } from '../src/modules/selling/order/listing.ts'
import { orderIndexStore } from '../src/modules/selling/order/search/search-index-store.ts'
import type { FullOrder } from '../src/modules/selling/order/view.ts'
import { contextOf, readPrivateKey } from '../src/modules/shop/shop/service.ts'
import { administer } from './databases.ts'
import { ask, fastestTimes, finish, openMeasured, type Source, type Times } from './measured-instance.ts'
import { confirmedOrder } from './seed-orders.ts'

/** `countedMs`: how long each instance counted the figures of existing orders, as after an upgrade. */
export type SearchMeasurement = { readonly times: Times; readonly countedMs: readonly number[] }

const days = 300
const atOnce = 500
const givenNames = ['Noor', 'Ali', 'Sara', 'Bat', 'Temuulen', 'James', 'Mary', 'John', 'Linda', 'Omar']
const things = ['linen shirt', 'blue wool scarf', 'oak chair', 'glass vase', 'clay mug', 'brass lamp']
/** The statuses of a hundred orders. */
const statuses = ['PENDING_PAYMENT', 'CANCELLED', 'CANCELLED', ...Array.from({ length: 97 }, () => 'CONFIRMED')] as Order['status'][]
const paidAs = { PENDING_PAYMENT: 'PENDING', CANCELLED: 'REFUNDED' } as Record<Order['status'], Order['paymentStatus']>

const home = "a shop's home, a year"

/** The queries of a shop by its number of orders, all on the list except home. */
const queriesOf = (count: number, now: number): Record<string, string> => {
  const [from, to] = [now - 200 * dayMs, now - 170 * dayMs].map(dayOf)
  return {
    [home]: `startDate=${dayOf(now - 364 * dayMs)}&endDate=${dayOf(now)}`,
    'orders, first page': '',
    'orders, last page': `page=${Math.ceil(count / 20)}`,
    'one order, by number': `number=${Math.floor(count / 2)}`,
    'one order, by q with its number': `q=${Math.floor(count / 2)}`,
    'one order, by q with a name': `q=family${Math.floor(count / 2)}`,
    'one order, by its address': `email=buyer${Math.floor(count / 2)}@example.com`,
    'one order, by q with the start of an address': `q=buyer${Math.floor(count / 2)}@exa`,
    'orders, by q with a word of one order in ten': 'q=noor',
    'orders, by q with one letter': 'q=n',
    'orders, by q that all hold': 'q=example',
    'orders, by q with two words and a prefix': 'q=noor+linen+shi',
    'orders, by q, last page': 'q=noor&page=45',
    'orders, by q with a common word and a rare status': 'q=noor&status=PENDING_PAYMENT',
    'orders, by q with a common word and a common status': 'q=noor&status=CONFIRMED',
    'orders, by status': 'status=CANCELLED',
    'orders, by payment status': 'paymentStatus=REFUNDED',
    'orders, by status and month, half a year ago': `status=CONFIRMED&from=${from}&to=${to}`,
    'orders, by rare status and month, half a year ago': `status=CANCELLED&from=${from}&to=${to}`,
    'orders, by month, last page': `from=${from}&to=${to}&page=45`,
  }
}

async function seedOrders({ deps }: Instance, shopId: string, count: number): Promise<void> {
  const { db, clock } = deps
  const since = clock.now() - days * dayMs
  await db.write(async (tx) => void (await tx.insert(orderNumbers).values({ shopId, last: count })))
  for (let first = 0; first < count; first += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - first) }, (_, nth) =>
      searchedOrder(shopId, first + nth, since + Math.floor(((first + nth) / count) * days * dayMs)),
    )
    await db.write(async (tx) => {
      for (let at = 0; at < some.length; at += 100) {
        await tx.insert(orders).values(some.slice(at, at + 100).map(({ order }) => order))
        await tx.insert(orderLines).values(some.slice(at, at + 100).flatMap(({ lines }) => lines))
      }
      for (const { order, lines } of some) await orderIndexStore.add(tx, order, searchWordsOf(order, lines, []))
    })
    if (process.stderr.isTTY) process.stderr.write(`\r  seeding order ${first} of ${count}`)
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  if (engine === 'sqlite') await db.write((tx) => tx.rows(sql.raw('analyze')))
  else await administer(deps.config.databaseUrl, 'vacuum analyze')
}

/** An order by another person with another address each, of one of the things. */
function searchedOrder(shopId: string, nth: number, at: number): Pick<FullOrder, 'order' | 'lines'> {
  const variant = { id: 'var_1', productId: 'prod_1', variantTitle: 'Large', sku: `SK-${nth % 97}`, price: 1_000 }
  const { order, lines } = confirmedOrder(shopId, null, nth, at, [{ ...variant, title: things[nth % things.length] ?? '' }])
  const status = statuses[(nth * 37) % 100] ?? 'CONFIRMED'
  return {
    order: {
      ...{ ...order, status, paymentStatus: paidAs[status] ?? order.paymentStatus, email: `buyer${order.number}@example.com` },
      shippingAddress: order.shippingAddress && {
        ...order.shippingAddress,
        name: `${givenNames[nth % givenNames.length]} Family${order.number}`,
      },
    },
    lines: lines.slice(0, 1),
  }
}

/**
 * Counts the figures of seeded rows.
 * @returns the duration in milliseconds
 */
async function countPast(deps: Instance['deps']): Promise<number> {
  await deps.db.write((tx) => tx.rows(sql`delete from kpi_state`))
  const startedAt = performance.now()
  await backfillKpis(deps)
  return performance.now() - startedAt
}

async function open(source: Source) {
  const instance = await openMeasured(source)
  const { deps } = instance
  const login = { email: 'bench@example.com', password: 'bench-password' }
  const { shop } = await createMerchant(deps, login, { name: 'bench', currency: 'USD', country: 'US' }, system)
  const headers = { 'x-service-api-key': await readPrivateKey(deps, { shop: contextOf(shop), actor: system }) }
  await seedOrders(instance, shop.id, source.size)
  const countedMs = await countPast(deps)
  const queries = queriesOf(source.size, deps.clock.now())
  return {
    instance,
    countedMs,
    /** Returns the time of a response in milliseconds. */
    async query(name: string): Promise<number> {
      const { ms, body } = await ask(instance, `${name === home ? '/shops/v2/overview' : '/v2/orders'}?${queries[name]}`, headers)
      const { data, orders } = JSON.parse(body)
      if ((data?.length ?? orders.confirmed) === 0) throw new Error(`${name} found nothing`)
      return ms
    },
  }
}

const { instances, rounds }: { instances: readonly Source[]; rounds: number } = await Bun.stdin.json()
const shops: Awaited<ReturnType<typeof open>>[] = []
for (const source of instances) shops.push(await open(source))
const queries = shops.map(({ query }) => query)
const times = await fastestTimes(Object.keys(queriesOf(1, 0)), queries, { rounds, repetitions: 3 })
const measurement: SearchMeasurement = { times, countedMs: shops.map(({ countedMs }) => countedMs) }
await finish(
  measurement,
  shops.map(({ instance }) => instance),
)
