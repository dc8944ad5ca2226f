/** Tests products, stock, imports, pictures and collections in the console, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shopIn, usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import type { ConsoleVisitor } from '../support/console-visitor.ts'
import { temporaryDir } from '../support/database.ts'
import { reloadWithoutEvents } from '../support/lost-response.ts'
import { drawPng } from '../support/pictures.ts'
import { ok } from '../support/selling.ts'
import { invitePerson, staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { pollUntilFound } from '../support/visit.ts'

setDefaultTimeout(longTestMs)

/** A text of maximum length with markup, a direction override and a very long word. */
const hostile = `\u202e<img src=x onerror=alert(1)><script>alert(1)</script>"'&{{x}}${'W'.repeat(150)}`
const html = `<h1 onclick="alert(1)">Bold</h1><p>${'W'.repeat(400)}</p><img src="https://other.example/x.png" alt="far"><a href="https://other.example/">out</a>`

const { test } = consoleTests({
  fill: async ({ shop }) => {
    const sizes = ['S', 'M', 'L']
    const shirt = await shop.add({
      title: 'Shirt',
      vendor: 'Mill',
      options: [{ name: 'Size', values: sizes }],
      variants: sizes.map((size) => ({ optionValues: [size], sku: `SH-${size}`, price: usd(6_800), onHand: 5 })),
    })
    const mug = await shop.add({ title: 'Mug', variants: [{ price: usd(1_200), onHand: 3, lowStockAt: 3 }] })
    const odd = await shop.add({
      title: hostile,
      descriptionHtml: html,
      vendor: hostile,
      type: hostile,
      tags: [hostile],
      options: [{ name: hostile, values: [hostile, 'x'] }],
      variants: [hostile, 'x'].map((value) => ({ optionValues: [value], sku: hostile, price: usd(1), onHand: 1, lowStockAt: 2 })),
      images: [{ url: 'https://other.example/picture.png', alt: hostile }],
      seo: { title: hostile, description: hostile },
    })
    const shelf = ok(await shop.post('/collection-v2', { title: hostile, descriptionHtml: html })).body
    ok(await shop.put(`/collection-v2/${shelf.id}/products`, { productIds: [shirt.id, mug.id, odd.id] }))
    return { shirt, mug, odd, shelf: shelf as { id: string } }
  },
})

/** Drags a handle down by a number of pixels. */
async function drag(visitor: ConsoleVisitor, name: string, by: number): Promise<void> {
  const at = (await visitor.page.evaluate(`(() => {
    const handle = document.querySelector(${JSON.stringify(`[aria-label="${name}"]`)})
    handle.scrollIntoView({ block: 'center', behavior: 'instant' })
    const { x, y, width, height } = handle.getBoundingClientRect()
    return { x: x + width / 2, y: y + height / 2 }
  })()`)) as { x: number; y: number }
  const mouse = (type: string, y: number) =>
    visitor.page.command('Input.dispatchMouseEvent', {
      type,
      x: at.x,
      y,
      button: 'left',
      buttons: type === 'mouseReleased' ? 0 : 1,
      clickCount: 1,
    })
  await mouse('mousePressed', at.y)
  await mouse('mouseMoved', at.y + by / 2)
  await mouse('mouseMoved', at.y + by)
  await mouse('mouseReleased', at.y + by)
}

test('a product with sizes is created by keyboard only', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products` })
  await visitor.heading('Products')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Add product', { role: 'link' })
  await visitor.heading('Add product')
  await visitor.keyFill('Title', 'Linen trousers')
  await visitor.keyPress('Edit HTML', { role: 'button' })
  await visitor.keyFill('Description', '<p>Cool in <b>summer</b></p>')
  await visitor.keyPress('Preview', { role: 'button' })
  await visitor.there('Preview', { role: 'region' })
  await visitor.keyPress('Add option', { role: 'button' })
  await visitor.keyFill('Option name', 'Size')
  await visitor.tabTo('Add value: Size')
  for (const size of ['S', 'M', 'L']) {
    await visitor.type(size)
    await visitor.key('Enter')
  }
  await visitor.there('L', { role: 'heading' })
  await visitor.type('M')
  await visitor.key('Enter')
  await visitor.text('M already exists.')
  await visitor.keyFill('Value', '49,50')
  await visitor.keyPress('Apply to all')
  expect(await visitor.value('Price (USD)', { within: 'M' })).toBe('49,50')
  await visitor.fill('Field', 'Quantity')
  await visitor.keyFill('Value', '7')
  await visitor.keyPress('Apply to all')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Add product')
  await visitor.heading('Linen trousers')
  const { data } = ok(await shop.get('/product-v2?q=trousers')).body
  expect(data).toMatchObject([
    {
      status: 'ACTIVE',
      descriptionHtml: '<p>Cool in <b>summer</b></p>',
      options: [{ name: 'Size', values: ['S', 'M', 'L'] }],
      variants: ['S', 'M', 'L'].map((size) => ({ optionValues: [size], price: usd(4_950), trackInventory: true, onHand: 7 })),
    },
  ])
})

test('invalid fields and API errors are shown beside their fields', async ({ open, shop, data }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.mug.id}`, width: 'phone', scheme: 'dark' })
  await visitor.heading('Mug')
  await visitor.fill('Price (USD)', '1.234')
  await visitor.press('Save')
  await visitor.text('Enter an amount in USD')
  await visitor.text('Please fix 1 field below.')
  await visitor.fill('Price (USD)', '13')
  await visitor.fill('Handle', 'shirt')
  visitor.expects(`PATCH /product-v2/${data.mug.id} 409`)
  await visitor.press('Save')
  await visitor.text('Handle: another product has this handle')
  expect(await visitor.value('Price (USD)')).toBe('13')
  expect(await visitor.axe()).toEqual([])
  await visitor.fill('Handle', 'mug')
  await visitor.press('Save')
  await visitor.notice('Saved')
  expect(ok(await shop.get(`/product-v2/${data.mug.id}`)).body.variants[0].price).toEqual(usd(1_300))
})

test('the second of two editors sees the differences and chooses', async ({ open, shop, data }) => {
  const path = `/product-v2/${data.shirt.id}`
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.shirt.id}` })
  await visitor.heading('Shirt')
  await visitor.fill('Vendor', 'Loom')
  await visitor.fill('Price (USD)', '70', { within: 'M' })
  ok(await shop.patch(path, { vendor: 'Weaver', type: 'Clothing' }))
  visitor.expects(`PATCH ${path} 412`)
  await visitor.press('Save')
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.text('Vendor Loom Weaver')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Overwrite with mine')
  await visitor.notice('Saved')
  const saved = ok(await shop.get(path)).body
  // Fields that only the other editor changed keep that change.
  expect([saved.vendor, saved.type, saved.variants[1].price]).toEqual(['Loom', 'Clothing', usd(7_000)])

  await visitor.fill('Vendor', 'Mine')
  ok(await shop.patch(path, { vendor: 'Theirs' }))
  await visitor.press('Save')
  await visitor.press('Show latest version')
  await visitor.until(`[...document.querySelectorAll('input')].some((one) => one.value === 'Theirs')`, 'the stored value')
  expect(ok(await shop.get(path)).body.vendor).toBe('Theirs')
})

test('a variant is removed with its value, after a warning; a variant of an open order stays', async ({ open, shop, data }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.shirt.id}` })
  await visitor.heading('Shirt')
  await visitor.press('Remove L', { within: 'Size' })
  await visitor.text('1 variant will be deleted when you save')
  await visitor.press('Save')
  await visitor.there('Delete 1 variant?', { role: 'dialog' })
  await visitor.press('Cancel')
  expect(ok(await shop.get(`/product-v2/${data.shirt.id}`)).body.variants.length).toBe(3)
  await visitor.press('Save')
  await visitor.press('Delete and save')
  await visitor.notice('Saved')
  expect(ok(await shop.get(`/product-v2/${data.shirt.id}`)).body).toMatchObject({
    options: [{ values: ['S', 'M'] }],
    variants: [{ sku: 'SH-S' }, { sku: 'SH-M' }],
  })
})

test('all variants are edited at once, and a removed one can be restored before saving', async ({ open, shop }) => {
  const sized = {
    options: [{ name: 'Size', values: ['S', 'M'] }],
    variants: ['S', 'M'].map((size) => ({ optionValues: [size], price: usd(900) })),
  }
  const cap = await shop.add({ title: 'Cap', ...sized })
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${cap.id}` })
  await visitor.heading('Cap')
  await visitor.fill('Add value: Size', 'L')
  await visitor.press('Add', { within: 'Size' })
  // Enter in the field for all variants sets all, and does not save.
  await visitor.fill('Value', '12')
  await visitor.key('Enter')
  expect(await visitor.value('Price (USD)', { within: 'L' })).toBe('12')
  await visitor.press('Remove S', { within: 'Size' })
  await visitor.press('Remove M', { within: 'Size' })
  await visitor.text('2 variants will be deleted when you save')
  await visitor.press('Keep M')
  await visitor.text('1 variant will be deleted when you save')
  await visitor.press('Remove M', { within: 'Size' })
  await visitor.press('Save')
  await visitor.press('Delete and save')
  await visitor.notice('Saved')
  const saved = ok(await shop.get(`/product-v2/${cap.id}`)).body
  expect([saved.options[0].values, saved.variants.map(({ title, price }: { title: string; price: object }) => [title, price])]).toEqual([
    ['L'],
    [['L', usd(1_200)]],
  ])
  expect(await visitor.page.evaluate(`dispatchEvent(new Event('beforeunload', { cancelable: true }))`)).toBe(true)
})

test('a pasted text that is too long shows that it was truncated', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/new` })
  await visitor.heading('Add product')
  await visitor.tabTo('Title')
  await visitor.page.evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text', 'x'.repeat(300))
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }))
  }`)
  await visitor.type('x'.repeat(300))
  await visitor.text('Limited to 255 characters; the rest was cut off.')
  await visitor.key('Backspace')
  await visitor.gone('It was cut')
})

test('a product is archived, and restored by undo', async ({ open, shop }) => {
  const lamp = await shop.add({ title: 'Lamp', variants: [{ price: usd(100) }] })
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${lamp.id}` })
  await visitor.heading('Lamp')
  await visitor.press('Archive')
  await visitor.text('Product archived')
  expect(ok(await shop.get(`/product-v2/${lamp.id}`)).body.status).toBe('ARCHIVED')
  await visitor.press('Undo')
  await visitor.there('Archive', { role: 'button' })
  expect(ok(await shop.get(`/product-v2/${lamp.id}`)).body.status).toBe('ACTIVE')
})

test('a product is duplicated and deleted, on a phone too', async ({ open, shop }) => {
  const lamp = await shop.add({ title: 'Lamp of glass', tags: ['glass'], variants: [{ price: usd(100), onHand: 4 }] })
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${lamp.id}`, width: 'phone' })
  await visitor.heading('Lamp of glass')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Duplicate')
  await visitor.text('Copy created as a draft')
  await visitor.heading('Lamp of glass (copy)')
  const [copy] = ok(await shop.get('/product-v2?q=glass&status=DRAFT')).body.data
  expect(copy).toMatchObject({ handle: 'lamp-of-glass-copy', tags: ['glass'], variants: [{ onHand: 0 }] })
  await visitor.press('Delete')
  await visitor.press('Delete', { within: 'Delete product?' })
  await visitor.text('Product deleted')
  await visitor.heading('Products')
  expect((await shop.get(`/product-v2/${copy.id}`)).status).toBe(404)
})

test('the list is sorted by its columns, and a view saves the order', async ({ open, shop }) => {
  await shop.add({ title: 'Sorted b', variants: [{ price: usd(300) }] })
  await shop.add({ title: 'Sorted a', variants: [{ price: usd(500) }] })
  await shop.add({ title: 'Sorted c', variants: [{ price: usd(400) }] })
  const path = `s/${shop.shop.name}/products`
  const visitor = await open({ as: shop, at: `${path}?q=sorted` })
  const rows = async () => (await visitor.all('rowheader')).map((row) => row.slice(-1)).join('')
  await visitor.text('3 results')
  expect(await rows()).toBe('cab')
  for (const [column, sort, order] of [
    ['Product', 'title', 'abc'],
    ['Price', 'price', 'bca'],
    ['Price', '-price', 'acb'],
    ['Price', '', 'cab'],
    ['Product', 'title', 'abc'],
  ] as const) {
    await visitor.press(new RegExp(`^${column}$`), { role: 'link' })
    await visitor.until(`(new URLSearchParams(location.search).get('sort') ?? '') === '${sort}'`, `sort=${sort}`)
    await visitor.until(
      `[...document.querySelectorAll('tbody th')].map((row) => row.innerText.trim().slice(-1)).join('') === '${order}'`,
      `the order ${order}`,
    )
  }
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Save view', { role: 'button' })
  await visitor.there('Save view', { role: 'dialog' })
  await visitor.keyFill('Name', 'By title')
  await visitor.key('Enter')
  await visitor.notice('Saved')
  expect(await visitor.page.evaluate(`localStorage['souk-console-views:/console/${path}']`)).toBe(
    JSON.stringify([{ name: 'By title', query: 'q=sorted&sort=title' }]),
  )
})

test('a bulk archive reports failures and keeps them selected', async ({ open, app, shop }) => {
  const products = []
  for (const title of ['Bulk one', 'Bulk two', 'Bulk three']) products.push(await shop.add({ title, variants: [{ price: usd(100) }] }))
  const manager = await staffOf(app, shop, 'MANAGER')
  const visitor = await open({ as: manager, at: `s/${shop.shop.name}/products?q=bulk` })
  await reloadWithoutEvents(visitor)
  await visitor.text('3 results')
  await visitor.press('Select all on this page')
  await visitor.press('Archive')
  await visitor.text('3 products set to Archived')
  expect(ok(await shop.get('/product-v2?q=bulk&status=ARCHIVED')).body.total).toBe(3)
  await visitor.press('Undo')
  await visitor.until(`document.querySelectorAll('td .state.good').length === 3`, 'three that are active')
  await visitor.press('Select Bulk one')
  await visitor.press('Select Bulk two')
  await visitor.text('2 selected')
  // The role changes during the edit.
  ok(await app.call('PATCH', `/shops/v2/staff/${manager.staffId}`, { token: shop.token, body: { role: 'READ_ONLY' } }))
  visitor.expects(/^PATCH \/product-v2\/prod_\w+ 403$/)
  await visitor.press('Set as draft')
  await visitor.text('2 products couldn’t be updated and are still selected.')
  expect(ok(await shop.get('/product-v2?q=bulk&status=DRAFT')).body.total).toBe(0)
})

/** A script for the page: the next changes wait until `letGo` is called. */
const holdChanges = `{
  const { promise, resolve } = Promise.withResolvers()
  const before = globalThis.fetch
  globalThis.letGo = resolve
  globalThis.fetch = async (request, ...more) => {
    if (request.method === 'PATCH') await promise
    return before(request, ...more)
  }
}`

test('a bulk change covers several pages and reports on any screen', async ({ open, shop }) => {
  const products = []
  for (const title of ['Many one', 'Many two', 'Many three']) products.push(await shop.add({ title, variants: [{ price: usd(100) }] }))
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products?q=many` })
  await visitor.press('Select Many one')
  await visitor.press('Set as active')
  await visitor.text('Already Active')
  await visitor.press('Select Many one')
  await visitor.press('Select Many two')
  await visitor.page.evaluate(holdChanges)
  await visitor.press('Archive')
  await visitor.text('0 of 2…')
  await visitor.press('Select Many three')
  await visitor.fill('Status', 'Active')
  await visitor.until(`location.search.includes('status=ACTIVE')`, 'another list')
  await visitor.text('0 of 2…')
  await visitor.page.evaluate('letGo()')
  await visitor.text('2 products set to Archived')
  // Boxes ticked in the meantime stay selected.
  await visitor.text('1 selected')

  await visitor.page.evaluate(holdChanges)
  await visitor.press('Set as draft')
  await visitor.text('0 of 1…')
  await visitor.press('Customers', { role: 'link' })
  await visitor.heading('Customers')
  visitor.expects(`PATCH /product-v2/${products[2]?.id} net::ERR_INTERNET_DISCONNECTED`)
  await visitor.offline(true)
  await visitor.page.evaluate('letGo()')
  await visitor.text('“Many three” couldn’t be updated')
  await visitor.offline(false)
})

test('a bulk change and its undo stay in their shop', async ({ open, app, shop }) => {
  const [one, two] = [await shop.add({ title: 'Moved one' }), await shop.add({ title: 'Moved two' })]
  const other = await shopIn(app)
  const managerOfBoth = await staffOf(app, shop, 'MANAGER')
  const { token } = await invitePerson(app, other, 'MANAGER', managerOfBoth.email)
  ok(await app.call('POST', '/auth/invitation', { body: { token, password: managerOfBoth.password } }))
  const visitor = await open({ as: managerOfBoth, at: `s/${shop.shop.name}/products?q=moved` })
  const openOtherShop = async () => {
    await visitor.page.evaluate(`history.pushState(null, '', '/console/s/${other.shop.name}/products')`)
    await visitor.page.evaluate(`dispatchEvent(new PopStateEvent('popstate'))`)
    await visitor.text('No products yet')
  }
  await visitor.press('Select all on this page')
  await visitor.page.evaluate(holdChanges)
  await visitor.press('Archive')
  await visitor.text('0 of 2…')
  await openOtherShop()
  await visitor.page.evaluate('letGo()')
  await visitor.text('2 products set to Archived')
  const statuses = () => Promise.all([one, two].map(async ({ id }) => (await shop.get(`/product-v2/${id}`)).body.status))
  expect(await statuses()).toEqual(['ARCHIVED', 'ARCHIVED'])
  await visitor.press('Undo')
  await pollUntilFound(async () => !(await statuses()).includes('ARCHIVED'))
  expect(await statuses()).toEqual(['ACTIVE', 'ACTIVE'])
})

test('stock is counted on a phone, updates while it is shown, and has a history', async ({ open, shop, data }) => {
  const [variant] = data.mug.variants
  const at = `s/${shop.shop.name}/products/${data.mug.id}/variants/${variant?.id}/stock`
  const visitor = await open({ as: shop, at, width: 'phone' })
  await visitor.heading('Inventory')
  await visitor.text('No adjustments yet')
  await visitor.keyFill('New quantity', '٧')
  await visitor.keyFill('Reason (optional)', 'Counted after the fair')
  await visitor.key('Enter')
  await visitor.text('Quantity is now 7')
  await visitor.text('Counted after the fair')
  await visitor.fill('Adjustment', 'Remove')
  await visitor.fill('Quantity', '2')
  await visitor.press('Adjust inventory', { role: 'button' })
  await visitor.text('Quantity is now 5')
  await visitor.press('Undo')
  await visitor.text('Undone')
  expect(await visitor.axe()).toEqual([])
  // Another user changes the record.
  ok(await shop.count(data.mug.id, variant?.id ?? '', { delta: -6 }))
  await visitor.until(`document.querySelector('.facts strong')?.textContent === '1'`, 'the current stock')
  visitor.expects(/^POST \/product-v2\/.*\/stock 409$/)
  await visitor.fill('Quantity', '9')
  await visitor.press('Adjust inventory', { role: 'button' })
  await visitor.text('The stock cannot fall below zero, because the variant does not allow backorders')
  // Leaving with unsaved input asks for confirmation.
  await visitor.press('Menu')
  await visitor.press('Low stock', { role: 'link' })
  await visitor.press('Leave')
  await visitor.heading('Low stock')
  await visitor.there(/^Mug/, { role: 'link' })
  expect(await visitor.axe()).toEqual([])
})

const csv = (rows: readonly string[]) => ['Handle,Title,Variant Price,Variant Inventory Qty', ...rows].join('\n')
test('an import is checked, run, and reports refused rows', async ({ open, shop }) => {
  const file = join(temporaryDir(), 'products.csv')
  writeFileSync(file, csv(['kettle,Kettle,12.50,3', 'pan,Pan,much,1', '"=x","=cmd",1,1']))
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/import` })
  await visitor.heading('Import products')
  await visitor.upload(/^Choose CSV file/, [file])
  await visitor.press('Preview import')
  await visitor.there('Preview', { role: 'region' })
  await visitor.text('Variant Price')
  expect(await visitor.axe()).toEqual([])
  expect(ok(await shop.get('/product-v2?q=kettle')).body.total).toBe(0)
  await visitor.press(/^Import \d products?$/)
  await visitor.there('Result', { role: 'region' })
  expect(await visitor.has('Nothing is imported yet')).toBe(false)
  expect(ok(await shop.get('/product-v2?q=kettle')).body.total).toBe(1)
  await visitor.press('View products')
  await visitor.there(/Kettle/, { role: 'link' })
})

test('an import without a network reports it and can be repeated', async ({ open, shop }) => {
  const file = join(temporaryDir(), 'products.csv')
  writeFileSync(file, csv(['teapot,Teapot,12.50,3']))
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/import`, width: 'phone' })
  await visitor.heading('Import products')
  await visitor.upload(/^Choose CSV file/, [file])
  await visitor.press('Preview import')
  await visitor.there('Preview', { role: 'region' })
  visitor.expects(/ERR_INTERNET_DISCONNECTED/)
  await visitor.offline(true)
  await visitor.press(/^Import \d products?$/)
  await visitor.text('No answer from the server')
  await visitor.offline(false)
  await visitor.press('Preview import')
  await visitor.press(/^Import \d products?$/)
  await visitor.there('Result', { role: 'region' })
  expect(await visitor.axe()).toEqual([])
  expect(ok(await shop.get('/product-v2?q=teapot')).body.total).toBe(1)
})

test('pictures are uploaded, sorted in a product and protected while it uses them', async ({ open, shop, data }) => {
  const folder = temporaryDir()
  const files = [1, 2].map((seed) => join(folder, `${seed}.png`))
  for (const [at, file] of files.entries()) writeFileSync(file, drawPng(64, 48, at + 1))
  const broken = join(folder, 'broken.png')
  writeFileSync(broken, 'no picture')
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${data.mug.id}` })
  await visitor.heading('Mug')
  visitor.expects('POST /media 415')
  await visitor.upload(/^Upload images/, [...files, broken])
  await visitor.until(`document.querySelectorAll('.ordered img').length === 2`, 'two pictures')
  await visitor.there(/^Remove: broken/, { role: 'button' })
  await visitor.press(/^Remove: broken/)
  await visitor.tabTo('Move Image 2')
  await visitor.key('ArrowLeft')
  await visitor.text('moved to position 1 of 2')
  await visitor.upload(/^Upload images/, files.slice(0, 1))
  await visitor.there('1.png is already added.', {})
  expect(await visitor.axe()).toEqual([])
  await visitor.fill('Alt text', 'A mug')
  expect(await visitor.all('combobox')).not.toContain('Image')
  await visitor.press('Save')
  await visitor.notice('Saved')
  const { images } = ok(await shop.get(`/product-v2/${data.mug.id}`)).body
  expect(images.map(({ alt }: { alt: string | null }) => alt)).toEqual(['A mug', null])

  await visitor.go(`s/${shop.shop.name}/pictures`)
  await visitor.heading('Images')
  await visitor.until(`document.querySelectorAll('.gallery img').length === 2`, 'two pictures')
  expect(await visitor.axe()).toEqual([])
  await visitor.upload(/^Upload images/, files.slice(1))
  await visitor.there('2.png was already uploaded.', {})
  expect(await visitor.page.evaluate(`document.querySelectorAll('.gallery img').length`)).toBe(2)
  visitor.expects(/^DELETE \/media\/\w+ 409$/)
  await visitor.press(/^Delete image of/)
  await visitor.press('Delete')
  await visitor.text(`Product ${data.mug.id} uses this picture`)
})

test('a collection is ordered by keyboard', async ({ open, shop, data }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/collections/new` })
  await visitor.heading('Create collection')
  await visitor.keyFill('Title', 'Table')
  await visitor.keyFill('Add products', 'mug')
  const isFound = `document.querySelectorAll('[role=option]').length === 1`
  await visitor.until(isFound, 'one product')
  await visitor.key('Enter')
  await visitor.key('Control+a')
  await visitor.type('shirt')
  await visitor.until(`${isFound} && document.querySelector('[role=option]').innerText.startsWith('Shirt')`, 'another product')
  await visitor.key('Enter')
  await visitor.key('Escape')
  await visitor.keyPress('Move Shirt', { key: 'ArrowUp' })
  await visitor.text('Shirt moved to position 1 of 2')
  await visitor.keyboardAt('Move Shirt')
  // Moves it back by dragging, and once more.
  for (const [name, order] of [
    ['Move Shirt', ['Mug', 'Shirt']],
    ['Move Shirt', ['Shirt', 'Mug']],
  ] as const) {
    await drag(visitor, name, order[0] === 'Mug' ? 60 : -60)
    await visitor.until(
      `[...document.querySelectorAll('.ordered .cut')].map((one) => one.innerText).join() === '${order.join()}'`,
      order.join(),
    )
  }
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Create collection')
  await visitor.heading('Table')
  const id = (await visitor.path()).split('/').at(-1) ?? ''
  expect(ok(await shop.get(`/collection-v2/${id}`)).body.productIds).toEqual([data.shirt.id, data.mug.id])
  // Sets a position by its number, and causes a conflict.
  ok(await shop.patch(`/collection-v2/${id}`, { title: 'Tables' }))
  await visitor.fill('Position of Shirt', '2')
  await visitor.key('Enter')
  visitor.expects(`PUT /collection-v2/${id}/products 412`)
  await visitor.press('Save')
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.press('Overwrite with mine')
  await visitor.notice('Saved')
  const now = ok(await shop.get(`/collection-v2/${id}`)).body
  expect([now.title, now.productIds]).toEqual(['Tables', [data.mug.id, data.shirt.id]])
  await visitor.press('Delete')
  await visitor.press('Delete', { within: 'Delete collection?' })
  await visitor.heading('Collections')
  expect((await shop.get(`/collection-v2/${id}`)).status).toBe(404)
})

test('a read-only role sees the catalog without edit controls', async ({ open, app, shop, data }) => {
  const reader = await staffOf(app, shop, 'READ_ONLY')
  const visitor = await open({ as: reader, at: `s/${shop.shop.name}/products/${data.shirt.id}` })
  await visitor.heading('Shirt')
  expect(await visitor.all('textbox')).toEqual([])
  expect(await visitor.has('Save')).toBe(false)
  expect(await visitor.axe()).toEqual([])
  await visitor.press('S', { role: 'link' })
  await visitor.heading('Inventory')
  expect(await visitor.has('Adjust inventory')).toBe(false)
  await visitor.back()
  await visitor.heading('Shirt')
  await visitor.go(`s/${shop.shop.name}/products/new`)
  await visitor.text('You don’t have permission')
  await visitor.go(`s/${shop.shop.name}/collections/${data.shelf.id}`)
  await visitor.there('Products', { role: 'region' })
  expect(await visitor.axe()).toEqual([])
  visitor.expects(/^GET \/collection-v2\/new 4\d\d$/)
  await visitor.go(`s/${shop.shop.name}/collections/new`)
  await visitor.there(/Something went wrong/, {})
  expect(await visitor.has('Create collection')).toBe(false)
  await visitor.go(`s/${shop.shop.name}/pictures`)
  await visitor.heading('Images')
  expect([await visitor.has('Upload images'), await visitor.has('Export CSV')]).toEqual([false, false])
  expect((await visitor.all('button')).filter((name) => name.startsWith('Delete image'))).toEqual([])
})

test('a product is added to collections on its page, and opens in the storefront', async ({ open, app, shop }) => {
  const { id } = await shop.add({ title: 'Bowl', handle: 'bowl', variants: [{ price: usd(500) }] })
  const gifts = ok(await shop.post('/collection-v2', { title: 'Gifts' })).body
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/products/${id}` })
  await visitor.heading('Bowl')
  expect(await visitor.has('View in shop')).toBe(false)
  await visitor.keyFill('Add to collection', 'gif')
  await visitor.there('Gifts gifts', { role: 'option' })
  await visitor.key('Enter')
  await visitor.there('Remove: Gifts', { role: 'button' })
  const inGifts = async () => (await shop.get(`/collection-v2/${gifts.id}`)).body.productIds
  expect(await inGifts()).toEqual([id])
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Remove: Gifts', { role: 'button' })
  await visitor.text('Removed from Gifts')
  expect(await inGifts()).toEqual([])
  await visitor.press('Undo', { role: 'button' })
  await visitor.there('Remove: Gifts', { role: 'button' })
  const setPage = (product: string | null) => app.call('PATCH', '/shops/v2', { token: shop.token, body: { pages: { product } } })
  ok(await setPage('https://bowls.example/product'))
  await visitor.go(`s/${shop.shop.name}/products/${id}`)
  await visitor.there('View in shop', { role: 'link' })
  const href = await visitor.page.evaluate(
    `[...document.querySelectorAll('a')].find((link) => link.target === '_blank' && link.href.includes('bowl')).href`,
  )
  expect(href).toBe('https://bowls.example/product?handle=bowl')
  ok(await setPage(null))
})

test('hostile texts do not break the layout, run scripts or load anything', async ({ open, shop, data }) => {
  const name = shop.shop.name
  const [variant] = data.odd.variants
  for (const width of ['desk', 'phone'] as const) {
    const visitor = await open({ as: shop, at: `s/${name}/products`, width, language: width === 'phone' ? 'ar' : 'en' })
    const paths = [
      `s/${name}/products`,
      `s/${name}/products/${data.odd.id}`,
      `s/${name}/products/${data.odd.id}/variants/${variant?.id}/stock`,
      `s/${name}/products/low-stock`,
      `s/${name}/collections`,
      `s/${name}/collections/${data.shelf.id}`,
    ]
    // A narrow screen overflows first, so on a desktop the two fullest pages suffice.
    for (const path of width === 'phone' ? paths : paths.slice(0, 2)) {
      await visitor.go(path)
      await visitor.until(
        `location.pathname.endsWith('${path}') && document.querySelector('main h1') && !document.querySelector('.skeleton')`,
        path,
      )
      await visitor.settled()
      for (const preview of await visitor.all('button'))
        if (/^(Preview|معاينة)$/.test(preview)) await visitor.press(preview, { role: 'button' })
      expect([path, await visitor.axe()]).toEqual([path, []])
    }
  }
})
