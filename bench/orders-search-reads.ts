/**
 * Lists of orders in process, through the edge: few orders against very many, in turn.
 * Reads its input from standard input and writes the fastest response to each query, because other load only slows
 * responses.
 */
import { sql } from 'drizzle-orm'
import { engine } from '../db/columns.ts'
import { orderLines, orderNumbers, orders } from '../db/schema/selling.ts'
import { parseConfig } from '../src/config.ts'
import { system } from '../src/core/command-context.ts'
import { type Instance, openInstance } from '../src/instance.ts'
import { dayMs, dayOf } from '../src/lib/day.ts'
import { createMerchant } from '../src/modules/identity/merchant/service.ts'
import { backfillKpis } from '../src/modules/operations/kpi/index.ts'
import type { Order } from '../src/modules/selling/order/domain.ts'
import { searchWordsOf } from '../src/modules/selling/order/listing.ts'
import { findingStore } from '../src/modules/selling/order/search/search-store.ts'
import { contextOf, readPrivateKey } from '../src/modules/shop/shop/service.ts'
import { administer } from './buying-postgres.ts'
import { benchSettings } from './seed.ts'

export type OrdersSource = { readonly dataDir: string; readonly databaseUrl?: string; readonly orders: number }
export type SearchInput = { readonly instances: readonly OrdersSource[]; readonly rounds: number }
/**
 * By query, a time per instance in milliseconds. Also the time in which each instance counted the figures of existing
 * orders, as the first start after an upgrade does.
 */
export type SearchMeasurement = { readonly times: Record<string, number[]>; readonly countedMs: readonly number[] }

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
  const { db, newId, clock } = deps
  const now = clock.now()
  await db.write(async (tx) => void (await tx.insert(orderNumbers).values({ shopId, last: count })))
  for (let first = 1; first <= count; first += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - first + 1) }, (_, nth) =>
      orderOf(newId('order'), shopId, first + nth, count, now),
    )
    await db.write(async (tx) => {
      for (let at = 0; at < some.length; at += 100) {
        await tx.insert(orders).values(some.slice(at, at + 100).map(({ order }) => order))
        await tx.insert(orderLines).values(some.slice(at, at + 100).map(({ line }) => line))
      }
      for (const { order, line } of some) await findingStore.add(tx, order, searchWordsOf(order, [line], []))
    })
    if (process.stderr.isTTY) process.stderr.write(`\r  seeding order ${first} of ${count}`)
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  if (engine === 'sqlite') await db.write((tx) => tx.rows(sql.raw('analyze')))
  else await administer(deps.config.databaseUrl, 'vacuum analyze')
}

function orderOf(id: string, shopId: string, number: number, count: number, now: number) {
  const at = now - Math.floor(((count - number) / count) * days * dayMs)
  const status = statuses[(number * 37) % 100] ?? 'CONFIRMED'
  const untaxed = { taxTotal: 0, taxIncluded: 0, shippingTax: 0, shippingTaxHundredths: 0, shippingTaxInclusive: false }
  const nothing = { subtotal: 1_000, discountTotal: 0, discounts: [], shippingTotal: 0, ...untaxed, giftCardTotal: 0 }
  const name = `${givenNames[number % givenNames.length]} Family${number}`
  const address = {
    name,
    company: null,
    line1: '1 Quay Street',
    line2: null,
    city: 'Portland',
    province: 'ME',
    postalCode: '04101',
    countryCode: 'US',
    phone: null,
  }
  const order: Order = {
    ...nothing,
    ...{ id, shopId, number, cartId: `cart_${number}`, customerId: null, email: `buyer${number}@example.com`, currency: 'USD' },
    ...{ total: 1_000, amountDue: 1_000, capturedTotal: 1_000, refundedTotal: 0, giftCardRefundedTotal: 0, mode: 'TEST', fxToUsd: '1' },
    ...{ status, paymentStatus: paidAs[status] ?? 'CAPTURED', fulfilmentStatus: 'UNFULFILLED' },
    ...{ shippingAddress: address, billingAddress: null, shippingMethod: null, affiliateCode: null, affiliateAt: null, affiliateId: null },
    ...{ trackingNumber: null, carrier: null, expiresAt: at, resumeAt: null, attempts: 0, holds: 'COMMITTED', processor: 'sandbox' },
    ...{ placedFrom: null, attemptKey: null, createdAt: at, updatedAt: at, confirmedAt: at, fulfilledAt: null, tags: [], version: 1 },
    fromAbandonedCart: false,
    agent: null,
    giftCardRecipient: null,
  }
  const line = {
    ...{
      orderId: id,
      position: 0,
      id: `line_${number}`,
      productId: 'prod_1',
      variantId: 'var_1',
      variantTitle: 'Large',
      sku: `SK-${number % 97}`,
    },
    title: things[number % things.length] ?? '',
    ...{
      quantity: 1,
      unitPrice: 1_000,
      total: 1_000,
      discount: 0,
      taxRateWholeBps: 0,
      taxRateHundredths: 0,
      taxInclusive: false,
      taxAmount: 0,
      tracked: false,
    },
  }
  return { order, line }
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

async function open({ dataDir, databaseUrl, orders: count }: OrdersSource) {
  const settings = { ...benchSettings(dataDir), PORT: '0' }
  const config = parseConfig({ ...settings, ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}) })
  const instance = await openInstance({ config, as: 'server' })
  const { deps, edge } = instance
  const login = { email: 'bench@example.com', password: 'bench-password' }
  const { shop } = await createMerchant(deps, login, { name: 'bench', currency: 'USD', country: 'US' }, system)
  const key = await readPrivateKey(deps, { shop: contextOf(shop), actor: system })
  await seedOrders(instance, shop.id, count)
  const countedMs = await countPast(deps)
  const headers = { host: 'localhost', 'x-service-api-key': key }
  const queries = queriesOf(count, deps.clock.now())
  return {
    instance,
    countedMs,
    /** Returns the time of a response in milliseconds. */
    async ask(name: string): Promise<number> {
      const startedAt = performance.now()
      const path = name === home ? '/shops/v2/overview' : '/v2/orders'
      const request = new Request(`http://localhost${path}?${queries[name]}`, { headers })
      const answer = await edge.fetch(request, { requestIP: () => ({ address: '127.0.0.1' }) })
      const body = await answer.text()
      const took = performance.now() - startedAt
      if (answer.status !== 200) throw new Error(`${name} answered ${answer.status} ${body}`)
      const { data, orders } = JSON.parse(body)
      if ((data?.length ?? orders.confirmed) === 0) throw new Error(`${name} found nothing`)
      return took
    },
  }
}

const { instances, rounds }: SearchInput = await Bun.stdin.json()
const measuredInstances = []
for (const one of instances) measuredInstances.push(await open(one))
const times: Record<string, number[][]> = {}
for (let round = 0; round < rounds; round++)
  for (const name of Object.keys(queriesOf(1, 0)))
    for (const [nth, { ask }] of measuredInstances.entries()) {
      // The first run fills caches.
      await ask(name)
      times[name] ??= instances.map(() => [])
      for (let time = 0; time < 3; time++) times[name][nth]?.push(await ask(name))
    }
const measured: SearchMeasurement = {
  times: Object.fromEntries(Object.entries(times).map(([name, all]) => [name, all.map((of) => Math.min(...of))])),
  countedMs: measuredInstances.map(({ countedMs }) => countedMs),
}
process.stdout.write(JSON.stringify(measured))
for (const { instance } of measuredInstances) await instance.close()
process.exit(0)
