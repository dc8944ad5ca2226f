/** A checkout stores the refusal under its key when the payment of an earlier key pays the order. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../../../support/app.ts'
import { booksOf, violationsAtRest } from '../../../support/books.ts'
import { changeProcessor, succeedAtSandbox } from '../../../support/sandbox.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

// In the state `authorized`, the checkout itself captures the payment.
for (const state of ['captured', 'authorized', 'captured while it is voided'] as const)
  test(`stores the refusal of a checkout that finds the payment of an earlier key ${state}`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const cartId = await shop.cart()
    const first = ok(await shop.checkout(cartId, { paymentToken: 'tok_decline' }, 'first'), 201).body
    const [payment] = first.order.payments
    if (state === 'captured while it is voided')
      changeProcessor(app, (sandbox) => ({
        async void(name) {
          await succeedAtSandbox(app, payment.id, { captured: true })
          return sandbox.void(name)
        },
      }))
    else await succeedAtSandbox(app, payment.id, { captured: state === 'captured' })
    const send = () => shop.checkout(cartId, {}, 'second')
    const refused = await send()
    expect([refused.status, refused.body.message]).toEqual([409, 'This cart was already ordered (order 1)'])
    const replayed = await send()
    expect([replayed.status, replayed.text]).toEqual([409, refused.text])
    expect(await shop.order(first.order.id)).toMatchObject({ status: 'CONFIRMED', capturedTotal: shop.usd(1_000) })
    expect(violationsAtRest(await booksOf(app))).toEqual([])
  })

for (const isManual of [false, true])
  test(`${isManual ? 'mark-paid' : 'a checkout'} answers with the order as a later read shows it, while time passes`, async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const manual = [{ code: 'bank', title: 'Bank', instructions: 'Pay', expiresAfterDays: 7 }]
    if (isManual) ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body: { manual } }))
    const { now } = app.clock
    let elapsed = 0
    app.clock.now = () => now() + elapsed++
    const cartId = await shop.cart()
    const placed = ok(await shop.checkout(cartId, isManual ? { method: 'manual', manualCode: 'bank' } : {}), 201).body.order
    expect(placed).toEqual(await shop.order(placed.id))
    if (isManual) expect(ok(await shop.post(`/v2/orders/${placed.id}/mark-paid`, {})).body).toEqual(await shop.order(placed.id))
  })
