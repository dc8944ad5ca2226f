/** Tests draft orders and the home page, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { browserOn, formOf } from '../support/drafts.ts'
import { ok, type Selling, sellingIn } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = 'A‮ "><img src=x onerror=alert(1)> <b>bold</b> '
const long = (length: number) => (evil + 'W'.repeat(length)).slice(0, length)

const { test } = consoleTests({
  fill: async ({ app }) => {
    const selling = await sellingIn(app, { onHand: 1_000 })
    const cap = await selling.add({ title: 'Watch Cap', variants: [{ sku: 'CAP-1', price: selling.money(3_200), onHand: 4 }] })
    return { selling, cap }
  },
})
/** The tests with mail settings. No mail server listens, because the tests need only the controls. */
const { test: testWithMails } = consoleTests({
  settings: { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'shop@souk.example' },
  fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 10 }) }),
})
const at = ({ shop }: Selling, rest = '') => `s/${shop.name}${rest}`
const drafts = async (selling: Selling) => ok(await selling.get('/v2/orders/drafts')).body.data

test('a draft is created by keyboard only, with a changed price', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: at(selling, '/orders/drafts') })
  await visitor.heading('Draft orders')
  await visitor.keyPress('Create draft order', { role: 'link' })
  await visitor.heading('Create draft order')
  await visitor.tabTo('Add products')
  await visitor.type('cap')
  await visitor.until(`document.querySelectorAll('[role=option]').length === 1`, 'the one that was found')
  await visitor.key('Enter')
  await visitor.key('Escape')
  await visitor.keyFill('Quantity', '5')
  await visitor.text('Not enough in stock')
  await visitor.keyFill('Quantity', '2')
  await visitor.gone('Not enough in stock')
  await visitor.keyFill('Unit price (USD)', '25.5')
  await visitor.keyFill('Email', 'robin@example.com')
  await visitor.text('$51.00')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Save draft', { role: 'button' })
  await visitor.heading('robin@example.com')
  const [draft] = await drafts(selling)
  expect(draft).toMatchObject({ email: 'robin@example.com', lines: [{ quantity: 2, unitPrice: selling.money(2_550) }], settled: ['email'] })
  expect(await visitor.path()).toBe(`/console/${at(selling)}/orders/drafts/${draft.id}`)
  await visitor.text(draft.payUrl)
  await visitor.text('Shipping and tax are calculated from the shipping address.')
  expect(await visitor.has('$0.00')).toBe(false)
  expect(await visitor.axe()).toEqual([])
})

test('two editors of a draft see the conflict', async ({ open, data: { selling } }) => {
  const { id } = ok(await selling.post('/v2/orders/drafts', { lines: [{ variantId: selling.variantId, quantity: 1 }], note: 'first' })).body
  const visitor = await open({ as: selling, at: at(selling, `/orders/drafts/${id}`), width: 'phone', scheme: 'dark' })
  await visitor.fill('Note', 'mine')
  ok(await selling.patch(`/v2/orders/drafts/${id}`, { note: 'theirs' }))
  visitor.expects(`PATCH /v2/orders/drafts/${id} 412`)
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.text('theirs')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Overwrite with mine')
  await visitor.there(/^Saved/, {})
  expect(ok(await selling.get(`/v2/orders/drafts/${id}`)).body.note).toBe('mine')
  await visitor.press('Delete draft')
  await visitor.there('Delete draft?', { role: 'dialog' })
  await visitor.press('Delete', { role: 'button', within: 'Delete draft?' })
  await visitor.heading('Draft orders')
  expect((await selling.get(`/v2/orders/drafts/${id}`)).status).toBe(404)
})

test('invalid values and API errors of a draft are shown', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: at(selling, '/orders/drafts/new') })
  await visitor.heading('Create draft order')
  await visitor.press('Save draft')
  await visitor.there(/Add at least one product/, {})
  await visitor.press('Add products')
  await visitor.press(/Mug/, { role: 'option' })
  await visitor.key('Escape')
  await visitor.fill('Unit price (USD)', '1.234')
  await visitor.press('Save draft')
  await visitor.there(/Enter a valid price/, {})
  await visitor.fill('Unit price (USD)', '1.20')
  await visitor.fill('Shipping address', 'Enter now')
  await visitor.fill('Name', 'Noor')
  await visitor.fill('Address', '1 Quay Street')
  await visitor.fill('City', 'Portland')
  await visitor.fill('Discount code', 'NOSUCHCODE')
  visitor.expects(/POST \/v2\/orders\/drafts 4\d\d/)
  await visitor.press('Save draft')
  await visitor.until(`document.querySelector('.problem, .toast.bad') !== null`, 'an error')
  expect(await visitor.value('Name')).toBe('Noor')
  await visitor.fill('Discount code', '')
  await visitor.press('Save draft')
  await visitor.text('Payment link')
  expect((await drafts(selling))[0]).toMatchObject({ settled: ['shippingAddress'], shippingAddress: { name: 'Noor', countryCode: 'US' } })
})

testWithMails(
  'unsaved changes stay after the payer began, and a draft is not mailed before it is saved',
  async ({ open, app, data: { selling } }) => {
    const lines = [{ variantId: selling.variantId, quantity: 1 }]
    const draft = ok(await selling.post('/v2/orders/drafts', { lines, email: 'ann@example.com' }), 201).body
    const visitor = await open({ as: selling, at: at(selling, `/orders/drafts/${draft.id}`) })
    await visitor.heading('ann@example.com')
    await visitor.fill('Note', 'mine')
    await visitor.press('Email payment link')
    await visitor.text('Save or discard your changes first.')
    const { look, send } = browserOn(app, draft.payUrl)
    await look()
    ok(await selling.checkout(draft.cartId, { paymentToken: 'tok_action' }))
    await visitor.text('This draft is no longer open, so your changes can’t be saved.')
    expect(await visitor.value('Note')).toBe('mine')
    await visitor.press('Save', { role: 'button' })
    await visitor.until(`document.querySelector('.problem, .toast.bad') !== null`, 'an error')
    expect(await visitor.value('Note')).toBe('mine')
    expect(ok(await selling.get(`/v2/orders/drafts/${draft.id}`)).body.note).toBeNull()
    // After going back, the draft and the form are open again.
    await send(formOf(await look(), 'back'))
    await visitor.gone('Discard')
    await visitor.press('Save', { role: 'button' })
    await visitor.there(/^Saved/, {})
    expect(ok(await selling.get(`/v2/orders/drafts/${draft.id}`)).body.note).toBe('mine')
  },
)

test('a read-only role sees drafts without edit controls', async ({ open, app, data: { selling } }) => {
  const lines = [{ variantId: selling.variantId, quantity: 1 }]
  const { id } = ok(await selling.post('/v2/orders/drafts', { lines, email: 'seen@example.com', note: 'by telephone' }), 201).body
  for (const role of ['READ_ONLY', 'FULFILMENT'] as const) {
    const visitor = await open({ as: await staffOf(app, selling, role), at: at(selling, '/orders/drafts') })
    await visitor.there('seen@example.com', { role: 'link' })
    expect([await visitor.has('Create draft order'), await visitor.has('Export CSV')]).toEqual([false, false])
    await visitor.go(at(selling, `/orders/drafts/${id}`))
    await visitor.heading('seen@example.com')
    await visitor.text('by telephone')
    expect(await visitor.axe()).toEqual([])
    for (const offered of ['Save', 'Email payment link', 'Delete draft', 'Expired. Create a new draft'])
      expect([offered, await visitor.has(offered)]).toEqual([offered, false])
  }
})

test('hostile texts in a draft are shown as text', async ({ open, data: { selling } }) => {
  const hostile = await selling.add({ title: long(255), variants: [{ sku: long(100), price: selling.money(500), onHand: 9 }] })
  const variantId = hostile.variants[0]?.id ?? ''
  const shippingAddress = { name: long(200), company: long(200), line1: long(200), line2: long(200), city: long(100), countryCode: 'US' }
  const body = { lines: [{ variantId, quantity: 1 }], email: `${'w'.repeat(64)}@example.com`, note: long(2_000), shippingAddress }
  const { id } = ok(await selling.post('/v2/orders/drafts', body)).body
  const visitor = await open({ as: selling, at: at(selling, `/orders/drafts/${id}`), width: 'phone', scheme: 'dark' })
  await visitor.text('<b>bold</b>')
  expect(await visitor.axe()).toEqual([])
  await visitor.width('desk')
  await visitor.scheme('light')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Draft orders', { role: 'link' })
  await visitor.heading('Draft orders')
  await visitor.until(`!document.querySelector('.skeleton')`, 'the list')
  expect(await visitor.axe()).toEqual([])
})

test('home updates with a new order, and its period is in the URL', async ({ open, app }) => {
  const selling = await sellingIn(app, { onHand: 100 })
  const visitor = await open({ as: selling, at: at(selling) })
  await visitor.text('$0.00')
  await visitor.text('Setup guide')
  expect(await visitor.axe()).toEqual([])
  await selling.placeOrder({ quantity: 2 })
  await visitor.text('$20.00')
  await visitor.text('order to fulfil')
  await visitor.keyPress('Last 7 days', { role: 'link' })
  await visitor.until(`location.search === '?days=7'`, 'seven days')
  await visitor.keyPress('Custom', { role: 'link' })
  await visitor.fill('From', '2020-01-01')
  visitor.expects(/GET \/shops\/v2\/overview.* 400/)
  await visitor.until(`document.querySelector('.problem, .toast.bad') !== null`, 'an error')
  await visitor.back()
  await visitor.text('$20.00')
  await visitor.press(/order to fulfil/, { role: 'link' })
  await visitor.heading('Orders')
  expect(await visitor.path()).toBe(`/console/${at(selling)}/orders?toFulfil=true`)
})

test('home is readable on a phone, right to left, in dark mode', async ({ open, data: { selling } }) => {
  await selling.placeOrder()
  const visitor = await open({ as: selling, at: at(selling), width: 'phone', scheme: 'dark', language: 'ar' })
  await visitor.text('يتطلب الانتباه')
  expect(await visitor.axe()).toEqual([])
  await visitor.go(at(selling, '/orders'))
  await visitor.heading('الطلبات')
  expect(await visitor.axe()).toEqual([])
})

test('the home page uses the server’s dates', async ({ open, app }) => {
  const selling = await sellingIn(app, { onHand: 100 })
  await selling.placeOrder({ quantity: 4 })
  const visitor = await open({ as: selling, at: `${at(selling)}?days=7`, clockOffMs: 20 * 86_400_000 })
  await visitor.text('$40.00')
})
