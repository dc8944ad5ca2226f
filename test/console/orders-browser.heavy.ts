/** Tests orders in a browser: fulfilments, refunds, cancellations, filters and saved views. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { loseNextResponse, reloadWithoutEvents } from '../support/lost-response.ts'
import { manualRefundOf } from '../support/sandbox.ts'
import { address, ok, type Selling, sellingIn } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = 'A‮ "><img src=x onerror=alert(1)> <b>bold</b> '
const long = (length: number) => (evil + 'W'.repeat(length)).slice(0, length)

const { test } = consoleTests({
  fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 1_000 }) }),
})
const at = ({ shop }: Selling, rest = '') => `s/${shop.name}${rest}`
const buyUnits = async (selling: Selling, quantity = 3): Promise<{ id: string; number: number }> => {
  const { id, number } = await selling.placeOrder({ quantity })
  return { id, number }
}

test('an order is found, and fulfilled in parts by keyboard only', async ({ open, data: { selling } }) => {
  const { id, number } = await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, '/orders') })
  await visitor.heading('Orders')
  await visitor.keyPress(`#${number}`, { role: 'link' })
  await visitor.heading(`Order #${number}`)
  await visitor.keyPress('Fulfil', { role: 'link' })
  await visitor.there(`Fulfil order #${number}`, { role: 'dialog' })
  await visitor.keyFill(/^Quantity/, '2')
  await visitor.keyFill('Tracking number', 'PARCEL-1')
  await visitor.keyPress('Mark as fulfilled', { role: 'button' })
  await visitor.text('1 item unfulfilled')
  await visitor.text('PARCEL-1')
  const { fulfilmentStatus, fulfilments } = await selling.order(id)
  expect({ fulfilmentStatus, fulfilments }).toMatchObject({
    fulfilmentStatus: 'PARTIALLY_FULFILLED',
    fulfilments: [{ trackingNumber: 'PARCEL-1', carrier: null, lines: [{ quantity: 2 }] }],
  })
  expect(await visitor.path()).toBe(`/console/${at(selling)}/orders/${id}`)
  await visitor.go(at(selling, '/orders?fulfilmentStatus=PARTIALLY_FULFILLED'))
  await visitor.there(`#${number}`, { role: 'link' })
  expect(await visitor.has('Fulfilment')).toBe(true)
  expect(await visitor.all('cell')).toContain('Partially fulfilled')
  await visitor.press(`#${number}`, { role: 'link' })
  await visitor.text('PARCEL-1')
  // Fulfilments of other users appear without a reload.
  ok(await selling.post(`/v2/orders/${id}/fulfilments`, { trackingNumber: 'PARCEL-2' }))
  await visitor.text('PARCEL-2')
  expect(await visitor.axe()).toEqual([])
})

test('lines are refunded by keyboard on a phone, after a preview', async ({ open, data: { selling } }) => {
  const { id, number } = await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}`), width: 'phone', scheme: 'dark' })
  await visitor.heading(`Order #${number}`)
  await visitor.keyPress('Refund', { role: 'link' })
  await visitor.there(`Refund order #${number}`, { role: 'dialog' })
  await visitor.text('Select items or an amount to refund.')
  await visitor.keyFill(/^Quantity/, '4')
  await visitor.text('Enter a whole number up to 3')
  await visitor.keyFill(/^Quantity/, '1')
  await visitor.text('$20.00')
  expect(await visitor.axe()).toEqual([])
  await visitor.keyFill('Reason', 'Broken')
  // Escape does not discard the input without a confirmation.
  await visitor.key('Escape')
  await visitor.there('Leave without saving?', { role: 'dialog' })
  await visitor.press('Stay')
  await visitor.gone('Leave without saving?')
  await visitor.keyPress('Refund $10.00', { role: 'button' })
  await visitor.there(/\$10\.00 refunded/, {})
  expect((await selling.order(id)).refunds).toMatchObject([
    { amount: selling.money(1_000), reason: 'Broken', lines: [{ quantity: 1, restock: true }], status: 'SUCCEEDED' },
  ])
  await visitor.gone(`Refund order #${number}`)
})

test('a line that another person refunded is no longer refundable', async ({ open, data: { selling } }) => {
  const { id, number } = await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}?do=refund`) })
  await visitor.there(`Refund order #${number}`, { role: 'dialog' })
  await visitor.fill(/^Quantity/, '3')
  await visitor.there('Refund $30.00', { role: 'button' })
  const [line] = (await selling.order(id)).lines
  // The refund of the lines is below their price, so part of the order is still refundable.
  ok(await selling.refund(id, { lines: [{ lineId: line.id, quantity: 3 }] }))
  await visitor.text('Fully refunded')
  expect(await visitor.has('More than the refundable amount')).toBe(false)
})

test('the second of two concurrent refunds must be confirmed again', async ({ open, data: { selling } }) => {
  const { id, number } = await buyUnits(selling)
  const refunds = async () => (await selling.order(id)).refunds.length
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}?do=refund`) })
  visitor.expects(/409/)
  await visitor.there(`Refund order #${number}`, { role: 'dialog' })
  await visitor.press('Custom amount')
  await visitor.fill('Amount (USD)', '10')
  ok(await selling.refund(id, { amount: selling.money(1_000) }))
  await visitor.text('$10.00 of this order was refunded in the meantime')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Refund $10.00', { role: 'button' })
  await visitor.there('$10.00 of this order was refunded in the meantime', { role: 'dialog' })
  await visitor.press('Cancel', { role: 'button' })
  await visitor.gone('$10.00 of this order was refunded in the meantime')
  expect([await refunds(), await visitor.value('Amount (USD)')]).toEqual([1, '10'])
  // This also works without a live event.
  await visitor.page.evaluate(`{
    const before = globalThis.fetch
    globalThis.fetch = (request, options) => (new URL(request.url ?? request, location.origin).pathname === '/v2/events' ? new Promise(() => {}) : before(request, options))
  }`)
  ok(await selling.refund(id, { amount: selling.money(1_000) }))
  await visitor.press('Refund $10.00', { role: 'button' })
  await visitor.there('$10.00 of this order was refunded in the meantime', { role: 'dialog' })
  expect(await refunds()).toBe(2)
  await visitor.press('Refund $10.00', { role: 'button' })
  await visitor.there(/\$10\.00 refunded/, {})
  expect(await refunds()).toBe(3)
})

test('a fulfilment whose response was lost is recorded once, although fewer units are left', async ({ open, data: { selling } }) => {
  const { id, number } = await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}?do=send`) })
  await visitor.there(`Fulfil order #${number}`, { role: 'dialog' })
  await visitor.fill(/^Quantity/, '2')
  await loseNextResponse(visitor, '/fulfilments')
  await visitor.press('Mark as fulfilled', { role: 'button' })
  await visitor.text('No answer from the server')
  await visitor.text('of 1')
  await visitor.press('Mark as fulfilled', { role: 'button' })
  await visitor.gone(`Fulfil order #${number}`)
  expect((await selling.order(id)).fulfilments).toMatchObject([{ lines: [{ quantity: 2 }] }])
})

test('a refund whose response was lost is repeated unchanged, although less is refundable, and is made once', async ({
  open,
  data: { selling },
}) => {
  const { id, number } = await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}?do=refund`) })
  await visitor.there(`Refund order #${number}`, { role: 'dialog' })
  await visitor.press('Custom amount')
  await visitor.fill('Amount (USD)', '10')
  await loseNextResponse(visitor, '/refunds')
  await visitor.press('Refund $10.00', { role: 'button' })
  await visitor.text('No answer from the server')
  await visitor.text('$10.00 of this order was refunded in the meantime')
  await visitor.press('Refund $10.00', { role: 'button' })
  await visitor.there(/\$10\.00 refunded/, {})
  expect((await selling.order(id)).refunds).toHaveLength(1)
})

test('an amount is typed in major units, and one above the refundable amount is refused before it is sent', async ({
  open,
  data: { selling },
}) => {
  const { id, number } = await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}?do=refund`) })
  await visitor.there(`Refund order #${number}`, { role: 'dialog' })
  await visitor.press('Custom amount')
  await visitor.text('$30.00 available for refund')
  // An empty field shows no error.
  await visitor.text('Select items or an amount to refund.')
  expect(await visitor.has('Not an amount')).toBe(false)
  await visitor.fill('Amount (USD)', '30.01')
  await visitor.text('More than the refundable amount')
  await visitor.fill('Amount (USD)', 'ten')
  await visitor.press('Refund', { role: 'button' })
  await visitor.text('Enter an amount in USD')
  await visitor.fill('Amount (USD)', '0,05')
  visitor.expects(/ERR_INTERNET_DISCONNECTED/)
  await visitor.offline(true)
  await visitor.press('Refund $0.05', { role: 'button' })
  await visitor.text('No answer from the server')
  await visitor.offline(false)
  expect(await visitor.value('Amount (USD)')).toBe('0,05')
  await visitor.press('Refund $0.05', { role: 'button' })
  await visitor.there(/\$0\.05 refunded/, {})
  expect((await selling.order(id)).refunds).toMatchObject([{ amount: selling.money(5), lines: [] }])
})

test('the second of two concurrent fulfilments is refused', async ({ open, data: { selling } }) => {
  const { id, number } = await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}?do=send`) })
  await visitor.there(`Fulfil order #${number}`, { role: 'dialog' })
  // The record is not reloaded behind the form, so the input stays.
  ok(await selling.post(`/v2/orders/${id}/fulfilments`, {}))
  visitor.expects(`POST /v2/orders/${id}/fulfilments 409`)
  await visitor.press('Mark as fulfilled', { role: 'button' })
  await visitor.there(/Something went wrong/, {})
  await visitor.press('Close')
  await visitor.gone('Mark as fulfilled')
})

test('of two concurrent corrections of a tracking number the second sees the conflict', async ({ open, data: { selling } }) => {
  const { id } = await buyUnits(selling)
  const { id: parcel } = ok(await selling.post(`/v2/orders/${id}/fulfilments`, { trackingNumber: 'WRONG' })).body
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}`) })
  await visitor.press('Edit tracking: Shipment 1')
  await visitor.fill('Tracking number', 'MINE')
  const path = `/v2/orders/${id}/fulfilments/${parcel}`
  ok(await selling.patch(path, { trackingNumber: 'THEIRS' }))
  visitor.expects(`PATCH ${path} 412`)
  await visitor.press('Save', { role: 'button' })
  await visitor.there('Someone else changed this', { role: 'dialog' })
  await visitor.text('THEIRS')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Overwrite with mine')
  await visitor.text('MINE')
  expect((await selling.order(id)).fulfilments).toMatchObject([{ trackingNumber: 'MINE' }])
})

test('the tracking dialog focuses its first field', async ({ open, data: { selling } }) => {
  const { id } = await buyUnits(selling)
  ok(await selling.post(`/v2/orders/${id}/fulfilments`, { trackingNumber: 'WRONG' }))
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}`) })
  await visitor.keyPress('Edit tracking: Shipment 1')
  await visitor.keyboardAt('Tracking number', { role: 'textbox' })
  await visitor.key('Escape')
  await visitor.until(`!document.querySelector('dialog')`, 'no dialog')
  await visitor.keyboardAt('Edit tracking: Shipment 1')
})

test('an order is cancelled after a confirmation, which the back button closes', async ({ open, data: { selling } }) => {
  const { id, number } = await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, `/orders/${id}`) })
  await visitor.press('Cancel order', { role: 'link' })
  await visitor.there(`Cancel order #${number}?`, { role: 'dialog' })
  await visitor.text('$30.00 will be refunded')
  await visitor.back()
  await visitor.gone(`Cancel order #${number}?`)
  expect((await selling.order(id)).status).toBe('CONFIRMED')
  await visitor.press('Cancel order', { role: 'link' })
  await visitor.press('Cancel order', { role: 'button' })
  await visitor.there(/Order cancelled/, {})
  expect((await selling.order(id)).status).toBe('CANCELLED')
  await visitor.gone('Cancel order')
  await visitor.settled()
  expect(await visitor.page.evaluate(`document.querySelector('.subtitle').innerText`)).not.toContain('Unfulfilled')
})

test('refunds to be paid by hand are listed, and settled with a reference', async ({ open, data: { selling } }) => {
  const path = await manualRefundOf(selling)
  const visitor = await open({ as: selling, at: at(selling, '/orders/refunds?status=MANUAL'), width: 'phone' })
  await visitor.heading('Refunds')
  const [, refundedId = ''] = /orders\/([^/]+)/.exec(path) ?? []
  await visitor.there(`#${(await selling.order(refundedId)).number}`, { role: 'link' })
  expect(await visitor.axe()).toEqual([])
  await visitor.keyPress('Mark as paid', { role: 'link' })
  await visitor.keyFill('Payment reference', 'BANK-42')
  await visitor.keyPress('Mark as paid', { role: 'button' })
  await visitor.there(/Marked as paid/, {})
  expect((await selling.order(refundedId)).refunds).toMatchObject([{ status: 'SUCCEEDED', settledReference: 'BANK-42' }])
  await visitor.text('No refunds match.')
})

test('the dialog for a refund paid by hand stays open while the user types, even if another user has settled it', async ({
  open,
  data: { selling },
}) => {
  const [, orderId = ''] = /orders\/([^/]+)/.exec(await manualRefundOf(selling)) ?? []
  const [{ id }] = (await selling.order(orderId)).refunds
  const visitor = await open({ as: selling, at: at(selling, `/orders/refunds?status=MANUAL&do=settle&refund=${id}`) })
  await visitor.fill('Payment reference', 'MINE-1')
  ok(await selling.post(`/v2/orders/${orderId}/refunds/${id}/settled`, { reference: 'THEIRS-1' }, { 'idempotency-key': 'theirs' }))
  await visitor.text('No refunds match.')
  expect(await visitor.value('Payment reference')).toBe('MINE-1')
  visitor.expects(/^POST \/v2\/orders\/\S+\/settled 409$/)
  await visitor.press('Mark as paid', { role: 'button' })
  await visitor.there(/Something went wrong/, {})
})

test('order actions follow the role, and a lost role is reported', async ({ open, app, data: { selling } }) => {
  const { id, number } = await buyUnits(selling)
  const packer = await staffOf(app, selling, 'FULFILMENT')
  const visitor = await open({ as: packer, at: at(selling, `/orders/${id}`) })
  await visitor.heading(`Order #${number}`)
  await visitor.there('Fulfil', { role: 'link' })
  const actions = [...(await visitor.all('link', { within: `Order #${number}` })), ...(await visitor.all('button'))]
  expect(actions.filter((name) => /^(Refund|Cancel order|Add note)$/.test(name))).toEqual([])
  // A packer sees refunds to be paid by hand, but cannot settle them.
  await manualRefundOf(selling)
  await visitor.go(at(selling, '/orders/refunds?status=MANUAL'))
  await visitor.heading('Refunds')
  await visitor.there('Refunds', { role: 'table' })
  expect(await visitor.has('Mark as paid')).toBe(false)
  const manager = await staffOf(app, selling, 'MANAGER')
  const second = await open({ as: manager, at: at(selling, `/orders/${id}?do=refund`) })
  await reloadWithoutEvents(second)
  await second.press('Full remaining amount, including shipping')
  ok(await app.call('PATCH', `/shops/v2/staff/${manager.staffId}`, { token: selling.token, body: { role: 'READ_ONLY' } }))
  second.expects(/POST \/v2\/orders\/.*\/refunds 403/)
  await second.press('Refund $30.00', { role: 'button' })
  await second.there(/Something went wrong/, {})
  expect((await selling.order(id)).refunds).toEqual([])
})

test('hostile texts in an order are shown as text, and do not break the layout', async ({ open, data: { selling } }) => {
  const hostile = await selling.add({ title: long(255), variants: [{ sku: long(100), price: selling.money(500), onHand: 9 }] })
  const shippingAddress = { ...address, name: long(200), company: long(200), line1: long(200), city: long(100), phone: long(40) }
  const order = await selling.placeOrder({ variants: [hostile.variants[0]?.id ?? ''], shippingAddress, billingAddress: shippingAddress })
  ok(await selling.post(`/v2/orders/${order.id}/notes`, { text: long(1_000) }))
  ok(await selling.post(`/v2/orders/${order.id}/fulfilments`, { trackingNumber: long(100), carrier: long(100) }))
  ok(await selling.refund(order.id, { amount: selling.money(100), reason: long(500) }))
  const visitor = await open({ as: selling, at: at(selling, `/orders/${order.id}`), width: 'phone' })
  await visitor.heading(`Order #${order.number}`)
  await visitor.text('<b>bold</b>')
  expect(await visitor.axe()).toEqual([])
  await visitor.width('desk')
  await visitor.scheme('dark')
  expect(await visitor.axe()).toEqual([])
  await visitor.width('phone')
  for (const path of ['/orders', '/orders/refunds', '']) {
    await visitor.go(at(selling, path))
    await visitor.until(`document.querySelector('main h1') && !document.querySelector('.skeleton')`, path)
    expect([path, await visitor.axe()]).toEqual([path, []])
  }
})

test('an invalid filter in the URL is refused, and can be cleared', async ({ open, data: { selling } }) => {
  await buyUnits(selling)
  const visitor = await open({ as: selling })
  visitor.expects(/^GET \/v2\/orders\?status=NO_SUCH_STATE.* 400/)
  await visitor.go(at(selling, '/orders?status=NO_SUCH_STATE'))
  await visitor.until(`document.querySelector('.problem, .toast.bad') !== null`, 'an error')
  expect(await visitor.page.evaluate(`document.querySelector('.filters select').selectedOptions[0]?.text`)).toBe('All')
  await visitor.press('Clear filters')
  await visitor.there(/^#1/, { role: 'link' })
})

test('the cards of the home page fill their rows', async ({ open, data: { selling } }) => {
  await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, '') })
  await visitor.text('Top products')
  const ragged = `[...Map.groupBy(document.querySelectorAll('main .figure, main .card'), (one) => Math.round(one.getBoundingClientRect().top)).values()]
    .map((row) => row.map((one) => one.getBoundingClientRect()))
    .filter((row) => new Set(row.map(({ bottom }) => Math.round(bottom))).size > 1 ||
      Math.round(row.at(-1).right - row[0].left) < Math.round(document.querySelector('main .loaded').getBoundingClientRect().width)).length`
  expect(await visitor.page.evaluate(ragged)).toBe(0)
  expect(await visitor.axe()).toEqual([])
})

/** Script: the names of the visible filters. */
const visibleFilters = `[...document.querySelectorAll('.filter')].filter((one) => one.checkVisibility()).map((one) => one.firstChild.innerText)`

for (const language of ['en', 'ar', 'mn'] as const)
  test(`the list of orders shows all columns on a laptop in the language ${language}`, async ({ open, app }) => {
    const selling = await sellingIn(app)
    const { id, lines } = await selling.placeOrder({ quantity: 3 })
    ok(await selling.post(`/v2/orders/${id}/fulfilments`, { lines: [{ lineId: lines[0].id, quantity: 1 }] }))
    ok(await selling.refund(id, { amount: selling.money(1_000) }))
    const visitor = await open({ as: selling, at: at(selling, '/orders'), language })
    await visitor.there(/#1/, { role: 'link' })
    await visitor.settled()
    const hidden = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-box'))`
    expect(await visitor.page.evaluate(hidden)).toBe(0)
  })

test('on a phone, the filters of a list are collapsed unless one is set', async ({ open, data: { selling } }) => {
  await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, '/orders'), width: 'phone' })
  await visitor.there(/^#1/, { role: 'link' })
  expect(await visitor.page.evaluate(visibleFilters)).toEqual([])
  await visitor.keyPress('Filter', { role: 'button' })
  await visitor.fill('Status', 'Confirmed')
  await visitor.until(`location.search === '?status=CONFIRMED'`, 'the filter in the address')
  expect(await visitor.axe()).toEqual([])
  await visitor.reload()
  await visitor.there('Filter (1)', { role: 'button' })
  await visitor.there('Status', { role: 'combobox' })
})

test('the most used filters are one row, and the others are behind a button unless one is set', async ({ open, data: { selling } }) => {
  await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, '/orders') })
  await visitor.there(/^#1/, { role: 'link' })
  const rows = `new Set([...document.querySelectorAll('.filters :is(input, select, button)')].filter((one) => one.checkVisibility())
    .map((one) => Math.round(one.getBoundingClientRect().bottom))).size`
  expect(await visitor.page.evaluate(visibleFilters)).toEqual(['Status', 'Payment', 'Fulfilment'])
  expect(await visitor.page.evaluate(rows)).toBe(1)
  await visitor.press('More filters')
  await visitor.fill('Tag', 'urgent')
  await visitor.key('Enter')
  await visitor.text('No results')
  await visitor.fill('From', '2026-01-01')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('More filters (2)')
  await visitor.until(`${visibleFilters}.length === 3`, 'folded filters')
  await visitor.reload()
  await visitor.there('Tag', { role: 'textbox' })
})

test('a filter that is chosen just before a search starts stays', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: at(selling, '/orders') })
  await visitor.heading('Orders')
  const typed = `const set = (of, value, event) => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(of), 'value').set.call(of, value)
    of.dispatchEvent(new Event(event, { bubbles: true }))
  }
  set(document.querySelector('.filters input[type=search]'), 'zz', 'input')
  set(document.querySelector('.filters select'), 'CONFIRMED', 'change')`
  await visitor.until(`(() => { ${typed}; return true })()`, 'what is typed')
  await visitor.until("location.search.includes('q=zz') && location.search.includes('status=CONFIRMED')", 'both in the address')
})

test('only the owner sees the names of note authors', async ({ open, app, data: { selling } }) => {
  const { id } = await buyUnits(selling)
  const manager = await staffOf(app, selling, 'MANAGER')
  ok(await selling.post(`/v2/orders/${id}/notes`, { text: 'of the key' }))
  for (const [token, text] of [
    [selling.token, 'of the owner'],
    [manager.token, 'of the manager'],
  ] as const)
    ok(await app.call('POST', `/v2/orders/${id}/notes`, { token, body: { text }, headers: { 'x-shop-id': selling.shop.id } }))
  const { notes } = await selling.order(id)
  const [byKey = ''] = notes.map(({ actor }: { actor: string }) => actor)
  const authorsShown = (visitor: Awaited<ReturnType<typeof open>>) =>
    visitor.page.evaluate(
      "[...document.querySelectorAll('.timeline .note-text + small')].map((one) => one.textContent.split(' · ').at(-1))",
    )

  const owner = await open({ as: selling, at: at(selling, `/orders/${id}`) })
  await owner.text(manager.email)
  expect(await authorsShown(owner)).toEqual([manager.email, 'You', byKey])
  expect(await owner.axe()).toEqual([])
  const other = await open({ as: manager, at: at(selling, `/orders/${id}`) })
  await other.text('of the owner')
  expect(await authorsShown(other)).toEqual(['You', selling.id, byKey])
})

test('a view with filters and hidden columns is saved under a name and restored', async ({ open, data: { selling } }) => {
  await buyUnits(selling)
  const visitor = await open({ as: selling, at: at(selling, '/orders') })
  await visitor.heading('Orders')
  await visitor.fill('Fulfilment', 'Unfulfilled')
  await visitor.press('Columns')
  await visitor.press('Payment', { role: 'checkbox' })
  await visitor.press('Save view', { role: 'button' })
  await visitor.there('Save view', { role: 'dialog' })
  expect(await visitor.axe()).toEqual([])
  await visitor.keyFill('Name', 'To pack')
  await visitor.key('Enter')
  await visitor.notice('Saved')
  expect(await visitor.all('columnheader')).not.toContain('Payment')
  await visitor.go(at(selling, '/orders'))
  await visitor.heading('Orders')
  expect(await visitor.all('columnheader')).toContain('Payment')
  await visitor.fill('View', 'To pack')
  await visitor.until(`location.search.includes('fulfilmentStatus=UNFULFILLED')`, 'the view')
  expect(await visitor.all('columnheader')).not.toContain('Payment')
  await visitor.press('Delete view', { role: 'button' })
  await visitor.gone('To pack')
  expect(await visitor.axe()).toEqual([])
})
