/** The scope of a refund: an amount, lines or everything. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { removeExpired } from '../../../../jobs/remove-expired.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, connectionLost } from '../../../support/sandbox.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minuteMs = 60_000
const oneUnit = { quantity: 1 }

/** Places an order of mugs and one book, with 8.25 % tax on the mugs and 5.00 for shipping. */
async function placeOrder(shop: Selling, quantity = 3): Promise<{ id: string; mug: string; book: string }> {
  const book = await shop.add({ title: 'Book', variants: [{ price: shop.money(999), taxable: false, onHand: 5 }] })
  ok(await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 825 }] }))
  ok(await shop.put('/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', price: shop.money(500) }] }))
  const shippingAddress = { name: 'Noor', line1: '1 Quay Street', city: 'Portland', countryCode: 'US' }
  const cartId = await shop.cart({ quantity, shippingAddress, shippingMethod: 'post' })
  const add = { key: shop.publishableKey, body: { variantId: book.variants[0]?.id, quantity: 1 } }
  ok(await shop.app.call('POST', `/cart/${cartId}/items`, add))
  const { id, lines } = ok(await shop.checkout(cartId)).body.order
  const idOf = (title: string): string => lines.find((one: Json) => one.title === title).id
  return { id, mug: idOf('Mug'), book: idOf('Book') }
}

test('allows a hundred refunds of an order, of which the last must take all that is left', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  for (let nth = 1; nth < 100; nth++) ok(await shop.refund(id, { amount: shop.usd(1) }))
  const tooMany = await shop.refund(id, { amount: shop.usd(1) })
  expect([tooMany.status, tooMany.body.code]).toEqual([409, 'limit_reached'])
  expect((await shop.order(id)).refunds).toHaveLength(99)
  ok(await shop.refund(id, { all: true }))
  const { paymentStatus, refunds } = await shop.order(id)
  expect([paymentStatus, refunds.length]).toEqual(['REFUNDED', 100])
})

test('rejects a refund without exactly one valid scope with 400, and refunds nothing', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  const lineId = (await shop.order(id)).lines[0].id
  const lines = [{ lineId, ...oneUnit }]
  const amount = shop.usd(100)
  for (const body of [
    {},
    { reason: 'A chip' },
    { amout: amount },
    { amount: null },
    { all: false },
    { all: 'true' },
    { lines: [] },
    { line: lines },
    { amount, all: true },
    { amount, lines },
    { lines, all: true },
    { amount, lines, all: true },
    { lines: [{ lineId, quantity: 0 }] },
    { lines: [{ lineId, quantity: 1.5 }] },
    { lines: [{ lineId, quantity: 10_000 }] },
    { lines: [{ lineId }] },
    { lines: [{ quantity: 1 }] },
    { lines: [...lines, ...lines] },
    { lines: [{ lineId: 'line_none', quantity: 1 }] },
  ])
    expect((await shop.refund(id, body)).status, JSON.stringify(body)).toBe(400)
  for (const body of [{}, { amount, all: true }])
    expect((await shop.refund(id, body)).body.message).toBe('body: send exactly one of amount, lines and all')
  expect(await shop.order(id)).toMatchObject({ refundedTotal: shop.usd(0), refunds: [] })
})

test('refunds lines with their exclusive tax and without shipping, and the last unit gets the rounding difference', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { price: 1_001 })
  const { id, mug, book } = await placeOrder(shop)
  const { lines, total } = await shop.order(id)
  const tax = lines.find((one: Json) => one.id === mug).tax.amount.amount
  const paid = 3 * 1_001 + tax
  const refund = async (refundLines: Json[]) => ok(await shop.refund(id, { lines: refundLines }), 201).body
  const first = await refund([{ lineId: mug, quantity: 1 }])
  expect(first).toMatchObject({
    status: 'SUCCEEDED',
    amount: shop.usd(Math.round(paid / 3)),
    lines: [{ lineId: mug, quantity: 1, amount: first.amount, restock: false }],
  })
  const rest = await refund([
    { lineId: mug, quantity: 2 },
    { lineId: book, quantity: 1 },
  ])
  expect(first.amount.amount + rest.amount.amount).toBe(paid + 999)
  expect(rest.lines.map(({ amount }: Json) => amount.amount)).toEqual([paid - first.amount.amount, 999])
  const order = await shop.order(id)
  expect(order).toMatchObject({ paymentStatus: 'PARTIALLY_REFUNDED', refundedTotal: shop.usd(total.amount - 500) })
  expect(order.refunds.map((one: Json) => one.lines)).toEqual([first.lines, rest.lines])
  expect((await shop.refund(id, { lines: [{ lineId: mug, quantity: 1 }] })).body).toMatchObject({
    statusCode: 409,
    code: 'refund_too_large',
    field: 'lines.0.quantity',
    message: 'lines.0.quantity: must be at most 0, the units of this line that can still be refunded',
  })
  expect(ok(await shop.refund(id, { all: true })).body).toMatchObject({ amount: shop.usd(500), lines: [] })
  expect((await shop.order(id)).paymentStatus).toBe('REFUNDED')
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})

test('rejects a refund of lines when an earlier refund by amount has used the money', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const order = await shop.placeOrder({ quantity: 2 })
  const lines = [{ lineId: order.lines[0].id, quantity: 2 }]
  ok(await shop.refund(order.id, { amount: shop.usd(1) }))
  expect((await shop.refund(order.id, { lines })).body).toMatchObject({
    statusCode: 409,
    code: 'refund_too_large',
    message: 'Only 19.99 USD can still be refunded',
  })
  expect(ok(await shop.refund(order.id, { lines: [{ ...lines[0], quantity: 1 }] })).body.amount).toEqual(shop.usd(1_000))
})

test('restocks tracked units of a refund once when asked to, and the others when the order is cancelled', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id, mug, book } = await placeOrder(shop)
  expect((await shop.stock()).onHand).toBe(7)
  const restocked = { lineId: mug, quantity: 1, restock: true }
  const refund = ok(await shop.refund(id, { lines: [restocked, { lineId: book, quantity: 1, restock: true }] }, 'once'))
  expect(ok(await shop.refund(id, { lines: [restocked, { lineId: book, quantity: 1, restock: true }] }, 'once')).text).toBe(refund.text)
  expect((await shop.stock()).onHand).toBe(8)
  ok(await shop.refund(id, { lines: [{ lineId: mug, quantity: 1 }] }))
  expect((await shop.stock()).onHand).toBe(8)
  ok(await shop.post(`/v2/orders/${id}/cancel`, {}))
  expect((await shop.stock()).onHand).toBe(9)
  expect(await shop.order(id)).toMatchObject({ status: 'CANCELLED', paymentStatus: 'REFUNDED' })
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})

test('holds units but no stock for a pending line refund, and frees them when it fails', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const order = await shop.placeOrder({ quantity: 2 })
  let answer: 'lost' | 'refused' | undefined = 'lost'
  changeProcessor(app, ({ refund }) => ({
    async refund(request) {
      if (answer === 'lost') throw connectionLost()
      return answer === 'refused' ? { reference: 'no', state: 'FAILED', failureCode: 'refused' } : refund(request)
    },
  }))
  const lines = [{ lineId: order.lines[0].id, quantity: 2, restock: true }]
  const singleUnit = [{ ...lines[0], quantity: 1 }]
  expect(ok(await shop.refund(order.id, { lines }, 'first')).body).toMatchObject({ status: 'PENDING', lines })
  expect((await shop.stock()).onHand).toBe(8)
  expect((await shop.refund(order.id, { lines: singleUnit })).status).toBe(409)
  answer = 'refused'
  app.clock.advance(61 * minuteMs)
  await app.jobs.resume()
  expect((await shop.order(order.id)).refunds).toMatchObject([{ status: 'FAILED', lines }])
  answer = undefined
  expect(ok(await shop.refund(order.id, { lines: singleUnit })).body).toMatchObject({ status: 'SUCCEEDED', amount: shop.usd(1_000) })
  expect((await shop.stock()).onHand).toBe(9)
  answer = 'lost'
  expect(ok(await shop.refund(order.id, { lines: singleUnit })).body.status).toBe('PENDING')
  expect((await shop.stock()).onHand).toBe(9)
  answer = undefined
  app.clock.advance(61 * minuteMs)
  await app.jobs.resume()
  expect((await shop.stock()).onHand).toBe(10)
  expect((await shop.order(order.id)).paymentStatus).toBe('REFUNDED')
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})

test('never refunds a unit twice in parallel line refunds', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { price: 333 })
  const order = await shop.placeOrder({ quantity: 4 })
  const lines = [{ lineId: order.lines[0].id, quantity: 1, restock: true }]
  const answers = await Promise.all(Array.from({ length: 8 }, () => shop.refund(order.id, { lines })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(4)
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})

test('accepts one of several parallel refunds with the same expected refundableTotal', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = await shop.placeOrder()
  const { total, refundableTotal } = await shop.order(id)
  expect(refundableTotal).toEqual(total)
  const body = { amount: shop.usd(300), refundableTotal }
  const answers = await Promise.all(Array.from({ length: 5 }, (_, nth) => shop.refund(id, body, `at-once-${nth}`)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  const left = total.amount - 300
  for (const { status, body } of answers)
    if (status === 409) expect(body.message).toBe(`refundableTotal: is now ${left} in minor units. Read the order again`)
  expect(await shop.order(id)).toMatchObject({ refundedTotal: shop.usd(300), refundableTotal: shop.usd(left) })
  // A repeated key returns the stored refund, although the refundable total has changed.
  const acceptedIndex = answers.findIndex(({ status }) => status === 201)
  expect((await shop.refund(id, body, `at-once-${acceptedIndex}`)).body.id).toBe(answers[acceptedIndex]?.body.id)
  expect((await shop.refund(id, { ...body, refundableTotal: { amount: left, currency: 'EUR' } }, 'euros')).status).toBe(400)
  expect((await shop.refund(id, { ...body, refundableTotal: left }, 'bare')).status).toBe(400)
  ok(await shop.refund(id, { all: true, refundableTotal: shop.usd(left) }, 'all'), 201)
  expect(await shop.order(id)).toMatchObject({ refundedTotal: total, refundableTotal: shop.usd(0) })
})

test('lists and exports refunds with the number of their order, the amounts in major units', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id, number } = await shop.placeOrder()
  ok(await shop.refund(id, { amount: shop.usd(234) }), 201)
  expect(ok(await shop.get('/v2/refunds')).body.data).toMatchObject([{ orderId: id, orderNumber: number }])
  const { text } = await app.call('GET', '/v2/refunds', { token: shop.token, headers: { accept: 'text/csv' } })
  expect(parse(text, { columns: true })).toMatchObject([
    { orderNumber: String(number), amount: '2.34', giftCardAmount: '0.00', currency: 'USD' },
  ])
})

test('includes gift cards but not pending refunds in refundableTotal', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const card = await shop.giftCard(300)
  const cartId = await shop.cart({})
  ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } }))
  changeProcessor(app, () => ({
    refund: async () => {
      throw connectionLost()
    },
  }))
  const { id, total } = ok(await shop.checkout(cartId)).body.order
  expect((await shop.order(id)).refundableTotal).toEqual(total)
  const refund = ok(await shop.refund(id, { amount: shop.usd(100) }), 201).body
  expect([refund.status, (await shop.order(id)).refundableTotal]).toEqual(['PENDING', shop.usd(total.amount - 100)])
})

test('restocks a free line by a refund of zero, without a booking or a webhook', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { price: 1 })
  const freeProduct = await shop.add({ title: 'Sample', variants: [{ price: shop.money(0), onHand: 3 }] })
  const order = await shop.placeOrder({ variants: [shop.variantId, freeProduct.variants[0]?.id ?? ''] })
  const sample = order.lines.find(({ title }: Json) => title === 'Sample')
  const refund = ok(await shop.refund(order.id, { lines: [{ lineId: sample.id, quantity: 1, restock: true }] })).body
  expect(refund).toMatchObject({ status: 'SUCCEEDED', amount: shop.usd(0), paymentId: null })
  expect(await shop.order(order.id)).toMatchObject({ paymentStatus: 'CAPTURED', refundedTotal: shop.usd(0) })
  expect(ok(await shop.get(`/product-v2/${freeProduct.id}`)).body.variants[0].onHand).toBe(3)
  const { movements, outbox } = await booksOf(app)
  expect(movements.filter(({ kind }) => kind === 'REFUND')).toEqual([])
  expect(outbox.filter(({ event }) => event === 'order.refunded')).toEqual([])
})

test('rejects another refund under a used idempotency key with 422, also after its response expired', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const order = await shop.placeOrder({ quantity: 2 })
  const lines = [{ lineId: order.lines[0].id, quantity: 1 }]
  const first = ok(await shop.refund(order.id, { lines }, 'once')).body
  expect((await shop.refund(order.id, { lines: [{ ...lines[0], restock: true }] }, 'once')).status).toBe(422)
  expect((await shop.refund(order.id, { amount: shop.usd(1_000) }, 'once')).status).toBe(422)
  app.clock.advance(25 * 60 * minuteMs)
  await removeExpired(app.deps)
  expect(ok(await shop.refund(order.id, { lines }, 'once')).body.id).toBe(first.id)
  app.clock.advance(25 * 60 * minuteMs)
  await removeExpired(app.deps)
  expect((await shop.refund(order.id, { all: true }, 'once')).status).toBe(422)
  expect((await shop.order(order.id)).refundedTotal).toEqual(shop.usd(1_000))
})

test('refunds lines from captured money first, then from gift cards', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const card = await shop.giftCard(1_700)
  const cartId = await shop.cart({ quantity: 2 })
  ok(await app.call('PATCH', '/giftcard/apply', { key: shop.publishableKey, body: { code: card.code, cartId } }))
  const { order } = ok(await shop.checkout(cartId)).body
  const lines = [{ lineId: order.lines[0].id, quantity: 1 }]
  expect(ok(await shop.refund(order.id, { lines })).body).toMatchObject({ amount: shop.usd(1_000), giftCardAmount: shop.usd(700) })
  expect(ok(await shop.refund(order.id, { lines })).body).toMatchObject({ amount: shop.usd(1_000), giftCardAmount: shop.usd(1_000) })
  expect((await shop.order(order.id)).paymentStatus).toBe('REFUNDED')
  expect(violationsAtRest(await booksOf(app))).toEqual([])
})
