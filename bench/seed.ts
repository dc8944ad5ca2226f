/** Fills a database with a shop of any size by domain functions and prepared statements. */
import { type SQLQueryBindings, Database as Sqlite } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Column, getTableColumns, getTableName } from 'drizzle-orm'
import {
  productDocuments as documentsTable,
  products as productsTable,
  productSummaries as summariesTable,
  productTags as tagsTable,
  variants as variantsTable,
} from '../db/schema/catalog.ts'
import { productTerms } from '../db/sqlite/search.ts'
import { parseConfig } from '../src/config.ts'
import { system } from '../src/core/command-context.ts'
import { openInstance } from '../src/instance.ts'
import { buildProduct, searchWords, sortKeys } from '../src/modules/catalog/products/domain.ts'
import { productRowOf } from '../src/modules/catalog/products/listing.ts'
import { renderProduct } from '../src/modules/catalog/products/summary.ts'
import { createMerchant } from '../src/modules/identity/merchant/service.ts'
import { contextOf, readPrivateKey } from '../src/modules/shop/shop/service.ts'

/** A product that never sells out. */
export const unlimitedProduct = {
  title: 'Unlimited stock',
  status: 'ACTIVE',
  variants: [{ price: { amount: 100, currency: 'USD' }, trackInventory: false }],
}

export type Seeded = {
  dataDir: string
  shopName: string
  shopId: string
  secretKey: string
  publishableKey: string
  email: string
  password: string
  ids: string[]
}

export const benchSettings = (dataDir: string): Record<string, string> => ({
  DATA_DIR: dataDir,
  LOG_LEVEL: 'error',
  JWT_SECRET: 'bench-only-jwt-secret-0123456789abcdef',
  ENCRYPTION_KEY: 'bench-only-encryption-key-0123456789ab',
  INTEGRATION_API_KEY: 'bench-only-integration-key',
  // All shoppers of a bench share one address.
  STOREFRONT_WRITES_PER_MINUTE: '1000000000',
  UNPAID_ORDERS_PER_ADDRESS: '1000000',
})

const batch = 5_000
const bucketDocuments = 1_024
const sampleSize = 10_000
const colours = ['red', 'blue', 'green', 'black', 'white', 'amber', 'ivory', 'teal', 'olive', 'navy']
const things = 'shirt lamp chair ring scarf mug rug clock kettle jumper bracelet vase stool basket blanket'.split(' ')
const fabrics = ['linen', 'cotton', 'wool', 'oak', 'brass', 'silk', 'steel', 'clay', 'glass', 'leather']

const pickFrom = <T>(words: readonly T[], nth: number): T => words[nth % words.length] as T

/** Recreates `dataDir` with one shop of `count` products, published one second apart. */
export async function seed(dataDir: string, count: number): Promise<Seeded> {
  rmSync(dataDir, { recursive: true, force: true })
  const instance = await openInstance({ config: parseConfig(benchSettings(dataDir)), as: 'server' })
  const email = 'bench@example.com'
  const password = 'bench-password'
  const { shop } = await createMerchant(instance.deps, { email, password }, { name: 'bench', currency: 'USD', country: 'US' })
  const secretKey = await readPrivateKey(instance.deps, { shop: contextOf(shop), actor: system })
  const publishable = await instance.deps.shopStore.currentKey(shop.id, 'PUBLISHABLE', 'TEST')
  const { newId } = instance.deps
  await instance.close()

  const db = new Sqlite(join(dataDir, 'souk.db'), { strict: true })
  for (const pragma of ['synchronous = OFF', 'cache_size = -200000', 'wal_autocheckpoint = 20000']) db.run(`PRAGMA ${pragma}`)
  const insert = statements(db)
  const step = Math.max(1, Math.floor(count / sampleSize))
  const ids: string[] = []
  const start = Date.now() - (count + 60) * 1_000
  const keys: Record<'newest' | 'title' | 'price', string[]> = { newest: [], title: [], price: [] }
  for (let nth = 0; nth < count; nth++) {
    if (nth % batch === 0) db.run('BEGIN')
    const now = start + nth * 1_000
    const title = `${pickFrom(colours, nth * 7)} ${pickFrom(fabrics, nth * 3)} ${pickFrom(things, nth)} ${nth}`
    const builtProduct = buildProduct(
      {
        title,
        handle: `product-${nth}`,
        status: 'ACTIVE',
        publishedAt: now,
        vendor: pickFrom(['Harbour', 'Meridian', 'Keystone', 'Caravan'], nth),
        tags: [pickFrom(colours, nth * 7), pickFrom(fabrics, nth * 3)],
        descriptionHtml: `<p>A ${title}, made to last by people who care for what they make. Word${nth % 5_000} and word${(nth * 31) % 5_000}.</p>`,
        options: [{ name: 'Size', values: ['Small', 'Large'] }],
        variants: ['Small', 'Large'].map((size, at) => ({
          optionValues: [size],
          price: { amount: 1_000 + ((nth * 97) % 90_000) + at * 500, currency: 'USD' },
          sku: `SKU-${nth}-${at}`,
          onHand: 5,
        })),
        images: [{ url: `https://images.example.com/${nth}.jpg`, alt: title }],
      },
      shop.id,
      {
        productId: newId('product'),
        variantIds: [newId('variant'), newId('variant')],
        imageIds: [newId('image')],
        currency: shop.currency,
        now,
      },
    )
    const sorted = sortKeys(builtProduct)
    insert(builtProduct)
    keys.newest.push(sorted.newestKey)
    keys.title.push(sorted.titleKey)
    keys.price.push(sorted.priceKey)
    if (nth % step === 0 && ids.length < sampleSize) ids.push(builtProduct.product.id)
    if (nth % batch === batch - 1 || nth === count - 1) {
      db.run('COMMIT')
      if (process.stderr.isTTY) process.stderr.write(`\r  seeding ${nth + 1} of ${count}`)
    }
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  insertAnchors(db, shop.id, keys)
  db.run('ANALYZE')
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  const publishableKey = publishable?.publicValue ?? ''
  return { dataDir, shopName: 'bench', shopId: shop.id, secretKey, publishableKey, email, password, ids }
}

/** Lets carts hold any number of units. */
export function disableStockTracking({ dataDir }: Pick<Seeded, 'dataDir'>): void {
  const db = new Sqlite(join(dataDir, 'souk.db'), { strict: true })
  db.run('update variants set track_inventory = 0')
  db.close()
}

type Table = Parameters<typeof getTableColumns>[0]

/** Inserts rows without the query builder, which would take ten times as long. */
export function inserter<Of extends Table>(db: Sqlite, of: Of): (row: Of['$inferSelect']) => void {
  const columns: [string, Column][] = Object.entries(getTableColumns(of))
  const names = columns.map(([, { name }]) => `"${name}"`).join(', ')
  const statement = db.prepare(`INSERT INTO ${getTableName(of)} (${names}) VALUES (${columns.map(() => '?').join(', ')})`)
  const readers = columns.map(([field, column]) => (row: Record<string, unknown>): SQLQueryBindings => {
    const value = row[field] ?? null
    return (value === null ? null : column.mapToDriverValue(value)) as SQLQueryBindings
  })
  return (row) => void statement.run(...readers.map((read) => read(row)))
}

type BuiltProduct = ReturnType<typeof buildProduct>

function statements(db: Sqlite): (builtProduct: BuiltProduct) => void {
  const product = inserter(db, productsTable)
  const variant = inserter(db, variantsTable)
  const document = inserter(db, documentsTable)
  const summary = inserter(db, summariesTable)
  const insertTag = inserter(db, tagsTable)
  const rank = db.prepare('INSERT INTO product_ranks VALUES (? * 1048576, ?)')
  const words = db.prepare('INSERT INTO product_words (rowid, words) VALUES (? * 1048576, ?)')
  return (builtProduct) => {
    const { product: p, variants } = builtProduct
    product(productRowOf(builtProduct))
    for (const one of variants) variant(one)
    const rendered = renderProduct(builtProduct)
    document(rendered.document)
    summary({ productId: p.id, summary: rendered.summary })
    for (const tag of p.tags) insertTag({ ...rendered.document, tag })
    rank.run(p.publishedAt, p.id)
    const tags = p.tags.map((one) => one.toLowerCase())
    words.run(
      p.publishedAt,
      productTerms({ productId: p.id, shopId: p.shopId, visibleFrom: p.publishedAt ?? 0, words: searchWords(builtProduct), tags }),
    )
  }
}

/** Inserts the anchors of the list, as folds leave them. */
function insertAnchors(db: Sqlite, shopId: string, keys: Record<string, string[]>): void {
  const insert = db.prepare('INSERT INTO listing_anchors VALUES (?, ?, ?, ?)')
  db.run('BEGIN')
  for (const [sort, all] of Object.entries(keys)) {
    all.sort()
    for (let at = 0; at === 0 || at < all.length; at += bucketDocuments)
      insert.run(shopId, sort, at === 0 ? '' : (all[at] ?? ''), Math.min(bucketDocuments, all.length - at))
  }
  db.run('COMMIT')
}
