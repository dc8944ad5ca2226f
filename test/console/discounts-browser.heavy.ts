/** Tests discounts, partners and articles in the console, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { temporaryDir } from '../support/database.ts'
import { reloadWithoutEvents } from '../support/lost-response.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = 'A "><img src=x onerror=alert(1)> <b>bold</b> '
const long = (length: number) => (evil + 'W'.repeat(length)).slice(0, length)
/** A picture of one pixel. */
const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

const { test } = consoleTests({
  fill: async ({ shop }) => ({
    mug: await shop.add({ title: 'Mug' }),
    cup: await shop.add({ title: `\u202e${long(200)}` }),
  }),
})

test('a discount is created by keyboard only, for products that are found by typing', async ({ open, shop, data: { mug } }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/discounts` })
  await visitor.heading('Discounts')
  await visitor.keyPress('Create discount', { role: 'link' })
  await visitor.heading('Create discount')
  await visitor.keyFill('Title', 'Spring')
  await visitor.keyFill('Percentage', '100.5')
  await visitor.keyFill('Discount code', 'SPRING')
  await visitor.tabTo('Products')
  await visitor.type('mug')
  await visitor.there('Mug mug', { role: 'option' })
  await visitor.key('Enter')
  await visitor.there('Remove: Mug', { role: 'button' })
  await visitor.key('Escape')
  await visitor.keyFill('Total number of uses', '5')
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.text('Enter a percentage from 0.01 to 100')
  await visitor.keyFill('Percentage', '12,5')
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

test('a discount is changed on a phone during another change, and its end is in the shop’s time zone', async ({ open, shop, data }) => {
  const created = await shop.post('/discounts', {
    title: long(255),
    code: 'TWICE',
    kind: 'FIXED',
    amount: usd(500),
    productIds: [data.cup.id],
  })
  const { id } = created.body
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/discounts/${id}`, width: 'phone', scheme: 'dark' })
  await visitor.until("document.querySelector('main form') !== null", 'the form')
  expect(await visitor.axe()).toEqual([])
  await visitor.fill(/^Discount value/, '7.50')
  await visitor.fill('End date', '2031-02-03T04:05')
  await shop.patch(`/discounts/${id}`, { title: 'Theirs' })
  visitor.expects(`PATCH /discounts/${id} 412`)
  await visitor.press('Save')
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.there('$7.50', { role: 'cell' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Show latest version')
  await visitor.heading('Theirs')
  expect(await visitor.value(/^Discount value/)).toBe('5.00')
  await visitor.fill(/^Discount value/, '7.50')
  await visitor.fill('End date', '2031-02-03T04:05')
  await visitor.press('Save')
  await visitor.notice('Saved')
  const { timeZone } = (await shop.get('/shops/v2')).body as { timeZone?: string }
  expect([undefined, 'UTC']).toContain(timeZone)
  expect((await shop.get(`/discounts/${id}`)).body).toMatchObject({ title: 'Theirs', amount: usd(750), endsAt: '2031-02-03T04:05:00.000Z' })
  await visitor.press('Delete')
  await visitor.press('Delete', { within: 'Delete discount?' })
  await visitor.heading('Discounts')
  expect((await shop.get(`/discounts/${id}`)).status).toBe(404)
})

test('a taken code shows souk’s error, and keeps the typed values', async ({ open, shop }) => {
  await shop.post('/discounts', { title: 'One', code: 'TAKEN', kind: 'FREE_SHIPPING' })
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/discounts/new` })
  await visitor.heading('Create discount')
  await visitor.fill('Title', 'Two')
  await visitor.fill('Type', 'Free shipping')
  await visitor.fill('Discount code', 'taken')
  visitor.expects('POST /discounts 409')
  await visitor.press('Create')
  await visitor.text('another discount has this code')
  expect([await visitor.value('Title'), await visitor.value('Discount code')]).toEqual(['Two', 'taken'])
  await visitor.fill('Discount code', 'FREE')
  await visitor.press('Create')
  await visitor.heading('Two')
})

test('a partner is created and changed by keyboard', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/affiliates`, width: 'phone' })
  await visitor.heading('Affiliates')
  await visitor.keyPress('Add affiliate', { role: 'link' })
  await visitor.there('Add affiliate', { role: 'dialog' })
  await visitor.type('Slow Kitchen')
  await visitor.keyFill('Referral code', 'slow')
  await visitor.keyFill('Commission (%)', '7.5')
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.there('Slow Kitchen', { role: 'link' })
  await visitor.keyPress('Slow Kitchen', { role: 'link' })
  await visitor.there('Edit affiliate', { role: 'dialog' })
  await visitor.until("document.querySelector('dialog form') !== null", 'the form')
  await visitor.keyFill('Commission (%)', '0')
  await visitor.tabTo('Active')
  await visitor.key('Space')
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.gone('Edit affiliate')
  await visitor.text('Disabled')
  expect((await shop.get('/affiliates')).body.data).toMatchObject([{ name: 'Slow Kitchen', code: 'slow', rateBps: 0, active: false }])
  expect(await visitor.axe()).toEqual([])
})

test('an article with hostile HTML and a cover is saved without running it, published, and deleted after a confirmation', async ({
  open,
  shop,
}) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/blog` })
  await visitor.heading('Blog')
  await visitor.keyPress('New post', { role: 'link' })
  await visitor.heading('New post')
  await visitor.keyFill('Title', 'Brass')
  await visitor.keyPress('Edit HTML', { role: 'button' })
  await visitor.keyFill(
    'Content',
    `<p>Seen</p><script>alert(1)</script><img src="https://other.example/x.png" onerror="alert(2)"><a href="javascript:alert(3)">link</a>`,
  )
  await visitor.keyFill('Tags', 'care')
  await visitor.fill('Status', 'Published')
  const file = join(temporaryDir(), 'dot.png')
  writeFileSync(file, dot)
  await visitor.upload(/^Add image/, [file])
  await visitor.there('Remove image', { role: 'button' })
  await visitor.there('Preview of the content', { role: 'region' })
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Create', { role: 'button' })
  await visitor.heading('Brass')
  await visitor.text('Some unsafe HTML was removed')
  const id = (await visitor.path()).split('/').at(-1) ?? ''
  const { body } = await shop.get(`/blogs/${id}`)
  expect(body).toMatchObject({ title: 'Brass', slug: 'brass', status: 'PUBLISHED', tags: ['care'], publishedAt: expect.any(String) })
  expect(body.coverImage).toContain('/media/')
  expect(body.bodyHtml).not.toContain('script')
  await visitor.press('Delete')
  await visitor.press('Delete', { within: 'Delete post?' })
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
  await reloadWithoutEvents(visitor)
  await visitor.heading('Create discount')
  await visitor.fill('Title', 'Mine')
  await visitor.fill('Percentage', '5')
  await visitor.fill('Discount code', 'MINE')
  expect((await app.call('PATCH', `/shops/v2/staff/${manager.staffId}`, { token: shop.token, body: { role: 'READ_ONLY' } })).status).toBe(
    200,
  )
  visitor.expects('POST /discounts 403')
  await visitor.press('Create')
  await visitor.text('Something went wrong')
  expect(await visitor.value('Discount code')).toBe('MINE')
})

test('a dialog has a URL: back closes it and forward opens it', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/affiliates` })
  await visitor.heading('Affiliates')
  await visitor.press('Add affiliate', { role: 'link' })
  await visitor.there('Add affiliate', { role: 'dialog' })
  await visitor.back()
  await visitor.until("document.querySelector('dialog') === null", 'no window')
  await visitor.forward()
  await visitor.there('Add affiliate', { role: 'dialog' })
  await visitor.key('Escape')
  await visitor.until("document.querySelector('dialog') === null && location.search === ''", 'no window')
})
