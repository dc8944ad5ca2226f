/** Tests how orders change stock and public availability. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { NothingChanged, type Writer } from '../../../../db/engine.ts'
import { variants } from '../../../../db/schema/catalog.ts'
import { AppError } from '../../../../src/core/errors.ts'
import {
  commitStock,
  findSellables,
  releaseStock,
  reserveKnownStock,
  reserveStock,
  restock,
  type StockLine,
} from '../../../../src/modules/catalog/stock/stock.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Shop = Awaited<ReturnType<typeof shopIn>>
const operations = { release: releaseStock, commit: commitStock, restock }
type Operation = keyof typeof operations

async function createVariant(shop: Shop, more: Json = {}, title = 'Lamp'): Promise<{ id: string; productId: string }> {
  const product = await shop.add({ title, variants: [{ price: usd(100), ...more }] })
  return { id: product.variants[0]?.id ?? '', productId: product.id }
}

function stockOf({ deps }: Pick<TestApp, 'deps'>) {
  const lines = (quantities: Record<string, number>): StockLine[] =>
    Object.entries(quantities).map(([variantId, quantity]) => ({ variantId, quantity }))
  return {
    reserve: (quantities: Record<string, number>, then: (tx: Writer) => Promise<void> = async () => {}) =>
      deps.db.write(async (tx) => {
        const counted = await reserveStock(tx, deps, lines(quantities))
        await then(tx)
        return [...counted]
      }),
    apply: (operation: Operation, quantities: Record<string, number>) =>
      deps.db.write((tx) => operations[operation](tx, deps, lines(quantities))),
    async readStock(id: string) {
      const [row] = await deps.db.read.select().from(variants).where(eq(variants.id, id))
      return row && [row.onHand, row.reserved]
    },
  }
}

/** Returns the kind and message of a refusal, or undefined if there is none. */
const refusalOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof AppError) return `${error.kind}: ${error.message}`
      throw error
    },
  )

describe('reserving stock', () => {
  test('reserves no more than is in stock, and says what is left', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, readStock } = stockOf(app)
    const { id } = await createVariant(shop, { onHand: 5 })
    expect(await reserve({ [id]: 3 })).toEqual([id])
    expect(await readStock(id)).toEqual([5, 3])
    expect(await refusalOf(reserve({ [id]: 3 }))).toBe('CONFLICT: Only 2 of Lamp are left')
    expect(await reserve({ [id]: 2 })).toEqual([id])
    expect(await refusalOf(reserve({ [id]: 1 }))).toBe('CONFLICT: Lamp is sold out')
    expect(await readStock(id)).toEqual([5, 5])
  })

  test('reserves all lines or none, and adds up lines of the same variant', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, readStock } = stockOf(app)
    const [many, few] = [await createVariant(shop, { onHand: 9 }), await createVariant(shop, { onHand: 1 })]
    expect(await refusalOf(reserve({ [many.id]: 1, [few.id]: 2 }))).toBe('CONFLICT: Only 1 of Lamp is left')
    expect([await readStock(many.id), await readStock(few.id)]).toEqual([
      [9, 0],
      [1, 0],
    ])
    const { db } = app.deps
    const twice = [1, 2].map((quantity) => ({ variantId: many.id, quantity }))
    await db.write((tx) => reserveStock(tx, app.deps, twice))
    expect(await readStock(many.id)).toEqual([9, 3])
  })

  test('reserveKnownStock reserves if units remain afterwards and tracking is unchanged, for all lines or none', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { readStock } = stockOf(app)
    const mug = await createVariant(shop, { onHand: 3 })
    const free = await createVariant(shop, { trackInventory: false, onHand: 0 })
    const backorderable = await createVariant(shop, { onHand: 1, allowBackorder: true })
    const line = ({ id }: { id: string }, quantity: number, isTracked = true) => ({ variantId: id, quantity, isTracked })
    const reserve = (...lines: ReturnType<typeof line>[]) =>
      app.deps.db
        .write((tx) => reserveKnownStock(tx, app.deps, lines))
        .then(
          (tracked) => [...tracked].sort(),
          (error: unknown) => error,
        )
    expect(await reserve(line(mug, 1), line(free, 7, false), line(backorderable, 4), line(mug, 1))).toEqual(
      [mug.id, backorderable.id].sort(),
    )
    const after = [
      [3, 2],
      [0, 0],
      [1, 4],
    ]
    expect([await readStock(mug.id), await readStock(free.id), await readStock(backorderable.id)]).toEqual(after)
    // The last unit, changed tracking, and a deleted variant.
    for (const refused of [
      line(mug, 1),
      line(mug, 1, false),
      line(free, 1),
      line({ id: 'var_gone' }, 1),
      line({ id: 'var_gone' }, 1, false),
    ])
      expect(await reserve(line(backorderable, 1), refused)).toBeInstanceOf(NothingChanged)
    expect([await readStock(mug.id), await readStock(free.id), await readStock(backorderable.id)]).toEqual(after)
  })

  test('does not reserve untracked stock, goes below zero with backorders, and refuses unknown variants', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, readStock } = stockOf(app)
    const free = await createVariant(shop, { trackInventory: false, onHand: 0 })
    const backorderable = await createVariant(shop, { onHand: 1, allowBackorder: true })
    expect(await reserve({ [free.id]: 7, [backorderable.id]: 4 })).toEqual([backorderable.id])
    expect([await readStock(free.id), await readStock(backorderable.id)]).toEqual([
      [0, 0],
      [1, 4],
    ])
    expect(await refusalOf(reserve({ var_gone: 1 }))).toBe('CONFLICT: A product of the order is no longer sold')
  })

  test('when many orders reserve the last unit at once, exactly one gets it', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, readStock } = stockOf(app)
    const { id } = await createVariant(shop, { onHand: 1 })
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => refusalOf(reserve({ [id]: 1 }))))
    expect(outcomes.filter((refusal) => refusal === undefined).length).toBe(1)
    expect(new Set(outcomes)).toEqual(new Set([undefined, 'CONFLICT: Lamp is sold out']))
    expect(await readStock(id)).toEqual([1, 1])
  })

  test('concurrent orders that reserve two variants in opposite order do not deadlock', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, readStock } = stockOf(app)
    const [a, b] = [await createVariant(shop, { onHand: 6 }), await createVariant(shop, { onHand: 6 })]
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, nth) => refusalOf(reserve(nth % 2 ? { [a.id]: 1, [b.id]: 1 } : { [b.id]: 1, [a.id]: 1 }))),
    )
    expect(outcomes.filter((refusal) => refusal === undefined).length).toBe(6)
    expect([await readStock(a.id), await readStock(b.id)]).toEqual([
      [6, 6],
      [6, 6],
    ])
  })
})

describe('reserved stock', () => {
  test('reserved stock can be released, committed or restocked', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, apply, readStock } = stockOf(app)
    const { id } = await createVariant(shop, { onHand: 10 })
    await reserve({ [id]: 6 })
    await apply('release', { [id]: 2 })
    expect(await readStock(id)).toEqual([10, 4])
    await apply('commit', { [id]: 4 })
    expect(await readStock(id)).toEqual([6, 0])
    await apply('restock', { [id]: 3 })
    expect(await readStock(id)).toEqual([9, 0])
  })

  test('reservations never fall below zero, and removed variants are ignored', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, apply, readStock } = stockOf(app)
    const { id } = await createVariant(shop, { onHand: 3 })
    await reserve({ [id]: 1 })
    await apply('release', { [id]: 2, var_gone: 1 })
    expect(await readStock(id)).toEqual([3, 0])
    await apply('commit', { var_gone: 1 })
    await apply('restock', { var_gone: 1 })
  })

  test('committing a reservation does not take stock below zero when tracking was turned off meanwhile', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, apply, readStock } = stockOf(app)
    const { id, productId } = await createVariant(shop, { onHand: 3 })
    await reserve({ [id]: 2 })
    expect((await shop.patch(`/product-v2/${productId}`, { variants: [{ id, trackInventory: false }] })).status).toBe(200)
    expect((await shop.count(productId, id, { counted: 0 })).status).toBe(200)
    await apply('commit', { [id]: 2 })
    expect(await readStock(id)).toEqual([0, 0])
  })

  test('a change or import cannot set stock below the reservations; an import names the row and stores the rest', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, readStock } = stockOf(app)
    const { id, productId } = await createVariant(shop, { onHand: 5 })
    await reserve({ [id]: 3 })
    const change = (variant: Json) => shop.patch(`/product-v2/${productId}`, { variants: [{ id, ...variant }] })
    const conflictOf = (prefix: string) => [409, `${prefix}unfinished orders reserve 3`]
    const refusedCount = await shop.count(productId, id, { counted: 2 })
    expect([refusedCount.status, refusedCount.body.message]).toEqual(conflictOf('The stock cannot fall below the reserved units: '))
    expect((await change({ allowBackorder: true })).status).toBe(200)
    expect((await shop.count(productId, id, { counted: 2 })).status).toBe(200)
    const { body } = ok(await change({ allowBackorder: false }), 200)
    expect(body.variants[0]).toMatchObject({ onHand: 2, reserved: 3, available: false })
    expect((await shop.count(productId, id, { delta: 1 })).status).toBe(200)
    const csv = (onHand: number) =>
      `Handle,Title,Variant Price,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy\nlamp,Lamp,1,shopify,${onHand},deny\nvase,Vase,2,shopify,1,deny\n`
    for (const query of ['overwrite=true&stock=true&dryRun=true', 'overwrite=true&stock=true']) {
      const report = await app.call('POST', `/product-v2/import?${query}`, {
        key: shop.secretKey,
        raw: csv(2),
        headers: { 'content-type': 'text/csv' },
      })
      expect(report.body).toMatchObject({
        created: 1,
        updated: 0,
        failed: 1,
        errors: [{ row: 2, message: 'variants.0: cannot be deleted: unfinished orders reserve 3' }],
      })
    }
    expect(await readStock(id)).toEqual([3, 3])
  })
})

describe('public availability', () => {
  const readAvailability = async (app: TestApp, productId: string) => {
    const { body, headers } = await app.call('GET', `/product-v2/public/${productId}`)
    return { available: [body.available, ...body.variants.map(({ available }: Json) => available)], etag: headers.get('etag'), body }
  }

  test('public availability changes when the last unit is reserved, released or restocked, and not before', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, apply } = stockOf(app)
    const product = await shop.add({
      title: 'Shirt',
      tags: ['Linen'],
      options: [{ name: 'Size', values: ['S', 'M'] }],
      variants: [
        { optionValues: ['S'], price: usd(1), onHand: 2 },
        { optionValues: ['M'], price: usd(1), onHand: 1 },
      ],
    })
    const [small = '', medium = ''] = product.variants.map(({ id }) => id)
    const first = await readAvailability(app, product.id)
    expect(first.available).toEqual([true, true, true])
    await reserve({ [small]: 1 })
    expect(await readAvailability(app, product.id)).toEqual(first)
    await reserve({ [small]: 1 })
    const second = await readAvailability(app, product.id)
    expect(second.available).toEqual([true, false, true])
    expect(second.etag).not.toBe(first.etag)
    await reserve({ [medium]: 1 })
    expect((await readAvailability(app, product.id)).available).toEqual([false, false, false])
    await apply('commit', { [small]: 2 })
    expect((await readAvailability(app, product.id)).available).toEqual([false, false, false])
    await apply('release', { [medium]: 1 })
    expect((await readAvailability(app, product.id)).available).toEqual([true, false, true])
    await apply('restock', { [small]: 1 })
    const last = await readAvailability(app, product.id)
    expect(last.available).toEqual([true, true, true])
    expect(last.etag).toBe(first.etag)
    expect([await shop.titles(), await shop.titles('?tag=linen'), await shop.titles('?q=shirt')]).toEqual([['Shirt'], ['Shirt'], ['Shirt']])
    const { descriptionHtml: _, seo: __, ...summary } = last.body
    expect((await app.call('GET', shop.list)).body.data[0]).toEqual({ ...summary, variantsCount: 2, imagesCount: 0 })
  })

  test('public availability stays the same when the write of the order fails', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve, readStock } = stockOf(app)
    const { id, productId } = await createVariant(shop, { onHand: 1 })
    const before = await readAvailability(app, productId)
    const refusal = refusalOf(
      reserve({ [id]: 1 }, async () => {
        throw new AppError('CONFLICT', 'something else')
      }),
    )
    expect(await refusal).toBe('CONFLICT: something else')
    expect(await readAvailability(app, productId)).toEqual(before)
    expect(await readStock(id)).toEqual([1, 0])
  })

  test('reserving stock of an unlisted product does not make it public', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve } = stockOf(app)
    const product = await shop.add({ title: 'Draft', status: 'DRAFT', variants: [{ price: usd(1), onHand: 1 }] })
    await reserve({ [product.variants[0]?.id ?? '']: 1 })
    expect((await app.call('GET', `/product-v2/public/${product.id}`)).status).toBe(404)
  })

  test('public availability changes for every product of an order', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { reserve } = stockOf(app)
    const lamps = await Promise.all(Array.from({ length: 5 }, (_, nth) => createVariant(shop, { onHand: 1 }, `Lamp ${nth}`)))
    await reserve(Object.fromEntries(lamps.map(({ id }) => [id, 1])))
    for (const { productId } of lamps) expect((await readAvailability(app, productId)).available).toEqual([false, false])
  })
})

test('findSellables finds variants by id in any status, but only those of the shop', async () => {
  await using app = await testApp()
  const [shop, other] = [await shopIn(app), await shopIn(app)]
  const draft = await shop.add({ title: 'Draft', status: 'DRAFT', variants: [{ price: usd(7) }] })
  const [mine = '', theirs] = [draft.variants[0]?.id, (await createVariant(other)).id]
  const found = await findSellables(app.deps, [mine, theirs, 'var_none', mine], shop.shop.id)
  expect([...found.keys()]).toEqual([mine])
  expect(found.get(mine)).toMatchObject({ variant: { price: 7 }, product: { id: draft.id, status: 'DRAFT', title: 'Draft' } })
  expect((await findSellables(app.deps, [], shop.shop.id)).size).toBe(0)
})
