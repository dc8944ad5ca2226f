import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { system } from '../../../../src/core/command-context.ts'
import { type ProductInput, type Sort, sortNames } from '../../../../src/modules/catalog/products/domain.ts'
import {
  applyChanges,
  bucketOf,
  locatePosition,
  pageWindow,
  sortsAtOrBefore,
  totalOf,
} from '../../../../src/modules/catalog/products/listing.ts'
import { createListingCounts } from '../../../../src/modules/catalog/products/listing-counts.ts'
import { createListingCache, listPublicProducts, type ReadDeps } from '../../../../src/modules/catalog/products/public-reads.ts'
import { changeProduct, createProduct, readProduct } from '../../../../src/modules/catalog/products/service.ts'
import { testApp } from '../../../support/app.ts'
import { pageSlice, shopIn, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const runs = engine === 'sqlite' ? 40 : 12
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

test('sortsAtOrBefore orders strings by their UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 5 }), fc.string({ unit: 'binary', maxLength: 5 }), (a, b) => {
      expect(sortsAtOrBefore(a, b)).toBe(byBytes(a, b) <= 0)
    }),
  )
  expect(sortsAtOrBefore('\uffef', '\u{1f600}')).toBe(true)
  expect(sortsAtOrBefore('\u{1f600}', '\uffef')).toBe(false)
})

test('locatePosition finds the bucket that contains a position, after any changes', () => {
  const keys = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(keys, fc.array(fc.nat(39)), (unsorted, picks) => {
      const sorted = [...unsorted].sort(byBytes)
      const anchors = [...new Set(picks.map((pick) => sorted[pick % sorted.length] ?? ''))]
        .sort(byBytes)
        .map((key) => ({ key, documents: 0 }))
      const buckets = applyChanges(
        anchors,
        sorted.map((key) => ({ key, documents: 1 })),
      )
      expect(totalOf(buckets)).toBe(sorted.length)
      for (const [position, key] of sorted.entries()) {
        const found = locatePosition(buckets, position)
        const from = sorted.findIndex((one) => sortsAtOrBefore(found.key, one))
        expect(sorted[from + found.skip]).toBe(key)
        expect(buckets[bucketOf(buckets, key)]?.key).toBe(found.key)
      }
    }),
  )
})

test('a window is the page of a list, read from either end', () => {
  fc.assert(
    fc.property(
      fc.nat(30),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 10 }),
      fc.boolean(),
      (total, limit, page, descending) => {
        const ascending = Array.from({ length: total }, (_, at) => at)
        const { start, count } = pageWindow(total, pageSlice(page, limit), descending)
        const read = ascending.slice(start, start + count)
        const expected = (descending ? ascending.toReversed() : ascending).slice((page - 1) * limit, page * limit)
        expect(descending ? read.reverse() : read).toEqual(expected)
      },
    ),
  )
})

type ExpectedProduct = { id: string; title: string; price: number; status: string; publishedAt: number | null }

const normalizeTitle = (title: string) => title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
const comparators: Record<Sort, (a: ExpectedProduct, b: ExpectedProduct) => number> = {
  newest: (a, b) => (b.publishedAt ?? 0) - (a.publishedAt ?? 0) || byBytes(b.id, a.id),
  title: (a, b) => byBytes(normalizeTitle(a.title), normalizeTitle(b.title)) || byBytes(a.id, b.id),
  price: (a, b) => a.price - b.price || byBytes(a.id, b.id),
  '-price': (a, b) => b.price - a.price || byBytes(b.id, a.id),
}

const titles = fc.oneof(
  fc.constantFrom('a', 'A', 'á', 'b', 'ab', '日本', '\u{1f600}', '\ue000'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }).filter((title) => !/[\p{Cc}]/u.test(title)),
)
const hourMs = 3_600_000
const publication = fc.option(fc.constantFrom(-2 * hourMs, -hourMs, 0, 1, hourMs, 2 * hourMs), { nil: undefined })
const fields = {
  title: titles,
  price: fc.constantFrom(0, 1, 100, 100, 25_000),
  status: fc.constantFrom<'ACTIVE' | 'DRAFT'>('ACTIVE', 'ACTIVE', 'ACTIVE', 'DRAFT'),
  publishIn: publication,
}
const operation = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('create' as const), ...fields }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('change' as const), nth: fc.nat(), ...fields }, { requiredKeys: ['kind', 'nth'] }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('archive' as const), nth: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, hourMs / 2, hourMs) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fold' as const) }) },
)

test('pages and totals equal those of a naive list, through writes, folds, splits and publication dates', async () => {
  await using app = await testApp()
  const { deps, clock } = app
  const listingCounts = createListingCounts(deps, 2)
  const listings = createListingCache(deps)
  let mostAnchors = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 10, maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 5 }),
      async (operations, limit) => {
        const { shop } = await shopIn(app)
        const write = { shop: { id: shop.id, currency: 'USD' }, actor: system }
        const expectedProducts = new Map<string, ExpectedProduct>()
        const remember = ({ id, title, priceRange, status, publishedAt }: Awaited<ReturnType<typeof createProduct>>) =>
          expectedProducts.set(id, {
            id,
            title,
            price: priceRange.min.amount,
            status,
            publishedAt: publishedAt === null ? null : Date.parse(publishedAt),
          })
        const inputOf = ({
          variantId,
          title,
          price,
          status,
          publishIn,
        }: {
          variantId?: string | undefined
          title?: string
          price?: number
          status?: 'ACTIVE' | 'DRAFT'
          publishIn?: number | undefined
        }): ProductInput => ({
          title,
          status,
          ...(price === undefined ? {} : { variants: [{ id: variantId, price: usd(price) }] }),
          ...(publishIn === undefined ? {} : { publishedAt: clock.now() + publishIn }),
        })
        for (const step of operations) {
          const id = 'nth' in step ? [...expectedProducts.keys()][step.nth % expectedProducts.size] : undefined
          if (step.kind === 'create') remember(await createProduct(deps, write, { ...inputOf(step), title: step.title }))
          else if (step.kind === 'change' && id)
            remember(
              await changeProduct(deps, write, id, inputOf({ ...step, variantId: (await readProduct(deps, shop, id)).variants[0]?.id })),
            )
          else if (step.kind === 'archive' && id) remember(await changeProduct(deps, write, id, { status: 'ARCHIVED' }))
          else if (step.kind === 'wait') clock.advance(step.ms)
          else if (step.kind === 'fold') await listingCounts.foldAll(shop.id)
          await expectNaive({ ...deps, listings }, shop.id, [...expectedProducts.values()], limit)
        }
        for (let size = 1; size <= expectedProducts.size; size++)
          await expectNaive({ ...deps, listings }, shop.id, [...expectedProducts.values()], size)
        await listingCounts.foldAll(shop.id)
        const { anchors, changes } = await deps.catalogStore.listing(shop.id, 'title', '')
        expect(changes).toEqual([])
        mostAnchors = Math.max(mostAnchors, anchors.length)
      },
    ),
    { numRuns: runs },
  )
  expect(mostAnchors).toBeGreaterThan(2)
})

async function expectNaive(deps: ReadDeps, shopId: string, expectedProducts: readonly ExpectedProduct[], limit: number): Promise<void> {
  const now = deps.clock.now()
  const visible = expectedProducts.filter(({ status, publishedAt }) => status === 'ACTIVE' && publishedAt !== null && publishedAt <= now)
  for (const sort of sortNames) {
    const expected = [...visible].sort(comparators[sort]).map(({ id }) => id)
    for (let page = 1; (page - 1) * limit <= expected.length; page++) {
      const { summaries, total } = await listPublicProducts(
        deps,
        { shopId, showQuantity: false, sort, q: undefined, tag: undefined, collectionId: undefined },
        pageSlice(page, limit),
      )
      const ids = summaries.map((summary) => (JSON.parse(summary) as { id: string }).id)
      expect({ sort, page, ids, total }).toEqual({
        sort,
        page,
        ids: expected.slice((page - 1) * limit, page * limit),
        total: expected.length,
      })
    }
  }
}

test('buckets split as a shop grows and disappear as it empties', async () => {
  await using app = await testApp()
  const { deps } = app
  const listingCounts = createListingCounts(deps, 4)
  const { shop, add } = await shopIn(app)
  const ids: string[] = []
  for (let nth = 0; nth < 40; nth++) ids.push((await add({ title: `Product ${nth % 10}` })).id)
  await listingCounts.foldAll(shop.id)
  const full = await deps.catalogStore.listing(shop.id, 'title', '')
  expect(full.anchors.length).toBeGreaterThan(8)
  expect(full.anchors.every(({ documents }) => documents >= 1 && documents <= 4)).toBe(true)
  expect(totalOf(full.anchors)).toBe(40)
  for (const id of ids) await changeProduct(deps, { shop, actor: system }, id, { status: 'ARCHIVED' })
  await listingCounts.foldAll(shop.id)
  const empty = await deps.catalogStore.listing(shop.id, 'title', '')
  expect(empty.anchors).toEqual([{ key: '', documents: 0 }].map((bucket) => expect.objectContaining(bucket)))
  expect(empty.changes).toEqual([])
})

test('a scheduled product affects neither positions nor totals of lists before its publication date', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  for (const [title, price] of [
    ['Apple', 3],
    ['Cherry', 1],
  ] as const)
    await shop.add({ title, variants: [{ price: usd(price) }] })
  await shop.add({ title: 'Banana', variants: [{ price: usd(2) }], publishedAt: app.clock.now() + hourMs })
  const titlesBySort = async () => Promise.all(sortNames.map(async (sort) => (await shop.titles(`?sort=${sort}`)).join()))
  expect(await titlesBySort()).toEqual(['Cherry,Apple', 'Apple,Cherry', 'Cherry,Apple', 'Apple,Cherry'])
  expect((await app.call('GET', shop.list)).body.total).toBe(2)
  app.clock.advance(hourMs)
  expect(await titlesBySort()).toEqual(['Banana,Cherry,Apple', 'Apple,Banana,Cherry', 'Cherry,Banana,Apple', 'Apple,Banana,Cherry'])
})
