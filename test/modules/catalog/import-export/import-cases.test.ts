/** Tests product files of shops that earlier versions read incorrectly. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const lines = (...rows: string[]) => `${rows.join('\n')}\n`

async function createImporter(app: TestApp) {
  const shop = await shopIn(app)
  const send = (raw: string | Uint8Array, query = '') =>
    app.call('POST', `/product-v2/import${query}`, { key: shop.secretKey, raw, headers: { 'content-type': 'text/csv' } })
  return {
    ...shop,
    send,
    /** Imports a file after a dry run, whose report must be the same. */
    async importAfterDryRun(raw: string | Uint8Array, query = ''): Promise<Json> {
      const dry = await send(raw, `?dryRun=true${query.replace('?', '&')}`)
      const real = await send(raw, query)
      expect([real.status, dry.body]).toEqual([200, { ...real.body, dryRun: true }])
      return real.body
    },
    byHandle: async (handle: string): Promise<Json> =>
      (await shop.get('/product-v2?limit=100')).body.data.find((one: Json) => one.handle === handle),
    onSale: async (): Promise<Json[]> => (await app.call('GET', `${shop.list}?limit=100`)).body.data,
  }
}
type Importer = Awaited<ReturnType<typeof createImporter>>

/** Checks of the files in the folder of cases. `inline` has the essential rows of each file. */
const cases: Readonly<Record<string, { inline: string; check: (shop: Importer, file: string) => Promise<void> }>> = {
  'blank-price.csv': {
    inline: lines('Handle,Title,Option1 Name,Option1 Value,Variant Price,Status', 'tee,Tee,Size,S,25.00,active', 'tee,,,M,,'),
    async check(shop, file) {
      const report = await shop.importAfterDryRun(file)
      expect(report).toMatchObject({ created: 0, failed: 1, errors: [{ row: 2, handle: 'tee', column: 'Variant Price' }] })
      expect(report.errors[0].message).toContain('variant 2 (row 3)')
      expect(await shop.onSale()).toEqual([])
    },
  },
  'gift-card.csv': {
    inline: lines('Handle,Title,Variant Price,Gift Card,Status', 'card,Gift card,25.00,TRUE,active'),
    async check(shop, file) {
      const report = await shop.importAfterDryRun(file)
      expect(report).toMatchObject({ created: 1, skipped: 0, failed: 0, notices: [{ row: 2, handle: 'card', column: 'Gift Card' }] })
      expect(await shop.byHandle('card')).toMatchObject({ kind: 'GIFT_CARD', variants: [{ taxable: false, requiresShipping: false }] })
    },
  },
  'semicolon-quoted.csv': {
    inline: lines('Handle;Title;Body (HTML);Variant Price;Status', 'semi;Semicolons;"<p class=""lead"">soft; warm</p>";10.00;active'),
    async check(shop, file) {
      expect(await shop.importAfterDryRun(file)).toMatchObject({ created: 1, failed: 0 })
      expect(await shop.byHandle('semi')).toMatchObject({
        descriptionHtml: expect.stringContaining('soft; warm</p>'),
        variants: [{ price: usd(1000) }],
      })
    },
  },
  'tab.csv': {
    inline: lines('Handle\tTitle\tVariant Price\tStatus', 'tabs\tTabs\t10.00\tactive'),
    async check(shop, file) {
      expect(await shop.importAfterDryRun(file)).toMatchObject({ created: 1, failed: 0, notices: [] })
      expect((await shop.onSale()).map(({ handle }) => handle)).toEqual(['tabs'])
    },
  },
  'long-cell-then-bad-row.csv': {
    inline: lines(
      'Handle,Title,Body (HTML),Variant Price,Status',
      'ok,Fine,"<p>one</p>\n<p>two</p>\n<p>three</p>\n<p>four</p>",10.00,active',
      'bad,Not fine,,ten,active',
    ),
    async check(shop, file) {
      const report = await shop.importAfterDryRun(file)
      expect(report).toMatchObject({ created: 1, failed: 1, errors: [{ row: 3, handle: 'bad', column: 'Variant Price' }] })
    },
  },
  'unlisted.csv': {
    inline: lines('Handle,Title,Variant Price,Status', 'hidden,Hidden,10.00,unlisted'),
    async check(shop, file) {
      const report = await shop.importAfterDryRun(file)
      expect(report).toMatchObject({ created: 1, failed: 0, notices: [{ row: 2, handle: 'hidden', column: 'Status' }] })
      expect(await shop.byHandle('hidden')).toMatchObject({ status: 'DRAFT' })
      expect(await shop.onSale()).toEqual([])
    },
  },
  'oversold-deny.csv': {
    inline: lines(
      'Handle,Title,Variant Price,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Status',
      'over,Oversold,10.00,shopify,-2,deny,active',
    ),
    async check(shop, file) {
      expect(await shop.importAfterDryRun(file)).toMatchObject({ created: 1, failed: 0 })
      expect((await shop.byHandle('over')).variants).toMatchObject([{ onHand: -2, allowBackorder: false, available: false }])
      expect((await shop.onSale())[0]).toMatchObject({ handle: 'over', available: false })
    },
  },
  'woo-paragraphs.csv': {
    inline: lines(
      'ID,Type,SKU,Name,Published,Description,Regular price',
      '1,simple,W1,Wool blanket,1,"First <strong>warm</strong> paragraph.\\n\\nSecond paragraph.",40',
    ),
    async check(shop, file) {
      expect(await shop.importAfterDryRun(file)).toMatchObject({ created: 1, failed: 0 })
      expect((await shop.byHandle('wool-blanket')).descriptionHtml).toBe(
        '<p>First <strong>warm</strong> paragraph.</p>\n<p>Second paragraph.</p>',
      )
    },
  },
  'woo-sale-above-regular.csv': {
    inline: lines('ID,Type,SKU,Name,Published,Regular price,Sale price', '1,simple,W2,Mug,1,10,12'),
    async check(shop, file) {
      const report = await shop.importAfterDryRun(file)
      expect(report.notices).toMatchObject([{ row: 1 }, { row: 2, handle: 'mug', column: 'Sale price' }].slice(-1))
      expect((await shop.byHandle('mug')).variants).toMatchObject([{ price: usd(1000), compareAtPrice: null }])
    },
  },
  'woo-same-name.csv': {
    inline: lines('ID,Type,SKU,Name,Published,Regular price', '1,simple,W3,Candle,1,10', '2,simple,W4,Candle,1,12'),
    async check(shop, file) {
      expect(await shop.importAfterDryRun(file)).toMatchObject({
        created: 2,
        failed: 0,
        notices: [{ row: 3, handle: 'candle-1', column: 'Name' }],
      })
      expect((await shop.byHandle('candle')).variants).toMatchObject([{ sku: 'W3', price: usd(1000) }])
      expect((await shop.byHandle('candle-1')).variants).toMatchObject([{ sku: 'W4', price: usd(1200) }])
      expect(await shop.importAfterDryRun(file)).toMatchObject({ created: 0, skipped: 2 })
    },
  },
  'woo-german-headers.csv': {
    inline: lines(
      'ID,Typ,Artikelnummer,Name,Veröffentlicht,Beschreibung,Regulärer Preis',
      '1,simple,W5,Becher,1,Ein Becher,10',
      '2,simple,W6,Teller,1,Ein Teller,14',
    ),
    async check(shop, file) {
      expect(await shop.importAfterDryRun(file)).toMatchObject({ created: 2, failed: 0 })
      expect(await shop.byHandle('becher')).toMatchObject({ status: 'ACTIVE', variants: [{ sku: 'W5', price: usd(1000) }] })
      expect((await shop.byHandle('teller')).variants).toMatchObject([{ sku: 'W6', price: usd(1400) }])
    },
  },
  'handles.csv': {
    inline: lines('Title,Price,Status', 'Синий чайник,10.00,active', 'Мой мир,12.00,active'),
    async check(shop, file) {
      for (const form of ['NFC', 'NFD']) await shop.importAfterDryRun(file.normalize(form))
      expect((await shop.onSale()).map(({ handle }) => handle).sort()).toEqual(['мой-мир', 'синий-чайник'])
    },
  },
  'markdown.txt': {
    inline: lines('# Price list', '', 'We sell "lamps" and *mugs*.', '', '| Product | Price |', '|---|---|', '| Lamp | 10 |'),
    async check(shop, file) {
      const answer = await shop.send(file)
      expect([answer.status, answer.body.message]).toEqual([400, 'The file is Markdown, not CSV: export or save it as CSV in UTF-8.'])
    },
  },
}

const folder = join(import.meta.dir, '../../../../../shared/cases')
if (!existsSync(folder)) process.stderr.write('Skipped: the folder of cases is missing beside the checkout\n')

describe.each(Object.entries(cases))('%s', (name, { inline, check }) => {
  test('imports the file of the case with the expected result', async () => {
    await using app = await testApp()
    await check(await createImporter(app), inline)
  })
  test.if(existsSync(join(folder, name)))(
    'imports the same file from the folder beside the checkout with the expected result',
    async () => {
      await using app = await testApp()
      await check(await createImporter(app), readFileSync(join(folder, name), 'utf8'))
    },
  )
})

test.each([
  ['a blank price of the only variant', 'Handle,Title,Price,Status', ['a,A,,active']],
  ['white space', 'Handle,Title,Price,Status', ['a,A," \u00a0 ",active']],
  ['a dash', 'Handle,Title,Price,Status', ['a,A,-,active']],
  ['a currency sign', 'Handle,Title,Price,Status', ['a,A,$5,active']],
  ['a word', 'Handle,Title,Price,Status', ['a,A,free,active']],
  ['a first variant without a price', 'Handle,Title,Option1 Name,Option1 Value,Price,Status', ['a,A,Size,S,,active', 'a,,,M,5,']],
  ['WooCommerce', 'Type,Name,Published,Regular price', ['simple,A,1,']],
  ['WooCommerce, with white space', 'Type,Name,Published,Regular price', ['simple,A,1,"  "']],
  ['WooCommerce, with a dash', 'Type,Name,Published,Regular price', ['simple,A,1,-']],
  ['WooCommerce, with only a blank sale price', 'Type,Name,Published,Sale price', ['simple,A,1,']],
  [
    'a variation of WooCommerce',
    'Type,SKU,Name,Published,Regular price,Parent,Attribute 1 name,Attribute 1 value(s)',
    ['variable,P,A,1,,,Size,"S, M"', 'variation,S,A - S,1,5,P,Size,S', 'variation,M,A - M,1,,P,Size,M'],
  ],
])('a product without a valid price is not imported: %s', async (_name, header, rows) => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const report = await shop.importAfterDryRun(lines(header, ...rows))
  expect(report).toMatchObject({ created: 0, failed: 1 })
  expect(report.errors[0]).toMatchObject({ handle: 'a', column: expect.stringMatching(/price/i) })
  expect(await shop.onSale()).toEqual([])
})

test('a written price of 0 is a price', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  expect(await shop.importAfterDryRun(lines('Handle,Title,Price,Status', 'a,A,0,active', 'b,B,0.00,active'))).toMatchObject({ created: 2 })
  expect((await shop.onSale()).flatMap(({ variants }) => variants.map(({ price }: Json) => price))).toEqual([usd(0), usd(0)])
})

test('without a price column, a new product is a draft and a new variant of a known product is refused', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const report = await shop.importAfterDryRun(lines('Handle,Title,Published', 'a,A,TRUE', 'b,B,FALSE'))
  expect(report).toMatchObject({ created: 2, notices: [{ row: 2, handle: 'a', message: expect.stringContaining('no prices') }] })
  expect(report.notices).toHaveLength(1)
  expect(await shop.onSale()).toEqual([])
  await shop.importAfterDryRun(lines('Handle,Title,Option1 Name,Option1 Value,Price,Status', 'tee,Tee,Size,S,5,active'))
  const more = lines('Handle,Title,Option1 Name,Option1 Value', 'tee,Tee,Size,S', 'tee,,,M')
  expect(await shop.importAfterDryRun(more, '?overwrite=true')).toMatchObject({
    failed: 1,
    errors: [{ row: 2, handle: 'tee', message: expect.stringContaining('variant 2 (row 3)') }],
  })
  expect((await shop.byHandle('tee')).variants).toHaveLength(1)
})

test('a variant without a price cannot be bought, whether the API or an import created it', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const { body: cart } = await app.call('POST', '/cart', { key: shop.secretKey, body: {} })
  for (const body of [{}, { variants: [] }]) {
    const { body: tin } = await shop.post('/product-v2', { title: 'Tin', status: 'ACTIVE', ...body })
    expect(tin).toMatchObject({ status: 'ACTIVE', variants: [{ hasPrice: false, available: false }] })
    const item = { variantId: tin.variants[0].id, quantity: 1 }
    expect(await app.call('POST', `/cart/${cart.id}/items`, { key: shop.secretKey, body: item })).toMatchObject({
      status: 409,
      body: { message: 'Tin has no price yet' },
    })
    const draft = { lines: [{ ...item, unitPrice: usd(100) }] }
    expect((await app.call('POST', '/v2/orders/drafts', { key: shop.secretKey, body: draft })).status).toBe(400)
    await shop.patch(`/product-v2/${tin.id}`, { status: 'ARCHIVED' })
  }
  const { body: tea } = await shop.post('/product-v2', { title: 'Tea' })
  expect(tea).toMatchObject({ status: 'DRAFT', variants: [{ price: usd(0), hasPrice: false }] })
  await shop.importAfterDryRun(lines('Handle,Title,Published', 'cup,Cup,TRUE'))
  const cup = await shop.byHandle('cup')
  for (const { id, variants } of [tea, cup]) {
    const changed = await shop.patch(`/product-v2/${id}`, { variants: [{ id: variants[0].id, sku: 'x' }] })
    expect(changed).toMatchObject({ status: 200, body: { variants: [{ hasPrice: false, available: false }] } })
    expect((await shop.patch(`/product-v2/${id}`, { title: 'Another' })).status).toBe(200)
  }
  // The same file leaves the product a draft again. So does an export, in which the price is blank.
  const repeated = await shop.importAfterDryRun(lines('Handle,Title,Published', 'cup,Cup,TRUE'), '?overwrite=true')
  expect(repeated).toMatchObject({
    updated: 1,
    failed: 0,
    notices: [{ row: 2, handle: 'cup', message: expect.stringContaining('no prices') }],
  })
  const file = (await app.call('GET', '/product-v2', { token: shop.token, headers: { accept: 'text/csv' } })).text
  expect(await shop.importAfterDryRun(file, '?overwrite=true')).toMatchObject({ updated: 4, failed: 0 })
  expect(await shop.byHandle('cup')).toMatchObject({ status: 'DRAFT', variants: [{ hasPrice: false }] })
  expect(await shop.onSale()).toEqual([])

  ok(await shop.patch(`/product-v2/${cup.id}`, { status: 'ACTIVE' }))
  const active = (await app.call('GET', '/product-v2', { token: shop.token, headers: { accept: 'text/csv' } })).text
  expect(await shop.importAfterDryRun(active, '?overwrite=true')).toMatchObject({ updated: 4, failed: 0 })
  expect(await shop.byHandle('cup')).toMatchObject({ status: 'ACTIVE', variants: [{ hasPrice: false, available: false }] })

  // A written 0 is a price.
  const priced = await shop.patch(`/product-v2/${tea.id}`, { status: 'ACTIVE', variants: [{ id: tea.variants[0].id, price: usd(0) }] })
  expect(priced).toMatchObject({ status: 200, body: { variants: [{ price: usd(0), hasPrice: true }] } })
  expect(await shop.importAfterDryRun(lines('Handle,Title,Published,Price', 'cup,Cup,TRUE,3'), '?overwrite=true')).toMatchObject({
    updated: 1,
    failed: 0,
  })
  expect((await shop.onSale()).map(({ handle }) => handle).sort()).toEqual(['cup', 'tea'])
})

test('blank status, policy and quantity import as draft, no backorders and no stock', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const file = lines(
    'Handle,Title,Variant Price,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Published,Status',
    'a,A,5,shopify,,,TRUE,active',
    'b,B,5,shopify,3,continue,TRUE,',
  )
  expect(await shop.importAfterDryRun(file)).toMatchObject({ created: 2, failed: 0 })
  expect((await shop.byHandle('a')).variants).toMatchObject([{ onHand: 0, allowBackorder: false, available: false }])
  expect(await shop.byHandle('b')).toMatchObject({ status: 'DRAFT' })
})

test('columns that are not imported are named in one notice, for Shopify and for WooCommerce', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const shopify = await shop.importAfterDryRun(lines('Handle,Title,Price,Metafield: x,,Google Shopping / MPN', 'a,A,1,x,,y', 'b,B,1,x,,y'))
  expect(shopify.notices).toEqual([{ row: 1, message: 'These columns are not imported: Metafield: x, Google Shopping / MPN.' }])
  const woo = await shop.importAfterDryRun(lines('Type,Name,Regular price,Purchase note,Meta: x', 'simple,C,1,x,y'))
  expect(woo.notices).toEqual([{ row: 1, message: 'These columns are not imported: Purchase note, Meta: x.' }])
})

test('a row with a SKU but neither option value nor price is reported, because it is no variant', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const file = lines(
    'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Barcode,Variant Price,Image Src,Status',
    'cup,Cup,Size,S,A,,5,,active',
    'cup,,,,B,,,,',
    'cup,,,,,4006381333931,,https://images.example.com/cup.jpg,',
    'cup,,,,,,,https://images.example.com/back.jpg,',
  )
  const report = await shop.importAfterDryRun(file)
  const message = expect.stringContaining('No variant is imported')
  expect(report).toMatchObject({
    created: 1,
    notices: [
      { row: 3, handle: 'cup', column: 'Variant SKU', message },
      { row: 4, handle: 'cup', column: 'Variant Barcode', message },
    ],
  })
  expect(report.notices).toHaveLength(2)
  expect(await shop.byHandle('cup')).toMatchObject({ variants: [{ sku: 'A' }], images: [{}, {}] })
})

test('a product is a gift card if one of its rows says so, and a skipped product has no notices', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const file = lines(
    'Handle,Title,Option1 Name,Option1 Value,Variant Price,Gift Card,Status',
    'hidden,Hidden,,,1,false,unlisted',
    'card,Card,Amount,10,10,false,active',
    'card,,,25,25,true,',
  )
  const notices = [
    { row: 2, handle: 'hidden', column: 'Status' },
    { row: 4, handle: 'card', column: 'Gift Card', message: 'Imported as a gift card: each unit sold issues a card worth the price.' },
  ]
  expect((await shop.importAfterDryRun(file)).notices).toMatchObject(notices)
  expect([(await shop.byHandle('hidden')).kind, (await shop.byHandle('card')).kind]).toEqual(['STANDARD', 'GIFT_CARD'])
  expect((await shop.importAfterDryRun(file)).notices).toEqual([])
  expect((await shop.importAfterDryRun(file, '?overwrite=true')).notices).toMatchObject(notices)
  const exported = await app.call('GET', '/product-v2', { key: shop.secretKey, headers: { accept: 'text/csv' } })
  const target = await createImporter(app)
  ok(await target.send(exported.text))
  expect([(await target.byHandle('hidden')).kind, (await target.byHandle('card')).kind]).toEqual(['STANDARD', 'GIFT_CARD'])
})

test('WooCommerce products with the same name get handles numbered by row, wherever their variations are', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const file = lines(
    'Type,SKU,Name,Published,Regular price,Parent,Attribute 1 name,Attribute 1 value(s)',
    'variable,P,Lamp,1,,,Size,"S, M"',
    'simple,L2,Lamp,1,2,,,',
    'simple,L3,Lamp 1,1,3,,,',
    'simple,L4,LAMP!,1,4,,,',
    'variation,L1,Lamp - S,1,1,P,Size,S',
  )
  expect(await shop.importAfterDryRun(file)).toMatchObject({ created: 4, failed: 0 })
  const skus = await Promise.all(
    ['lamp', 'lamp-1', 'lamp-1-1', 'lamp-2'].map(async (handle) => (await shop.byHandle(handle)).variants[0].sku),
  )
  expect(skus).toEqual(['L1', 'L2', 'L3', 'L4'])
})

test('WooCommerce products with the same name keep their handles when a later file has other rows first', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const rows = ['20,simple,A,Lamp,1,1', '7,simple,B,Lamp,1,2', '100,simple,C,Lamp,1,3']
  const file = (...of: string[]) => lines('ID,Type,SKU,Name,Published,Regular price', ...of)
  const skus = () => Promise.all(['lamp', 'lamp-1', 'lamp-2'].map(async (handle) => (await shop.byHandle(handle)).variants[0].sku))
  await shop.importAfterDryRun(file(...rows))
  expect(await skus()).toEqual(['B', 'A', 'C'])
  await shop.importAfterDryRun(file(...rows.toReversed()), '?overwrite=true')
  expect(await skus()).toEqual(['B', 'A', 'C'])
})

test.each([
  ['12', '12', 1000 + 200, null],
  ['10', '12', 1000, 1200],
  ['12,5', '12,50', 1250, null],
  ['9,99', '10', 999, 1000],
  ['0', '10', 0, 1000],
])('sets price and compare-at price from a sale price of %s and a regular price of %s', async (sale, regular, price, compareAt) => {
  await using app = await testApp()
  const shop = await createImporter(app)
  await shop.importAfterDryRun(lines('Type,Name,Published,Regular price,Sale price', `simple,A,1,"${regular}","${sale}"`))
  expect((await shop.byHandle('a')).variants).toMatchObject([
    { price: usd(price), compareAtPrice: compareAt === null ? null : usd(compareAt) },
  ])
})

const csvSeparatedBy = (delimiter: string) =>
  `Handle${delimiter}Title${delimiter}Price${delimiter}Status\na${delimiter}"A, b; c\td"${delimiter}"10,50"${delimiter}active\n`
test.each([
  ['commas', csvSeparatedBy(',')],
  ['semicolons', csvSeparatedBy(';')],
  ['tabs', csvSeparatedBy('\t')],
  ['semicolons after a byte order mark', `\ufeff${csvSeparatedBy(';')}`],
  ['a first line that names the separator', `sep=;\r\n${csvSeparatedBy(';').replaceAll('\n', '\r\n')}`],
])('reads cells separated by %s', async (_name, file) => {
  await using app = await testApp()
  const shop = await createImporter(app)
  expect(await shop.importAfterDryRun(file)).toMatchObject({ rows: 1, created: 1, failed: 0 })
  expect(await shop.byHandle('a')).toMatchObject({ title: 'A, b; c\td', status: 'ACTIVE', variants: [{ price: usd(1050) }] })
})

test('the API and imports accept the same handles, so an exported catalog can be imported again', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const post = (handle: string) => shop.post('/product-v2', { title: 'A', handle, status: 'ACTIVE', variants: [{ price: usd(100) }] })
  for (const handle of ['İstanbul', 'ＡＢＣ', 'Å', 'ΣΑΣ', 'ǅ', '🙂', 'a..b', 'a\u200bb', '½'])
    expect([handle, (await post(handle)).status]).toEqual([handle, 400])
  const handles = ['ıslak', 'straße', 'мой-мир', 'कि-२', '東京', 'ă_1']
  for (const handle of handles) expect([handle, (await post(handle)).status]).toEqual([handle, 201])
  expect((await shop.post('/collection-v2', { title: 'A', handle: 'Å' })).status).toBe(400)
  expect((await shop.post('/blogs', { title: 'A', bodyHtml: '', slug: 'Å' })).status).toBe(400)
  const file = (await app.call('GET', '/product-v2', { token: shop.token, headers: { accept: 'text/csv' } })).text
  expect(await shop.importAfterDryRun(file, '?overwrite=true')).toMatchObject({ created: 0, updated: handles.length, failed: 0 })
})

test('refuses lone carriage returns in every import, and accepts them in quoted cells', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const { token } = await app.superAdmin()
  const send = (path: string, raw: string, credentials: object) =>
    app.call('POST', path, { ...credentials, raw, headers: { 'content-type': 'text/csv' } })
  for (const [path, credentials, rows] of [
    ['/product-v2/import', { key: shop.secretKey }, ['Handle,Title,Price', 'a,A,1']],
    ['/product-v2/import', { key: shop.secretKey }, ['ID,Type,Name,Regular price', '1,simple,A,1']],
    ['/customer/import', { key: shop.secretKey }, ['Email,First Name', 'ann@example.com,Ann']],
    [
      '/admin/repayments/import',
      { token },
      ['merchantId,lenderId,loanRef,outcome,amountUsd,dueAt,settledAt', 'm,l,r,ON_TIME,1,2025-01-01,2025-01-01'],
    ],
  ] as const) {
    const { status, body } = await send(path, `${rows.join('\r')}\r`, credentials)
    expect([path, status, body.message]).toEqual([path, 400, expect.stringContaining('carriage return')])
  }
  const quoted = await send('/product-v2/import', '"Handle",Title,"Body\r(HTML)",Price\r\na,A,"x\ry",1\r\n', { key: shop.secretKey })
  expect([quoted.status, quoted.body.created]).toEqual([200, 1])
})

test('refuses a file that is not CSV and names its type', async () => {
  await using app = await testApp()
  const shop = await createImporter(app)
  const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))
  const files: readonly (readonly [string | Uint8Array, string])[] = [
    [bytes('PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0....[Content_Types].xml....xl/workbook.xml'), '.xlsx'],
    [bytes('PK\x03\x04\x14\0\0\0products.csv'), '.zip'],
    [bytes('\xef\xbb\xbfPK\x03\x04....xl/workbook.xml'), '.xlsx'],
    [bytes('PK\x07\x08PK\x03\x04'), '.zip'],
    [bytes('\0\0\0\x18ftypmp42'), 'a binary file'],
    [bytes('MZ\x90\0\x03\0\0\0'), 'a binary file'],
    [bytes('\x7fELF\x02\x01\x01'), 'a binary file'],
    [bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0'), '.xls'],
    [bytes('\x1f\x8b\x08\0\0\0'), 'gzip'],
    [bytes('%PDF-1.7\n%\xe2\xe3'), 'PDF'],
    ['<!DOCTYPE html>\n<html><table><tr><td>Handle,Title</td></tr></table></html>', 'HTML'],
    ['\ufeff\n  <table><tr><td>Handle</td></tr></table>', 'HTML'],
    ['{"products":[{"title":"A, b"}]}', 'JSON'],
    ['[\n  {"Handle": "a", "Title": "A"}\n]', 'JSON'],
    ['- Lamp, 10\n- Mug, 12\n', 'Markdown'],
    ['| Handle | Title |\n|---|---|\n| a | A |\n', 'Markdown'],
    ['Price list\n==========\n\nLamp: 10\n', 'Markdown'],
    ['Dear shop, please find our new prices below.\n\nLamp, 10\n', 'a plain text document'],
    ['Our lamps are "handmade" and we sell them in Ulaanbaatar, Dubai and Berlin since 1990\n', 'a plain text document'],
  ]
  for (const [file, name] of files) {
    const { status, body } = await shop.send(file)
    expect([status, body.message]).toEqual([400, expect.stringContaining(name)])
    expect(body.message).toContain('not CSV')
  }
})
