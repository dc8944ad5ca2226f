/**
 * Measures selling: orders by id against the floor, a customer's order ids, and cart to CONFIRMED, with few and many
 * orders.
 */
import { join } from 'node:path'
import { measureBuying } from './buyers.ts'
import { type Load, load } from './load.ts'
import {
  figure,
  latencyText,
  measureInTurn,
  median,
  print,
  quick,
  readLoad,
  report,
  reportMemory,
  reportRatios,
  reportSingle,
  rounds,
  start,
  work,
} from './runs.ts'
import { type Seeded, seed } from './seed.ts'
import { floorFile, type SeededOrders, seedOrders } from './seed-orders.ts'

const fewOrders = quick ? 5_000 : 100_000
const manyOrders = quick ? 20_000 : 1_000_000
const products = 1_000
/** Orders that are read repeatedly at random. */
const hotOrders = quick ? 5_000 : 10_000
const callers = 64

type Parts = { orders: boolean; buying: boolean }
type Shop = Seeded & { orders: SeededOrders }
/** The compared rates; requests a second. */
type Rates = { byId?: number; orderIds?: number; purchases?: number }

/** Measures all parts, or the chosen ones. */
export async function measureSelling(parts: Parts): Promise<void> {
  const few = await measureAt(parts, fewOrders)
  const many = await measureAt(parts, manyOrders)
  const compare = (what: string, of: keyof Rates) => {
    const [before, after] = [few[of], many[of]]
    if (before && after)
      reportSingle(`${what}, ${figure(manyOrders)} to ${figure(fewOrders)} orders`, (after / before).toFixed(2), '≥ 0.67')
  }
  compare('order by id', 'byId')
  compare('order ids of the busiest customer', 'orderIds')
  compare('cart to CONFIRMED', 'purchases')
}

async function measureAt({ orders, buying }: Parts, count: number): Promise<Rates> {
  print(`selling at ${figure(count)} orders (seeding takes a while)`)
  const seeded = await seed(join(work, `orders-${count}`), products)
  const shop = { ...seeded, orders: seedOrders(seeded, count) }
  const label = `${figure(count)} orders`
  return { ...(orders ? await measureReads(shop, label) : {}), ...(buying ? await measureBuyingAt(shop, label) : {}) }
}

async function measureReads(shop: Shop, label: string): Promise<Rates> {
  const floor = await start('floor.ts', join(shop.dataDir, 'souk.db'), shop.shopId, floorFile(shop.dataDir))
  const souk = await start('souk.ts', shop.dataDir)
  const headers = { 'x-service-api-key': shop.secretKey }
  const { ids } = shop.orders
  // Spread evenly over all orders.
  const hotIds = ids.filter((_, at) => (at * hotOrders) % ids.length < hotOrders)
  const compareWithFloor = async (what: string, target: string, of: readonly string[], floorPath: string) => {
    const [paths, floorPaths] = ['/v2/orders', floorPath].map((path) => of.map((id) => `${path}/${id}`)) as [string[], string[]]
    await Promise.all([readEach(souk.url, paths, headers), readEach(floor.url, floorPaths, headers)])
    return report(what, target, await measureInTurn(souk, floor, { souk: { paths, headers }, floor: { paths: floorPaths, headers } }))
  }
  const what = `order by id with a key, ${figure(hotIds.length)} at random`
  const byId = await compareWithFloor(`${what}, ${label}`, '≥ 0.80', hotIds, '/v2/orders')
  await compareWithFloor(`${what}, floor puts it together, ${label}`, '≥ 0.80', hotIds, '/assembled')
  // More orders than souk caches.
  await compareWithFloor(`order by id with a key, ${figure(ids.length)} at random, ${label}`, '', ids, '/v2/orders')
  reportMemory(label, '', souk, floor)
  await floor.stop()
  const orderIds = await measureOrderIds(souk.url, shop, label)
  await souk.stop()
  return { byId, orderIds }
}

/** Reads each once, so that repeated reads are measured instead of filling caches. */
async function readEach(url: string, paths: readonly string[], headers: Record<string, string>): Promise<void> {
  const waiting = [...paths]
  const reader = async () => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) await (await fetch(url + path, { headers })).arrayBuffer()
  }
  await Promise.all(Array.from({ length: readLoad.connections }, reader))
}

/** Measures the first page of order ids for a customer with very many orders and one with ten, in turn. */
async function measureOrderIds(url: string, { secretKey, orders }: Shop, label: string): Promise<number> {
  const headers = { 'x-service-api-key': secretKey }
  const one = (customer: string) => load(url, { paths: [`/customer/${customer}/order-ids`], headers }, { ...readLoad, connections: 1 })
  const busy: Load[] = []
  const quiet: Load[] = []
  for (let round = 0; round < rounds; round++) {
    quiet.push(await one(orders.quietCustomer))
    busy.push(await one(orders.busyCustomer))
  }
  const ratios = busy.map(({ p50Ms }, at) => p50Ms / (quiet[at]?.p50Ms ?? 1))
  const what = `order ids, first page, of the busiest customer and of one with ten, ${label}`
  reportRatios({ what, souk: latencyText(busy), floor: `of ten: ${latencyText(quiet)}`, target: '≤ 3' }, ratios)
  return median(busy.map(({ perSecond }) => perSecond))
}

/** Measures cart to CONFIRMED against the floor, also without the processor, without disk waits, and without both. */
async function measureBuyingAt({ dataDir, shopId, orders: { publishableKey, variantIds } }: Shop, label: string): Promise<Rates> {
  const input = { dataDir, shops: [{ shopId, publishableKey, variantIds }], callers, seconds: quick ? 4 : 10 }
  const what = `cart to CONFIRMED, ${callers} callers, durable, SQLite, ${label}`
  return { purchases: await measureBuying(what, '≥ 0.5', input, true) }
}
