/** Buying through the six processors, from the resolver's answer to the refund, each over real HTTP with a server that stands in for it. */
import { describe, expect, test } from 'bun:test'
import { booksOf, violationsOf } from '../../support/books.ts'
import { type OutsideName, outsideNames, sellingThrough } from '../../support/outside.ts'
import { ok } from '../../support/selling.ts'

const minuteMs = 60_000
const clientParameters: Record<OutsideName, string[]> = {
  stripe: ['clientSecret', 'publishableKey'],
  tap: ['redirectUrl'],
  qpay: ['qrImage', 'qrText', 'shortUrl', 'urls'],
  checkout: ['paymentSession'],
  paypal: ['approveUrl', 'orderId'],
  btcpay: ['checkoutLink'],
}

for (const name of outsideNames)
  describe(`a shop that is paid through ${name}`, () => {
    test('is offered by the resolver, sells, and gives the money back', async () => {
      await using shop = await sellingThrough(name)
      const resolved = ok(await shop.app.call('GET', `/checkout/${shop.shop.name}/payment-intent-resolver`)).body
      const offered = { card: resolved.card?.processor, paypal: resolved.paypal.enabled && 'paypal', crypto: resolved.crypto.provider }
      expect(offered[shop.method as 'card']).toBe(name)

      const { cartId, id, payment, order, reference } = await shop.begin()
      expect([order.status, payment.processor, payment.status]).toEqual(['PENDING_PAYMENT', name, 'REQUIRES_ACTION'])
      expect(Object.keys(payment.clientParameters).sort()).toEqual(expect.arrayContaining(clientParameters[name].slice(0, 1)))

      shop.pay(reference)
      ok(await shop.complete(cartId))
      shop.settle()
      for (let looks = 0; looks < 3; looks++) {
        shop.app.clock.advance(2 * minuteMs)
        await shop.app.jobs.resume()
      }
      const sold = await shop.order(id)
      expect([sold.status, sold.paymentStatus, sold.capturedTotal]).toEqual(['CONFIRMED', 'CAPTURED', sold.total])
      expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })
      expect(violationsOf(await booksOf(shop.app))).toEqual([])
    })

    test('sells also where the shopper closed the tab and every message was lost', async () => {
      await using shop = await sellingThrough(name)
      const { id, reference } = await shop.begin()
      shop.pay(reference)
      for (let looks = 0; looks < 10; looks++) {
        shop.app.clock.advance(minuteMs)
        await shop.app.jobs.resume()
        shop.settle()
      }
      expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED' })
    })

    test('gives the stock back where nobody paid, and forbids to pay what can be forbidden', async () => {
      await using shop = await sellingThrough(name)
      const { id } = await shop.begin()
      shop.app.clock.advance(61 * minuteMs)
      await shop.app.jobs.closeOrders()
      shop.app.clock.advance(minuteMs)
      await shop.app.jobs.resume()
      const order = await shop.order(id)
      expect(order.status).toBe('EXPIRED')
      expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
    })
  })
