/** Tests the product CSV of WooCommerce, by its documented columns. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const header =
  'ID,Type,SKU,Name,Published,Visibility in catalog,Short description,Description,Tax status,Tax class,In stock?,Stock,Low stock amount,Backorders allowed?,Weight (kg),Sale price,Regular price,Date sale price ends,Categories,Tags,Images,Parent,Attribute 1 name,Attribute 1 value(s),Attribute 1 visible,Attribute 1 global,Attribute 2 name,Attribute 2 value(s)'.split(
    ',',
  )
const quoteCell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
type Row = Record<string, string>
const fileOf = (rows: Row[], columns = header) =>
  `\ufeff${[columns, ...rows.map((row) => columns.map((name) => row[name] ?? ''))].map((cells) => cells.map(quoteCell).join(',')).join('\n')}\n`
const simpleRow = (more: Row = {}): Row => ({
  ID: '1',
  Type: 'simple',
  Name: 'Cup',
  Published: '1',
  'In stock?': '1',
  'Regular price': '9.50',
  ...more,
})
const shirtRow = (more: Row = {}): Row => ({
  ID: '10',
  Type: 'variable',
  SKU: 'SHIRT',
  Name: 'Shirt',
  Published: '1',
  'In stock?': '1',
  'Weight (kg)': '0.25',
  'Attribute 1 name': 'Size',
  'Attribute 1 value(s)': 'S, M',
  'Attribute 2 name': 'Fabric',
  'Attribute 2 value(s)': 'Cotton',
  Images: 'https://x.example/1.jpg, https://x.example/2,b.jpg',
  ...more,
})
const variationRow = (size: string, more: Row = {}): Row => ({
  Type: 'variation',
  SKU: `SHIRT-${size}`,
  Name: `Shirt - ${size}`,
  Published: '1',
  'In stock?': '1',
  'Regular price': '20',
  Parent: 'SHIRT',
  'Attribute 1 name': 'Size',
  'Attribute 1 value(s)': size,
  ...more,
})

async function createImporter(app: TestApp) {
  const shop = await shopIn(app)
  const send = (rows: Row[], query = '', columns = header) =>
    app.call('POST', `/product-v2/import${query}`, {
      key: shop.secretKey,
      raw: fileOf(rows, columns),
      headers: { 'content-type': 'text/csv' },
    })
  return {
    send,
    all: async (): Promise<Json[]> => (await shop.get('/product-v2?limit=100')).body.data.toReversed(),
  }
}
const errorsOf = ({ body }: { body: Json }) => body.errors.map(({ row, column, message }: Json) => [row, column, message])

test('imports simple products with prices, stock, weight, categories, tags, images and virtual ones unshipped', async () => {
  await using app = await testApp()
  const { send, all } = await createImporter(app)
  const report = await send([
    simpleRow({
      SKU: 'CUP',
      'Short description': 'Small.\\n\\nRound.',
      Description: '<b>A cup</b>\\nof clay',
      'Sale price': '7',
      'Weight (kg)': '0.4536',
      Stock: '12',
      'Low stock amount': '3',
      'Backorders allowed?': 'notify',
      Categories: 'Kitchen > Cups, Gifts',
      Tags: 'clay, "small"',
      Images: 'https://x.example/a.jpg, https://x.example/b.jpg',
      'Tax class': 'reduced-rate',
      'Tax status': 'taxable',
    }),
    simpleRow({ ID: '2', Name: 'Book', Type: 'simple, downloadable, virtual', Published: '-1', 'Tax status': 'none', 'In stock?': '0' }),
    simpleRow({
      ID: '3',
      Name: 'Bowl',
      'Sale price': '1',
      'Date sale price ends': '2026-12-31',
      'Regular price': '5,25',
      'Tax class': 'zero-rate',
    }),
    simpleRow({ ID: '4', Name: "'-Hidden", 'Visibility in catalog': 'hidden', 'In stock?': 'backorder' }),
  ])
  expect([report.status, report.body.created, errorsOf(report)]).toEqual([200, 4, []])
  const [cup, book, bowl, hidden] = await all()
  expect(cup).toMatchObject({
    handle: 'cup',
    title: 'Cup',
    descriptionHtml: '<p>Small.</p>\n<p>Round.</p>\n<p><b>A cup</b><br />of clay</p>',
    type: 'Cups',
    tags: ['clay', '"small"', 'Cups', 'Gifts'],
    status: 'ACTIVE',
    options: [],
  })
  expect(cup.images.map(({ url }: Json) => url)).toEqual(['https://x.example/a.jpg', 'https://x.example/b.jpg'])
  expect(cup.variants).toMatchObject([
    {
      sku: 'CUP',
      price: { amount: 700 },
      compareAtPrice: { amount: 950 },
      weightGrams: 454,
      trackInventory: true,
      onHand: 12,
      lowStockAt: 3,
      allowBackorder: true,
      requiresShipping: true,
      taxable: true,
      taxClass: 'reduced-rate',
    },
  ])
  expect(book).toMatchObject({ status: 'DRAFT', variants: [{ requiresShipping: false, taxable: false, trackInventory: true, onHand: 0 }] })
  expect(bowl).toMatchObject({ variants: [{ price: { amount: 525 }, compareAtPrice: null, taxable: false, trackInventory: false }] })
  expect(hidden).toMatchObject({ title: '-Hidden', status: 'DRAFT', publishedAt: null, variants: [{ allowBackorder: true }] })
})

for (const [how, parent] of [
  ['its SKU', 'SHIRT'],
  ['its id', 'id:10'],
] as const)
  test(`imports variations by ${how} in any row order, without the disabled ones`, async () => {
    await using app = await testApp()
    const { send, all } = await createImporter(app)
    const report = await send([
      variationRow('S', { Parent: parent, Images: 'https://x.example/s.jpg', Stock: '4' }),
      simpleRow(),
      shirtRow(),
      variationRow('M', {
        Parent: parent,
        Published: '0',
        Type: 'variation, virtual',
        'Weight (kg)': '1',
        'Attribute 1 value(s)': 'M\\, wide',
      }),
    ])
    expect([report.status, report.body.created, errorsOf(report), report.body.rows]).toEqual([200, 2, [], 4])
    const found = (await all()).find(({ handle }) => handle === 'shirt')
    expect(found.options).toEqual([{ name: 'Size', values: ['S', 'M, wide'] }])
    expect(found.variants).toMatchObject([
      {
        sku: 'SHIRT-S',
        optionValues: ['S'],
        price: { amount: 2000 },
        weightGrams: 250,
        trackInventory: true,
        onHand: 4,
        requiresShipping: true,
      },
      {
        sku: 'SHIRT-M',
        optionValues: ['M, wide'],
        weightGrams: 1000,
        trackInventory: true,
        onHand: 0,
        allowBackorder: false,
        requiresShipping: false,
      },
    ])
    const urls = found.images.map(({ url }: Json) => url)
    expect(urls).toEqual(['https://x.example/1.jpg', 'https://x.example/2,b.jpg', 'https://x.example/s.jpg'])
    expect(found.images[2].id).toBe(found.variants[0].imageId)
  })

test('refuses invalid WooCommerce rows by number, and stores the other products', async () => {
  await using app = await testApp()
  const { send, all } = await createImporter(app)
  const report = await send([
    simpleRow({ ID: '1', Name: 'Set', Type: 'grouped' }),
    simpleRow({ ID: '2', Name: 'Elsewhere', Type: 'external' }),
    simpleRow({ ID: '3', Name: 'Odd', Type: 'subscription' }),
    simpleRow({ ID: '4', Name: 'Free', 'Regular price': '' }),
    simpleRow({ ID: '5', Name: 'Dear', 'Regular price': '1.234,50' }),
    simpleRow({ ID: '6', Name: 'Heavy', 'Weight (kg)': 'ten' }),
    simpleRow({ ID: '7', Name: '' }),
    simpleRow({ ID: '8', Name: 'Fine' }),
    simpleRow({ ID: '9', Name: 'fine!' }),
    variationRow('S', { Parent: 'nobody' }),
    variationRow('S', { Parent: 'id:31' }),
    shirtRow({ ID: '20', SKU: 'A', Name: 'Lonely' }),
    shirtRow({ ID: '21', SKU: 'B', Name: 'Any' }),
    variationRow('S', { Parent: 'B' }),
    variationRow('', { Parent: 'B' }),
    shirtRow({ ID: '22', SKU: 'C', Name: 'Shared' }),
    variationRow('S', { Parent: 'C', Stock: 'parent' }),
    simpleRow({ ID: '30', Name: 'Good' }),
    simpleRow({ ID: '31', Name: 'Plain' }),
  ])
  expect(report.status).toBe(200)
  expect(new Map(errorsOf(report).map(([row, column]: [number, string]) => [row, column]))).toEqual(
    new Map([
      [2, 'Type'],
      [3, 'Type'],
      [4, 'Type'],
      [5, 'Regular price'],
      [6, 'Regular price, Sale price'],
      [7, 'Weight (kg)'],
      [8, 'Name'],
      [11, 'Parent'],
      [12, 'Parent'],
      [13, 'Type'],
      [16, 'Parent'],
      [18, 'Stock'],
    ]),
  )
  expect((await all()).map(({ title, handle }) => [title, handle])).toEqual([
    ['Fine', 'fine'],
    ['fine!', 'fine-1'],
    ['Good', 'good'],
  ])
  expect(report.body).toMatchObject({ rows: 19, created: 3 })
})

test('reports an error of a variation with its own row, also for the first variation', async () => {
  await using app = await testApp()
  const { send } = await createImporter(app)
  const report = await send([shirtRow(), variationRow('S', { 'Regular price': 'x' }), variationRow('M', { 'Regular price': 'y' })])
  expect(errorsOf(report).map(([row]: [number]) => row)).toEqual([3, 4])
})

test('a dry run stores nothing, a second import skips, and overwriting changes products but not their stock', async () => {
  await using app = await testApp()
  const { send, all } = await createImporter(app)
  const rows = [simpleRow({ Stock: '5' }), shirtRow(), variationRow('S'), variationRow('M')]
  expect((await send(rows, '?dryRun=true')).body).toMatchObject({ dryRun: true, created: 2, failed: 0, variants: 3 })
  expect(await all()).toEqual([])
  expect((await send(rows)).body).toMatchObject({ created: 2, failed: 0 })
  const before = await all()
  expect((await send(rows)).body).toMatchObject({ created: 0, skipped: 2 })
  const changed = [simpleRow({ Stock: '7', 'Regular price': '11' }), shirtRow(), variationRow('S')]
  expect((await send(changed, '?overwrite=true')).body).toMatchObject({ updated: 2, failed: 0, variantsKept: 1, stock: { leftAlone: 1 } })
  const [cup, found] = await all()
  expect(cup.variants).toMatchObject([{ onHand: 5, price: { amount: 1100 } }])
  expect(found.variants).toEqual(before[1].variants)
  expect((await send(changed, '?overwrite=true&stock=true')).body).toMatchObject({ updated: 2, stock: { counts: 1 } })
  // A missing column changes nothing.
  expect(
    (await send([{ Type: 'simple', Name: 'Cup', 'Regular price': '12' }], '?overwrite=true', ['Type', 'Name', 'Regular price'])).body
      .failed,
  ).toBe(0)
  expect((await all())[0]).toMatchObject({ status: 'ACTIVE', variants: [{ onHand: 7, price: { amount: 1200 } }] })
})

test('does not sell a variation whose Published cell is blank, but sells one of a file without that column', async () => {
  await using app = await testApp()
  const { send, all } = await createImporter(app)
  const rows = [shirtRow(), variationRow('S', { Published: '', Stock: '3', 'Backorders allowed?': '1' }), variationRow('M', { Stock: '3' })]
  const stockOf = async () =>
    (await all())[0].variants.map(({ trackInventory, onHand, allowBackorder }: Json) => [trackInventory, onHand, allowBackorder])
  expect(errorsOf(await send(rows))).toEqual([])
  expect(await stockOf()).toEqual([
    [true, 0, false],
    [true, 3, false],
  ])
  const columns = header.filter((name) => name !== 'Published')
  expect(errorsOf(await send(rows, '?overwrite=true&stock=true', columns))).toEqual([])
  expect((await stockOf())[0]).toEqual([true, 3, true])
})

test('reads line ends of descriptions in every form, and keeps a written backslash and n', async () => {
  await using app = await testApp()
  const { send, all } = await createImporter(app)
  const texts = ['One\\n\\nTwo', 'One\r\\n\r\\nTwo', 'One\r\rTwo', 'One\r\n\r\nTwo', 'C:\\\\new']
  const report = await send(texts.map((Description, nth) => simpleRow({ ID: `${nth}`, Name: `Cup ${nth}`, Description })))
  expect(errorsOf(report)).toEqual([])
  const paragraphs = '<p>One</p>\n<p>Two</p>'
  expect((await all()).map(({ descriptionHtml }) => descriptionHtml)).toEqual([
    paragraphs,
    paragraphs,
    paragraphs,
    paragraphs,
    '<p>C:\\new</p>',
  ])
})

test('reads weights in the unit of the file, and refuses a header with a repeated column', async () => {
  await using app = await testApp()
  const { send, all } = await createImporter(app)
  const columns = ['Type', 'Name', 'Regular price', 'Weight (lbs)']
  const report = await send([{ Type: 'simple', Name: 'Stone', 'Regular price': '1', 'Weight (lbs)': '2.5' }], '', columns)
  expect([report.body.created, errorsOf(report)]).toEqual([1, []])
  expect((await all())[0].variants[0].weightGrams).toBe(1134)
  const twice = await send([simpleRow()], '', ['Type', 'Name', 'Regular price', 'Weight (kg)', 'Weight (lbs)'])
  expect([twice.status, twice.body.message]).toEqual([400, 'The header has "Weight (lbs)" twice: remove one of the two columns.'])
})

test('a product with neither stock nor availability is out of stock, with a notice, unless the file has no such column', async () => {
  await using app = await testApp()
  const { send, all } = await createImporter(app)
  const rows = [simpleRow({ 'In stock?': '' }), simpleRow({ ID: '2', Name: 'Jug', 'In stock?': '', Stock: '4' })]
  const report = await send(rows)
  const stockNotices = ({ body }: { body: Json }) =>
    body.notices.flatMap(({ handle, column }: Json) => (column === 'In stock?' ? [handle] : []))
  expect(stockNotices(report)).toEqual(['cup'])
  const withoutColumn = header.filter((name) => name !== 'In stock?')
  expect(stockNotices(await send([simpleRow({ ID: '3', Name: 'Pot' })], '', withoutColumn))).toEqual([])
  const stockOf = ({ title, variants }: Json) => [title, variants[0].trackInventory, variants[0].onHand]
  expect((await all()).map(stockOf)).toEqual([
    ['Cup', true, 0],
    ['Jug', true, 4],
    ['Pot', false, 0],
  ])
})
