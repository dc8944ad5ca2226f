import { expect, test } from 'bun:test'
import { testApp } from '../../support/app.ts'
import { ok, sellingIn } from '../../support/selling.ts'

test('a cart becomes a confirmed order, and its stock is gone', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const cartId = await shop.cart({ quantity: 2 })
  const bought = ok(await shop.checkout(cartId), 201).body
  expect(bought.order).toMatchObject({
    number: 1,
    status: 'CONFIRMED',
    paymentStatus: 'CAPTURED',
    total: shop.usd(2_000),
    capturedTotal: shop.usd(2_000),
    fxToUsd: '1',
  })
  expect(bought.payment).toEqual({ processor: 'sandbox', status: 'CAPTURED', clientParameters: {} })
  expect(await shop.stock()).toEqual({ onHand: 8, reserved: 0 })
  expect((await shop.order(bought.order.id)).events.map(({ type }: { type: string }) => type)).toEqual([
    'PLACED',
    'PAYMENT_AUTHORIZED',
    'PAYMENT_CAPTURED',
    'CONFIRMED',
  ])
})
