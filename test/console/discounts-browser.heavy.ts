/** Discounts, partners and articles at the console, in a real browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { hearsNothing } from '../support/lost-response.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = 'A "><img src=x onerror=alert(1)> <b>bold</b> '
const long = (length: number) => (evil + 'W'.repeat(length)).slice(0, length)
/** One dot. */
const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

const { test } = consoleTests({
  fill: async ({ shop }) => ({
    mug: await shop.add({ title: 'Mug' }),
    cup: await shop.add({ title: `\u202e${long(200)}` }),
  }),
})

test('a discount is made by the keyboard alone, for products that are found by typing', async ({ open, shop, data: { mug } }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/discounts` })
  await visitor.heading('Discounts')
  await visitor.keyPress('New discount', { role: 'link' })
  await visitor.heading('New discount')
  await visitor.keyFill('Name', 'Spring')
  await visitor.keyFill('Percent off', '100.5')
  await visitor.keyFill('Code', 'SPRING')
  await visitor.tabTo('Products')
  await visitor.type('mug')
  await visitor.there('Mug mug', { role: 'option' })
  await visitor.key('Enter')
  await visitor.there('Remove: Mug', { role: 'button' })
  await visitor.key('Escape')
  await visitor.keyFill('For so many orders', '5')
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.text('Not a percentage from 0.01 to 100')
  await visitor.keyFill('Percent off', '12,5')
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.heading('Spring')
  const id = (await visitor.path()).split('/').at(-1) ?? ''
  expect((await shop.get(`/discounts/${id}`)).body).toMatchObject({
    title: 'Spring',
    code: 'SPRING',
    valueBps: 1_250,
    productIds: [mug.id],
    collectionIds: null,
    usageLimit: 5,
    status: 'ACTIVE',
  })
  await visitor.there('Remove: Mug', { role: 'button' })
  expect(await visitor.axe()).toEqual([])
})

test('a discount is changed on a phone while somebody else changes it, and its end is by the clock of the shop', async ({
  open,
  shop,
  data,
}) => {
  const made = await shop.post('/discounts', {
    title: long(255),
    code: 'TWICE',
    kind: 'FIXED',
    amount: usd(500),
    productIds: [data.cup.id],
  })
  const { id } = made.body
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/discounts/${id}`, width: 'phone', scheme: 'dark' })
  await visitor.until("document.querySelector('main form') !== null", 'the form')
  expect(await visitor.axe()).toEqual([])
  await visitor.fill(/^Amount off/, '7.50')
  await visitor.fill('Ends', '2031-02-03T04:05')
  await shop.patch(`/discounts/${id}`, { title: 'Theirs' })
  visitor.expects(`PATCH /discounts/${id} 412`)
  await visitor.press('Save')
  await visitor.there('Somebody else changed this meanwhile', { role: 'dialog' })
  await visitor.there('$7.50', { role: 'cell' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Show what is there now')
  await visitor.heading('Theirs')
  expect(await visitor.value(/^Amount off/)).toBe('5.00')
  await visitor.fill(/^Amount off/, '7.50')
  await visitor.fill('Ends', '2031-02-03T04:05')
  await visitor.press('Save')
  await visitor.text('Saved')
  const { timeZone } = (await shop.get('/shops/v2')).body as { timeZone?: string }
  expect([undefined, 'UTC']).toContain(timeZone)
  expect((await shop.get(`/discounts/${id}`)).body).toMatchObject({ title: 'Theirs', amount: usd(750), endsAt: '2031-02-03T04:05:00.000Z' })
  await visitor.press('Delete')
  await visitor.press('Delete', { within: 'Delete this discount?' })
  await visitor.heading('Discounts')
  expect((await shop.get(`/discounts/${id}`)).status).toBe(404)
})

test('a code that is taken is refused in souk’s words, and what was typed stays', async ({ open, shop }) => {
  await shop.post('/discounts', { title: 'One', code: 'TAKEN', kind: 'FREE_SHIPPING' })
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/discounts/new` })
  await visitor.heading('New discount')
  await visitor.fill('Name', 'Two')
  await visitor.fill('Kind', 'Free shipping')
  await visitor.fill('Code', 'taken')
  visitor.expects('POST /discounts 409')
  await visitor.press('Create')
  await visitor.text('another discount of the shop has it')
  expect([await visitor.value('Name'), await visitor.value('Code')]).toEqual(['Two', 'taken'])
  await visitor.fill('Code', 'FREE')
  await visitor.press('Create')
  await visitor.heading('Two')
})

test('a partner is made and changed by the keyboard', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/affiliates`, width: 'phone' })
  await visitor.heading('Affiliates')
  await visitor.keyPress('New partner', { role: 'link' })
  await visitor.there('New partner', { role: 'dialog' })
  await visitor.type('Slow Kitchen')
  await visitor.keyFill('Code', 'slow')
  await visitor.keyFill('Rate in percent', '7.5')
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.there('Slow Kitchen', { role: 'link' })
  await visitor.keyPress('Slow Kitchen', { role: 'link' })
  await visitor.there('Change the partner', { role: 'dialog' })
  await visitor.until("document.querySelector('dialog form') !== null", 'the form')
  await visitor.keyFill('Rate in percent', '0')
  await visitor.tabTo('Active')
  await visitor.key('Space')
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.gone('Change the partner')
  await visitor.text('Disabled')
  expect((await shop.get('/affiliates')).body.data).toMatchObject([{ name: 'Slow Kitchen', code: 'slow', rateBps: 0, active: false }])
  expect(await visitor.axe()).toEqual([])
})

test('an article is written with hostile HTML that is shown and never run, with a cover, published, and deleted after a question', async ({
  open,
  shop,
}) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/blog` })
  await visitor.heading('Blog')
  await visitor.keyPress('New article', { role: 'link' })
  await visitor.heading('New article')
  await visitor.keyFill('Title', 'Brass')
  await visitor.keyFill(
    'Text as HTML',
    `<p>Seen</p><script>alert(1)</script><img src="https://other.example/x.png" onerror="alert(2)"><a href="javascript:alert(3)">link</a>`,
  )
  await visitor.keyFill('Tags', 'care')
  await visitor.fill('Status', 'Published')
  const file = join(temporaryDir(), 'dot.png')
  writeFileSync(file, dot)
  await visitor.upload(/^Hand in a picture/, [file])
  await visitor.there('Take it away', { role: 'button' })
  await visitor.there('How the text looks', { role: 'region' })
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.heading('Brass')
  await visitor.text('souk took out of the text what it does not allow')
  const id = (await visitor.path()).split('/').at(-1) ?? ''
  const { body } = await shop.get(`/blogs/${id}`)
  expect(body).toMatchObject({ title: 'Brass', slug: 'brass', status: 'PUBLISHED', tags: ['care'], publishedAt: expect.any(String) })
  expect(body.coverImage).toContain('/media/')
  expect(body.bodyHtml).not.toContain('script')
  await visitor.press('Delete')
  await visitor.press('Delete', { within: 'Delete this article?' })
  await visitor.heading('Blog')
  expect((await shop.get(`/blogs/${id}`)).status).toBe(404)
})

test('leaving asks about unsaved input', async ({ open, shop }) => {
  const { body } = await shop.post('/blogs', {
    title: long(255),
    bodyHtml: `<p>${long(5_000)}</p>`,
    excerpt: long(2_000),
    tags: [long(255)],
  })
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/blog/${body.id}`, width: 'phone' })
  await visitor.until("document.querySelector('main form') !== null", 'the form')
  expect(await visitor.axe()).toEqual([])
  await visitor.fill('Author', 'Me')
  await visitor.press('Blog', { role: 'link' })
  await visitor.there('Leave without saving?', { role: 'dialog' })
  await visitor.press('Stay')
  expect(await visitor.value('Author')).toBe('Me')
  await visitor.press('Blog', { role: 'link' })
  await visitor.press('Leave')
  await visitor.heading('Blog')
})

test('a lost role shows an error and keeps the typed text', async ({ open, app, shop }) => {
  const manager = await staffOf(app, shop, 'MANAGER')
  const visitor = await open({ as: manager, at: `s/${shop.shop.name}/discounts/new` })
  await hearsNothing(visitor)
  await visitor.heading('New discount')
  await visitor.fill('Name', 'Mine')
  await visitor.fill('Percent off', '5')
  await visitor.fill('Code', 'MINE')
  expect((await app.call('PATCH', `/shops/v2/staff/${manager.staffId}`, { token: shop.token, body: { role: 'READ_ONLY' } })).status).toBe(
    200,
  )
  visitor.expects('POST /discounts 403')
  await visitor.press('Create')
  await visitor.text('That did not work')
  expect(await visitor.value('Code')).toBe('MINE')
})

test('a dialog has a URL: back closes it and forward opens it', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/affiliates` })
  await visitor.heading('Affiliates')
  await visitor.press('New partner', { role: 'link' })
  await visitor.there('New partner', { role: 'dialog' })
  await visitor.back()
  await visitor.until("document.querySelector('dialog') === null", 'no window')
  await visitor.forward()
  await visitor.there('New partner', { role: 'dialog' })
  await visitor.key('Escape')
  await visitor.until("document.querySelector('dialog') === null && location.search === ''", 'no window')
})
