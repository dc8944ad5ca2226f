import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { count, eq } from 'drizzle-orm'
import { productDocuments, products, variants } from '../../../../db/schema/catalog.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { startChild } from '../../../support/process.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const csv = { 'content-type': 'text/csv' }
const lines = (...rows: string[]) => `${rows.join('\n')}\n`

const oldDialect = lines(
  'Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Price,Variant Compare At Price,Cost per item,Image Src,Image Position,Image Alt Text,Variant Image',
  'tee,Tee,<p>Soft</p><script>x()</script>,Bleue,Apparel,"summer, sale",TRUE,Size,S,T-S,shopify,3,deny,19.99,25.00,7.77,https://i.example/1.jpg,1,Front,',
  'tee,,,,,,,,M,T-M,shopify,0,deny,21,,,https://i.example/2.jpg,2,,https://i.example/2.jpg',
  'tee,,,,,,,,,,,,,,,,https://i.example/3.jpg,3,,',
  'mug,Mug,,,,,FALSE,Title,Default Title,,,,deny,8,,,,,,',
)
const newDialect = lines(
  'Title,URL handle,Description,Vendor,Type,Tags,Published on online store,Status,SKU,Option1 name,Option1 value,Price,Compare-at price,Cost per item,Inventory tracker,Inventory quantity,Continue selling when out of stock,Weight value (grams),Product image URL,Image position,Image alt text,Variant image URL',
  'Tee,tee,<p>Soft</p>,Bleue,Apparel,"summer, sale",TRUE,Active,T-S,Size,S,19.99,25.00,7.77,shopify,3,DENY,120,https://i.example/1.jpg,1,Front,',
  ',tee,,,,,,,T-M,,M,21,,,shopify,0,DENY,120,https://i.example/2.jpg,2,,https://i.example/2.jpg',
  ',tee,,,,,,,,,,,,,,,,,https://i.example/3.jpg,3,,',
  'Mug,mug,,,,,FALSE,Draft,,,,8,,,,,DENY,,,,,',
)

async function createImporter(app: TestApp, settings: Parameters<TestApp['merchant']>[0] = {}) {
  const shop = await shopIn(app, settings)
  return {
    ...shop,
    send: (raw: string | Uint8Array, query = '', headers: Record<string, string> = csv) =>
      app.call('POST', `/product-v2/import${query}`, { key: shop.secretKey, raw, headers }),
    byHandle: async (handle: string): Promise<Json> =>
      (await shop.get('/product-v2?limit=100')).body.data.find((one: Json) => one.handle === handle),
  }
}

const readCatalog = async (app: TestApp) => ({
  products: await app.deps.db.read.select().from(products).orderBy(products.id),
  variants: await app.deps.db.read.select().from(variants).orderBy(variants.id),
})

describe.each([
  ['old', oldDialect],
  ['new', newDialect],
])('import of the %s dialect', (_, file) => {
  test('imports products with variants, images, stock and publication, and the public reads them', async () => {
    await using app = await testApp()
    const shop = await createImporter(app)
    const report = await shop.send(file)
    expect(report).toMatchObject({
      status: 200,
      body: {
        dryRun: false,
        rows: 4,
        products: 2,
        created: 2,
        updated: 0,
        skipped: 0,
        failed: 0,
        variants: 3,
        images: 3,
        errors: [],
        errorsTruncated: false,
      },
    })
    const tee = await shop.byHandle('tee')
    const [, second] = tee.images
    expect([tee.title, tee.descriptionHtml, tee.vendor, tee.type, tee.tags, tee.status, tee.publishedAt]).toEqual([
      'Tee',
      '<p>Soft</p>',
      'Bleue',
      'Apparel',
      ['summer', 'sale'],
      'ACTIVE',
      '2026-01-06T12:00:00.000Z',
    ])
    expect(tee.options).toEqual([{ name: 'Size', values: ['S', 'M'] }])
    expect(
      tee.variants.map(({ title, sku, price, compareAtPrice, cost, onHand, available, imageId }: Json) => [
        title,
        sku,
        price,
        compareAtPrice,
        cost,
        onHand,
        available,
        imageId,
      ]),
    ).toEqual([
      ['S', 'T-S', usd(1999), usd(2500), usd(777), 3, true, null],
      ['M', 'T-M', usd(2100), null, null, 0, false, second.id],
    ])
    expect(tee.images.map(({ url, alt, position }: Json) => [url, alt, position])).toEqual([
      ['https://i.example/1.jpg', 'Front', 1],
      ['https://i.example/2.jpg', null, 2],
      ['https://i.example/3.jpg', null, 3],
    ])
    expect(await shop.byHandle('mug')).toMatchObject({
      status: 'DRAFT',
      publishedAt: null,
      options: [],
      variants: [{ title: 'Default Title', price: usd(800), trackInventory: false }],
    })
    expect(await shop.titles()).toEqual(['Tee'])
    expect((await app.call('GET', `/product-v2/public/${tee.id}`)).body.images.length).toBe(3)
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'product.created'))
    expect(rows.length).toBe(2)
  })

  test('a dry run reports the same as the import and stores nothing', async () => {
    await using app = await testApp()
    const shop = await createImporter(app)
    const dry = await shop.send(file, '?dryRun=true')
    expect(await readCatalog(app)).toEqual({ products: [], variants: [] })
    const real = await shop.send(file)
    expect(dry.body).toEqual({ ...real.body, dryRun: true })
    const before = await readCatalog(app)
    app.clock.advance(1_000)
    expect((await shop.send(file, '?dryRun=true&overwrite=true')).body).toMatchObject({
      dryRun: true,
      created: 0,
      updated: 2,
      variants: 3,
      images: 3,
    })
    expect(await readCatalog(app)).toEqual(before)
  })

  test('importing a file again skips known products and does not change them or their time of change', async () => {
    await using app = await testApp()
    const shop = await createImporter(app)
    await shop.send(file)
    const before = await readCatalog(app)
    app.clock.advance(60_000)
    expect((await shop.send(file)).body).toMatchObject({ created: 0, updated: 0, skipped: 2, failed: 0, variants: 0 })
    expect(await readCatalog(app)).toEqual(before)
    expect((await shop.send(file, '?overwrite=true')).body).toMatchObject({ created: 0, updated: 2, skipped: 0 })
    const withoutTimes = ({ products: all, variants: storedVariants }: Awaited<ReturnType<typeof readCatalog>>) => ({
      products: all.map((one) => ({ ...one, updatedAt: 0, version: 0 })),
      variants: storedVariants,
    })
    expect(withoutTimes(await readCatalog(app))).toEqual(withoutTimes(before))
  })
})

test('overwriting: a blank cell clears, an absent column keeps, and known variants and images keep their ids', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  await shop.send(oldDialect)
  const before = await shop.byHandle('tee')
  app.clock.advance(1_000)
  await shop.send(
    lines(
      'Handle,Title,Body (HTML),Tags,Option1 Name,Option1 Value,Variant Price,Variant Compare At Price,Image Src',
      'tee,Tee II,,,Size,M,30,,https://i.example/2.jpg',
      'tee,,,,,L,31,40,https://i.example/9.jpg',
    ),
    '?overwrite=true',
  )
  const after = await shop.byHandle('tee')
  expect([after.id, after.title, after.descriptionHtml, after.tags, after.vendor, after.type, after.status, after.publishedAt]).toEqual([
    before.id,
    'Tee II',
    '',
    [],
    'Bleue',
    'Apparel',
    'ACTIVE',
    before.publishedAt,
  ])
  // Variants that the file does not name stay.
  const [small, medium, large] = after.variants
  expect(small).toEqual(before.variants[0])
  expect(medium).toEqual({ ...before.variants[1], price: usd(3000) })
  expect(after.options).toEqual([{ name: 'Size', values: ['S', 'M', 'L'] }])
  expect([large.title, large.compareAtPrice, before.variants.some(({ id }: Json) => id === large.id)]).toEqual(['L', usd(4000), false])
  expect(after.images.map(({ url }: Json) => url)).toEqual(['https://i.example/2.jpg', 'https://i.example/9.jpg'])
  expect(after.images[0].id).toBe(before.images[1].id)
})

test('overwriting keeps the alt text and size of an image when the file has no column for them', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const url = 'https://i.example/1.jpg'
  await shop.add({ title: 'Tee', handle: 'tee', images: [{ url, alt: 'Front', width: 800, height: 600 }] })
  const [before] = (await shop.byHandle('tee')).images
  expect((await shop.send(lines('Handle,Title,Image Src', `tee,Tee,${url}`), '?overwrite=true')).body.updated).toBe(1)
  expect((await shop.byHandle('tee')).images).toEqual([before])
  expect(before).toMatchObject({ alt: 'Front', width: 800, height: 600 })
  // A blank cell clears the alt text.
  await shop.send(lines('Handle,Title,Image Src,Image Alt Text', `tee,Tee,${url},`), '?overwrite=true')
  expect((await shop.byHandle('tee')).images).toEqual([{ ...before, alt: null }])
})

test('a product with a blank price is refused and named, known or new, also in a dry run; others are stored', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  await shop.send(oldDialect)
  const before = await shop.byHandle('tee')
  const file = lines(
    'Handle,Title,Option1 Name,Option1 Value,Variant Price',
    'tee,Changed,Size,S,20',
    'tee,,Size,M,',
    'mug,Mug,Title,Default Title,9',
    'new,New,Title,Default Title,',
  )
  for (const query of ['?overwrite=true&dryRun=true', '?overwrite=true']) {
    const report = await shop.send(file, query)
    expect(report.body).toMatchObject({ created: 0, updated: 1, failed: 2 })
    expect(report.body.errors).toMatchObject([
      { row: 2, handle: 'tee', column: 'Variant Price', message: expect.stringContaining('variant 2 (row 3)') },
      { row: 5, handle: 'new', column: 'Variant Price' },
    ])
  }
  expect(await shop.byHandle('tee')).toEqual(before)
  expect((await shop.byHandle('mug')).variants[0].price).toEqual(usd(900))
  expect(await shop.byHandle('new')).toBeUndefined()
})

test('an exported product whose options have outer white space or decomposed letters is imported onto the same variants', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const variantOf = (optionValue: string) => ({ optionValues: [optionValue], price: usd(100) })
  const options = [{ name: 'Size ', values: [' S', 'cafe\u0301'] }]
  const created = await shop.post('/product-v2', { title: 'Tee', options, variants: [variantOf(' S'), variantOf('cafe\u0301')] })
  expect(created.body.options).toEqual([{ name: 'Size', values: ['S', 'caf\u00e9'] }])
  const { text } = await app.call('GET', '/product-v2', { key: shop.secretKey, headers: { accept: 'text/csv' } })
  for (const file of [text, text.normalize('NFD')])
    expect((await shop.send(file, '?overwrite=true')).body).toMatchObject({ updated: 1, failed: 0, variants: 2, variantsKept: 0 })
  const { options: optionsAfter, variants: variantsAfter } = await shop.byHandle('tee')
  expect([optionsAfter, variantsAfter.map(({ id }: Json) => id)]).toEqual([
    created.body.options,
    created.body.variants.map(({ id }: Json) => id),
  ])
  expect((await shop.post('/product-v2', { title: 'Cap', options: [{ name: ' ', values: ['S'] }] })).status).toBe(400)
})

test('overwriting from a file without a price column keeps every price', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  await shop.send(oldDialect)
  const before = await shop.byHandle('tee')
  const file = lines('Handle,Title,Option1 Name,Option1 Value,Variant SKU', 'tee,Tee,Size,S,N-S', 'tee,,Size,M,N-M')
  expect((await shop.send(file, '?overwrite=true')).body).toMatchObject({ updated: 1, failed: 0 })
  const { variants } = await shop.byHandle('tee')
  expect(variants.map(({ sku, price }: Json) => [sku, price])).toEqual([
    ['N-S', before.variants[0].price],
    ['N-M', before.variants[1].price],
  ])
})

test('overwriting from a file without option columns keeps the variants of a product with options', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  await shop.send(oldDialect)
  const before = await shop.byHandle('tee')
  await shop.send(lines('Handle,Title,Vendor', 'tee,Tee,Rouge'), '?overwrite=true')
  const after = await shop.byHandle('tee')
  expect(after.vendor).toBe('Rouge')
  expect([after.variants, after.images, after.options]).toEqual([before.variants, before.images, before.options])
})

test('the columns Published and Status decide whether the public sees a product', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  for (const [header, cells, status, isPublished] of [
    ['Published', 'TRUE', 'ACTIVE', true],
    ['Published', 'FALSE', 'DRAFT', false],
    ['Published,Status', 'TRUE,active', 'ACTIVE', true],
    ['Published,Status', 'FALSE,active', 'ACTIVE', false],
    ['Published,Status', 'TRUE,draft', 'DRAFT', false],
    ['Status', 'active', 'ACTIVE', true],
    ['Status', 'archived', 'ARCHIVED', false],
    ['Vendor', 'x', 'DRAFT', false],
  ] as const) {
    const title = `Case ${header} ${cells}`.replaceAll(',', ' ')
    expect((await shop.send(lines(`Title,Price,${header}`, `${title},5,${cells}`))).body).toMatchObject({ created: 1, failed: 0 })
    const { data } = (await shop.get('/product-v2?limit=100')).body
    expect([title, data.find((one: Json) => one.title === title)?.status]).toEqual([title, status])
    expect([title, (await shop.titles('?limit=100')).includes(title)]).toEqual([title, isPublished])
  }
})

test('an unpublished product is public again when the file publishes it', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  await shop.send(lines('Title,Price,Published,Status', 'Tee,5,FALSE,active'))
  expect(await shop.titles()).toEqual([])
  await shop.send(lines('Title,Published,Status', 'Tee,TRUE,active'), '?overwrite=true')
  expect(await shop.titles()).toEqual(['Tee'])
})

test('an invalid row leaves its product out with row and column named, and the others are stored', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const report = await shop.send(
    lines(
      'Handle,Title,Option1 Name,Option1 Value,Variant Price,Status,Image Src',
      'good,Good,,,5,active,',
      'priced,Priced,,,zq9-price,active,',
      'decimals,Decimals,,,1.999,active,',
      'stated,Stated,,,1,zq9-status,',
      'pictured,Pictured,,,1,active,javascript:zq9',
      'twice,Twice,Size,S,1,active,',
      'twice,,,S,1,,',
      'fine,Fine,,,6,active,',
      'untitled,,,,1,active,',
    ),
  )
  expect(report.body).toMatchObject({ rows: 9, products: 8, created: 2, failed: 6 })
  expect(
    report.body.errors.map(({ row, column }: Json) => [row, column]).sort(([a]: number[], [b]: number[]) => (a ?? 0) - (b ?? 0)),
  ).toEqual([
    [3, 'Variant Price'],
    [4, 'Variant Price'],
    [5, 'Status'],
    [6, 'Image Src'],
    [8, 'Option1 Value'],
    [10, 'Title'],
  ])
  expect(report.text).not.toContain('zq9')
  expect(await shop.titles('?sort=title')).toEqual(['Fine', 'Good'])
})

test('reads prices in the currency and decimals of the shop, and refuses a request for another currency', async () => {
  await using app = await testApp()
  const shop = await createImporter(app, { currency: 'KWD' })
  const file = (price: string, handle: string) => lines('Handle,Title,Variant Price', `${handle},X,${price}`)
  await shop.send(file('1.234', 'kwd'))
  expect((await shop.byHandle('kwd')).variants[0].price).toEqual({ amount: 1234, currency: 'KWD' })
  expect((await shop.send(file('500', 'named'), '?currency=KWD')).body).toMatchObject({ created: 1 })
  const yen = await createImporter(app, { currency: 'JPY' })
  expect((await yen.send(file('1.5', 'x'))).body).toMatchObject({
    failed: 1,
    errors: [{ row: 2, column: 'Variant Price' }],
  })
  for (const query of ['?currency=ZZZ', '?currency=JPY', '?currency=zz', '?dryRun=yes', '?overwrite=1', '?stock=true', '?stock=1']) {
    const answer = await shop.send(file('1', 'y'), query)
    expect([query, answer.status, answer.body.message]).toEqual([
      query,
      400,
      expect.stringContaining(`${query.slice(1, query.indexOf('='))}:`),
    ])
  }
})

test('refuses an invalid upload: 400 for its content, 413 for its size, 415 for its type', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  for (const file of [
    '',
    'a;b;c\n1;2;3\n',
    'no,known,columns\n1,2,3\n',
    'Handle,Title\n"tee,open quote',
    new Uint8Array([0xff, 0xfe, 0x00, 0xd8, 0x41]),
    'Handle,Handle\na,b\n',
  ]) {
    const answer = await shop.send(file)
    expect(answer).toMatchObject({ status: 400, body: { statusCode: 400 } })
  }
  expect((await shop.send(new Uint8Array(20 * 1024 * 1024 + 1).fill(65))).status).toBe(413)
  expect((await shop.send('{}', '', { 'content-type': 'application/json' })).status).toBe(415)
  for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'text/csvx'])
    expect([type, (await shop.send(oldDialect, '', { 'content-type': type })).status]).toEqual([type, 415])
  expect((await shop.send(oldDialect, '?dryRun=true', { 'content-type': 'Text/CSV; charset=utf-8' })).status).toBe(200)
  expect(await readCatalog(app)).toEqual({ products: [], variants: [] })
})

test('an import without credentials is 401 and with a publishable key 403, whatever the body', async () => {
  await using app = await testApp()
  const { publishableKey, token } = await createImporter(app)
  for (const raw of [oldDialect, 'junk']) {
    expect((await app.call('POST', '/product-v2/import', { raw, headers: csv })).status).toBe(401)
    expect((await app.call('POST', '/product-v2/import', { raw, headers: csv, key: publishableKey })).status).toBe(403)
  }
  expect((await app.call('POST', '/product-v2/import', { raw: oldDialect, headers: csv, token })).body.created).toBe(2)
})

test('an import does not change a product of another shop with the same handle', async () => {
  await using app = await testApp()
  const mine = await createImporter(app)
  const theirs = await createImporter(app)
  await theirs.send(oldDialect)
  const before = await theirs.byHandle('tee')
  expect((await mine.send(oldDialect, '?overwrite=true')).body).toMatchObject({ created: 2, updated: 0 })
  expect(await theirs.byHandle('tee')).toEqual(before)
})

const exports = ['apparel.csv', 'jewelery.csv'].map((name) => join(import.meta.dir, '../../../../../shared/data', name))
const haveExports = exports.every((path) => existsSync(path))
if (!haveExports) process.stderr.write('Skipped: the two real Shopify exports are not beside the checkout\n')

test.if(haveExports)('imports two real exports completely: 40 products, 45 variants and every image', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const reports = []
  for (const path of exports) reports.push((await shop.send(readFileSync(path))).body)
  expect(
    reports.map(({ products: all, created, failed, variants: variantCount, errors }) => [all, created, failed, variantCount, errors]),
  ).toEqual([
    [20, 20, 0, 22, []],
    [20, 20, 0, 23, []],
  ])
  const listed: Json[] = (await app.call('GET', `${shop.list}?limit=100`)).body.data
  expect([listed.length, listed.flatMap(({ variants: itemVariants }) => itemVariants).length]).toEqual([40, 45])
  const urls = new Set(exports.flatMap((path) => readFileSync(path, 'utf8').match(/https:\/\/burst[^,\s"]+/g) ?? []))
  const imageUrls = new Set<string>()
  for (const { id } of listed) for (const { url } of (await app.call('GET', `/product-v2/public/${id}`)).body.images) imageUrls.add(url)
  expect([...imageUrls].sort()).toEqual([...urls].sort())
  for (const path of exports) expect((await shop.send(readFileSync(path))).body).toMatchObject({ created: 0, skipped: 20, failed: 0 })
})

test('repeating an import after a crash completes it without duplicates', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  // Ten batches, and more products than one fold of a listing processes.
  const count = 320
  const rows = Array.from({ length: count }, (_, nth) => `p-${nth},Product ${nth},Size,S,1.00,TRUE\np-${nth},,,M,2.00,`)
  const path = join(app.database.dataDir, 'products.csv')
  writeFileSync(path, lines('Handle,Title,Option1 Name,Option1 Value,Variant Price,Published', ...rows))
  const size = Bun.file(path).size
  const args = [JSON.stringify(app.deps.config), shop.shop.name, path]
  {
    await using child = startChild('import-file.ts', args)
    for await (const read of child.lines) {
      // The file is read twice: first to find where its products end, then to write them.
      if (Number(read) > size * (1 + 1 / 3)) child.kill('SIGKILL')
      else child.send('go on')
    }
    expect(await child.exited).not.toBe(0)
  }
  // The other process publishes at the real time.
  const catchUp = () => app.clock.advance(Date.now() + 60_000 - app.clock.now())
  catchUp()
  const partial = await countRows(app)
  expect(partial.products).toBeGreaterThan(0)
  expect(partial.products).toBeLessThan(count)
  // A product is stored completely or not at all.
  expect([partial.variants, partial.documents]).toEqual([partial.products * 2, partial.products])
  expect((await app.call('GET', shop.list)).body.total).toBe(partial.products)
  {
    await using child = startChild('import-file.ts', args)
    for await (const _ of child.lines) child.send('go on')
    expect(await child.exited).toBe(0)
  }
  catchUp()
  expect(await countRows(app)).toEqual({ products: count, variants: count * 2, documents: count })
  expect((await app.call('GET', `${shop.list}?sort=title&limit=1&page=${count}`)).body).toMatchObject({
    total: count,
    data: [{ title: 'Product 99' }],
  })
})

async function countRows({ deps: { db } }: TestApp) {
  const [all] = await db.read.select({ n: count() }).from(products)
  const [variantRow] = await db.read.select({ n: count() }).from(variants)
  const [documents] = await db.read.select({ n: count() }).from(productDocuments)
  return { products: Number(all?.n), variants: Number(variantRow?.n), documents: Number(documents?.n) }
}
