/** Measures changes of carts in a shop with twenty active discounts against none. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from '../src/config.ts'
import { system } from '../src/core/command-context.ts'
import { openInstance } from '../src/instance.ts'
import { createCollection, setCollectionProducts } from '../src/modules/catalog/products/index.ts'
import { createDiscount } from '../src/modules/selling/discount/index.ts'
import { readShop } from '../src/modules/shop/shop/index.ts'
import { callerOf } from './http.ts'
import { measureInTurn, print, quick, report, start, work } from './runs.ts'
import { benchSettings, disableStockTracking, type Seeded, seed } from './seed.ts'

const products = 1_000
const carts = quick ? 500 : 2_000
const linesOfCart = 3
const active = 20

/**
 * Adds twenty automatic discounts: on everything, on products, on collections, with a minimum, with limits, and free
 * shipping.
 */
async function addDiscounts({ dataDir, shopId, ids }: Seeded): Promise<void> {
  const { deps, close } = await openInstance({ config: parseConfig(benchSettings(dataDir)), as: 'command' })
  const context = { shop: await readShop(deps, shopId), actor: system }
  const usd = (amount: number) => ({ amount, currency: 'USD' })
  const collection = await createCollection(deps, context, { title: 'On sale' })
  await setCollectionProducts(deps, context, collection.id, ids.slice(0, 500))
  for (let nth = 0; nth < active; nth++) {
    const title = `Sale ${nth}`
    const percent = { title, kind: 'PERCENT', valueBps: 100 + 50 * nth } as const
    if (nth % 5 === 0) await createDiscount(deps, context, percent)
    if (nth % 5 === 1) await createDiscount(deps, context, { ...percent, productIds: ids.slice(nth, nth + 100) })
    if (nth % 5 === 2) await createDiscount(deps, context, { ...percent, collectionIds: [collection.id] })
    if (nth % 5 === 3) await createDiscount(deps, context, { title, kind: 'FIXED', amount: usd(500), minSubtotal: usd(10_000 * nth) })
    if (nth % 5 === 4) await createDiscount(deps, context, { title, kind: 'FREE_SHIPPING', usageLimit: 1_000_000 })
  }
  await close()
}

/** Creates carts with products. Returns the paths that add more. */
async function createCarts(url: string, { secretKey }: Seeded, variantIds: readonly string[]): Promise<string[]> {
  const call = callerOf(url, secretKey)
  const paths: string[] = []
  for (let nth = 0; nth < carts; nth++) {
    const { id } = await call('POST', '/cart', { email: `shopper${nth}@example.com` })
    for (let line = 0; line < linesOfCart; line++)
      await call('POST', `/cart/${id}/items`, { variantId: variantIds[line % variantIds.length], quantity: 1 })
    paths.push(`/cart/${id}/items`)
  }
  return paths
}

async function variantsAt(url: string, { secretKey, ids }: Seeded): Promise<string[]> {
  const call = callerOf(url, secretKey)
  return Promise.all(ids.slice(0, linesOfCart).map(async (id) => (await call('GET', `/product-v2/${id}`)).variants[0].id as string))
}

export async function measureDiscounts(): Promise<void> {
  print(`cart changes with ${active} active discounts and without`)
  const withoutDiscounts = await seed(join(work, 'discounts-none'), products)
  // Every change adds a unit to a cart's line.
  disableStockTracking(withoutDiscounts)
  const dataDir = join(work, 'discounts-some')
  cpSync(withoutDiscounts.dataDir, dataDir, { recursive: true })
  const withDiscounts = { ...withoutDiscounts, dataDir }
  await addDiscounts(withDiscounts)
  const [souk, floor] = [await start('souk.ts', withDiscounts.dataDir), await start('souk.ts', withoutDiscounts.dataDir)]
  const variantIds = await variantsAt(floor.url, withoutDiscounts)
  const headers = { 'content-type': 'application/json', 'x-service-api-key': withoutDiscounts.secretKey }
  const changes = async (url: string) => ({
    method: 'POST' as const,
    paths: await createCarts(url, withoutDiscounts, variantIds),
    headers,
    body: JSON.stringify({ variantId: variantIds[0], quantity: 1 }),
  })
  const requests = { souk: await changes(souk.url), floor: await changes(floor.url) }
  report(
    `cart changes, ${linesOfCart} lines, ${active} active discounts (floor: souk without), SQLite`,
    '≥ 0.8',
    await measureInTurn(souk, floor, requests),
  )
  await souk.stop()
  await floor.stop()
}
