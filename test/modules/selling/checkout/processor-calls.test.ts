/** Purchases and refunds through all six processors over HTTP, each with a stand-in server. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Json } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { type ProcessorName, processorNames, sellingThrough } from '../../../support/processor-shops.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minuteMs = 60_000
const clientParameters: Record<ProcessorName, string[]> = {
  stripe: ['clientSecret', 'publishableKey'],
  tap: ['redirectUrl'],
  qpay: ['qrImage', 'qrText', 'shortUrl', 'urls'],
  checkout: ['paymentSession'],
  paypal: ['approveUrl', 'orderId'],
  btcpay: ['checkoutLink'],
}

for (const name of processorNames)
  describe(`checkout through ${name}`, () => {
    test('offers the processor in the resolver, confirms the paid order, and refunds it', async () => {
      await using shop = await sellingThrough(name)
      const resolved = ok(await shop.app.call('GET', `/checkout/${shop.shop.name}/payment-intent-resolver`)).body
      const offeredProcessors = {
        card: resolved.card?.processor,
        paypal: resolved.paypal.enabled && 'paypal',
        crypto: resolved.crypto.provider,
      }
      expect(offeredProcessors[shop.method as 'card']).toBe(name)

      const { cartId, id, payment, order, reference } = await shop.begin()
      expect([order.status, payment.processor, payment.status]).toEqual(['PENDING_PAYMENT', name, 'REQUIRES_ACTION'])
      expect(Object.keys(payment.clientParameters).sort()).toEqual(expect.arrayContaining(clientParameters[name].slice(0, 1)))

      shop.pay(reference)
      ok(await shop.complete(cartId))
      shop.settle()
      for (let runs = 0; runs < 3; runs++) {
        shop.app.clock.advance(2 * minuteMs)
        await shop.app.jobs.resume()
      }
      const sold = await shop.order(id)
      expect([sold.status, sold.paymentStatus, sold.capturedTotal]).toEqual(['CONFIRMED', 'CAPTURED', sold.total])
      expect(await shop.stock()).toEqual({ onHand: 9, reserved: 0 })

      const refund = ok(await shop.refund(id)).body
      if (name === 'btcpay') expect(refund).toMatchObject({ status: 'CLAIMABLE', claimUrl: expect.stringContaining('http') })
      shop.settle()
      for (let runs = 0; runs < 3; runs++) {
        shop.app.clock.advance(60 * minuteMs)
        await shop.app.jobs.resume()
      }
      const refundedOrder = await shop.order(id)
      expect([refundedOrder.paymentStatus, refundedOrder.refundedTotal]).toEqual(['REFUNDED', sold.total])
      expect(refundedOrder.refunds.map(({ status }: Json) => status)).toEqual(['SUCCEEDED'])
      expect(violationsOf(await booksOf(shop.app))).toEqual([])
    })

    test('confirms a paid order although the shopper closed the tab and all messages were lost', async () => {
      await using shop = await sellingThrough(name)
      const { id, reference } = await shop.begin()
      shop.pay(reference)
      for (let runs = 0; runs < 10; runs++) {
        shop.app.clock.advance(minuteMs)
        await shop.app.jobs.resume()
        shop.settle()
      }
      expect(await shop.order(id)).toMatchObject({ status: 'CONFIRMED', paymentStatus: 'CAPTURED' })
    })

    test('releases the stock of an unpaid order, and makes the payment unpayable where the processor can', async () => {
      await using shop = await sellingThrough(name)
      const { id, reference } = await shop.begin()
      expect(shop.isPayable(reference)).toBe(true)
      shop.app.clock.advance(61 * minuteMs)
      await shop.app.jobs.closeOrders()
      shop.app.clock.advance(minuteMs)
      await shop.app.jobs.resume()
      const order = await shop.order(id)
      expect(order.status).toBe('EXPIRED')
      expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
      // These processors cannot close a page that the shopper has not used. A late payment there is not captured.
      expect(shop.isPayable(reference)).toBe(['tap', 'checkout', 'paypal'].includes(name))
      if (!shop.isPayable(reference)) return
      shop.pay(reference)
      // PayPal holds no money before souk asks for it.
      expect(shop.isHeld(reference)).toBe(name !== 'paypal')
      for (let runs = 0; runs < 4; runs++) {
        shop.app.clock.advance(30 * minuteMs)
        await shop.app.jobs.sweep()
        shop.settle()
      }
      const expired = await shop.order(id)
      expect([expired.status, expired.capturedTotal.amount, shop.isHeld(reference)]).toEqual(['EXPIRED', 0, false])
      expect(violationsOf(await booksOf(shop.app))).toEqual([])
    })
  })
