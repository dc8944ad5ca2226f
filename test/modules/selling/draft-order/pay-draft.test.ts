/** The pay page of a draft: forms without scripts, and one order for repeated submissions. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../../../support/app.ts'
import { browserOn, draftsOf, formOf } from '../../../support/drafts.ts'
import { address, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const settings = { PUBLIC_URL: 'https://souk.example' }

const orderCount = async (shop: Selling): Promise<number> => ok(await shop.get('/v2/orders')).body.total

describe('the pay page of a draft', () => {
  test('shows the total of a draft, takes missing details, and pays it without scripts', async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    await shop.put('/shops/v2/shipping-methods', {
      data: [
        { code: 'post', title: 'Post', zones: [{ countries: ['US'] }], rates: [{ amount: shop.money(500) }] },
        { code: 'bike', title: 'Bicycle', zones: [{ countries: ['US'] }], rates: [{ amount: shop.money(900) }] },
      ],
    })
    const { body: draft } = ok(await draftsOf(shop).create({ note: 'a secret of the shop' }), 201)
    const { look, send } = browserOn(app, draft.payUrl)
    const first = await look()
    expect(first.status).toBe(200)
    const policy = first.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("form-action 'self'")
    expect(policy).not.toContain('unsafe')
    expect(first.headers.get('cache-control')).toBe('no-store')
    expect(first.headers.get('referrer-policy')).toBe('no-referrer')
    expect(first.text).toContain('Mug')
    for (const hidden of ['<script', ' style=', 'a secret of the shop', draft.cartId, draft.id]) expect(first.text).not.toContain(hidden)
    expect(() => formOf(first, 'pay')).toThrow()
    const invalid = await send({ ...formOf(first, 'details'), email: 'no address', ...address })
    expect(invalid.status).toBe(200)
    expect(invalid.text).toContain('Check your details and try again')
    expect(invalid.text).toContain('value="1 Quay Street"')
    const accepted = await send({ ...formOf(first, 'details'), email: 'ann@example.com', ...address })
    expect([accepted.status, accepted.headers.get('location')]).toEqual([303, draft.payUrl.split('/').at(-1)])
    const second = await look()
    expect(second.text).not.toContain('Quay')
    const methodForm = formOf(second, 'details')
    expect(methodForm['shippingMethod']).toBe('post')
    expect((await send({ step: 'details', shippingMethod: 'bike' })).status).toBe(303)
    const third = await look()
    expect(third.text).toContain('$19.00')
    const form = formOf(third, 'pay')
    expect((await send(form)).status).toBe(303)
    const paid = await look()
    expect(paid.text).toContain('Payment received')
    const draftView = await draftsOf(shop).read(draft.id)
    expect(draftView).toMatchObject({ status: 'COMPLETED', email: 'ann@example.com', totals: { total: shop.money(1_900) } })
    const order = await shop.order(draftView.orderId)
    expect(order).toMatchObject({ status: 'CONFIRMED', shippingMethod: { code: 'bike' } })
    expect(paid.text).toContain(order.publicUrl)
    // The payer goes back and sends the same form again.
    expect((await send(form)).status).toBe(303)
    expect((await send({ ...form, key: 'another' })).text).toContain('Payment received')
    expect(await orderCount(shop)).toBe(1)
  })

  test('creates one order from a pay page that is sent twice and from two tabs', async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const { body: draft } = ok(await draftsOf(shop).create({ email: 'ann@example.com' }), 201)
    const { look, send } = browserOn(app, draft.payUrl)
    const [form, otherForm] = [formOf(await look(), 'pay'), formOf(await look(), 'pay')]
    expect(form['key']).not.toBe(otherForm['key'])
    const answers = await Promise.all([send(form), send(form), send(otherForm), send(otherForm)])
    for (const { status } of answers) expect([200, 303]).toContain(status)
    expect(await orderCount(shop)).toBe(1)
    expect((await look()).text).toContain('Payment received')
    expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
  })

  test('charges exactly what the pay page showed, and asks again after a change', async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const tea = await shop.add({ title: 'Tea', variants: [{ price: shop.money(1_000) }] })
    const { body: draft } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
    const { look, send } = browserOn(app, draft.payUrl)
    const form = formOf(await look(), 'pay')
    // The draft has another product at the same price.
    ok(await drafts.change(draft.id, { lines: [{ variantId: tea.variants[0]?.id ?? '', quantity: 1 }] }))
    const stale = await send(form)
    expect(stale.status).toBe(200)
    expect(stale.text).toContain('The order has changed')
    expect(stale.text).toContain('Tea')
    expect(await orderCount(shop)).toBe(0)
    await shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 1_000 }] })
    expect((await send(formOf(stale, 'pay'))).text).toContain('The order has changed')
    expect(await orderCount(shop)).toBe(0)
    expect((await send(formOf(await look(), 'pay'))).status).toBe(303)
    expect((await drafts.read(draft.id)).totals.total).toEqual(shop.money(1_100))
  })

  test('shows a failed payment of a draft, and accepts another one, also after the order expired', async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const { body: draft } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
    const { look, send } = browserOn(app, draft.payUrl)
    expect((await send({ ...formOf(await look(), 'pay'), outcome: 'tok_decline' })).status).toBe(303)
    const failed = await look()
    expect(failed.text).toContain('The payment failed')
    expect((await send({ ...formOf(failed, 'pay'), outcome: 'tok_decline' })).status).toBe(303)
    expect(await orderCount(shop)).toBe(1)
    app.clock.advance(2 * 60 * 60_000)
    await app.jobs.closeOrders()
    await app.jobs.resume()
    expect(await drafts.read(draft.id)).toMatchObject({ status: 'OPEN', email: 'ann@example.com' })
    const reopened = await look()
    expect((await send(formOf(reopened, 'pay'))).status).toBe(303)
    expect((await look()).text).toContain('Payment received')
    expect(await orderCount(shop)).toBe(2)
    expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
  })

  test('shows that a pay link no longer works for an invalid token or a deleted draft', async () => {
    await using app = await testApp(settings)
    const shop = await sellingIn(app)
    const drafts = draftsOf(shop)
    const { body: draft } = ok(await drafts.create({ email: 'ann@example.com' }), 201)
    const { publicUrl } = await shop.placeOrder()
    const { path, look } = browserOn(app, draft.payUrl)
    const token = path.split('/').at(-1) ?? ''
    for (const tried of ['A'.repeat(43), publicUrl.split('/').at(-1), `${token.slice(0, -1)}A`, draft.id, `${token}x`]) {
      if (tried === token) continue
      const { status, text } = await app.call('GET', `/pages/pay/${tried}`)
      expect([tried, status, text.includes('This link has expired')]).toEqual([tried, 200, true])
    }
    expect((await app.call('GET', `/v2/orders/public/${token}`)).status).toBe(404)
    expect((await drafts.remove(draft.id)).status).toBe(204)
    expect((await look()).text).toContain('This link has expired')
    expect(JSON.stringify(app.logged)).not.toContain(token)
  })
})
