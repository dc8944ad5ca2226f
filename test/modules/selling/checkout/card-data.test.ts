/** Card numbers from storefronts and processors are never stored, logged or returned. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { createSafeFetch } from '../../../../src/clients/safe-fetch.ts'
import type { SafeFetch } from '../../../../src/core/outgoing.ts'
import { holdsCardNumber } from '../../../../src/lib/card-numbers.ts'
import { testApp } from '../../../support/app.ts'
import { allValues } from '../../../support/database-dump.ts'
import { processorNames, sellingThrough } from '../../../support/processor-shops.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minuteMs = 60_000
const cardNumber = '4242424242424242'

const safeFetch = createSafeFetch({ allowedNetworks: [] })

/** Adds a card number to every JSON object that a processor returns. */
const fetchWithCardNumber: SafeFetch = async (url, options) => {
  const answer = await safeFetch(url, options)
  const text = Buffer.from(answer.bytes).toString('utf8')
  const changed = text.replace(/^\{/, `{"message":"${cardNumber}","card":{"number":"${cardNumber}"},`)
  return { ...answer, bytes: Buffer.from(changed) }
}

test('rejects a card number as payment token by field name, and stores and logs it nowhere', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  for (const number of [cardNumber, '4242 4242 4242 4242', '3782-822463-10005']) {
    const answer = await shop.checkout(await shop.cart(), { paymentToken: number })
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('paymentToken:')])
    expect(holdsCardNumber(answer.text)).toBe(false)
  }
  expect((await allValues(app)).filter(holdsCardNumber)).toEqual([])
  expect(app.logged.filter((line) => holdsCardNumber(JSON.stringify(line)))).toEqual([])
})

for (const name of processorNames)
  test(`neither stores, logs nor returns card numbers that ${name} sends in responses and messages`, async () => {
    await using shop = await sellingThrough(name, {}, { safeFetch: fetchWithCardNumber })
    const checkout = await shop.begin()
    const { cartId, id, reference } = checkout
    expect(holdsCardNumber(JSON.stringify(checkout))).toBe(false)
    expect((await allValues(shop.app)).filter(holdsCardNumber)).toEqual([])
    shop.pay(reference)
    ok(await shop.complete(cartId))
    shop.settle()
    for (let runs = 0; runs < 3; runs++) {
      shop.app.clock.advance(2 * minuteMs)
      await shop.app.jobs.resume()
    }
    expect((await shop.order(id)).status).toBe('CONFIRMED')
    const refunded = await shop.refund(id)
    const answers = [refunded.text, JSON.stringify(await shop.order(id)), (await shop.complete(cartId)).text]
    expect(answers.filter(holdsCardNumber)).toEqual([])
    expect((await allValues(shop.app)).filter(holdsCardNumber)).toEqual([])
    expect(shop.app.logged.filter((line) => holdsCardNumber(JSON.stringify(line)))).toEqual([])
  })
