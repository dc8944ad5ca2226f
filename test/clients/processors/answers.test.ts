/** Tests that any response of a processor is understood or unavailable, and never counts unrequested money. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { rescaleAmount } from '../../../src/clients/processors/amounts.ts'
import { countAt, listAt, parsedMessage, requireValue, textAt, valueAt, wordOf } from '../../../src/clients/processors/answers.ts'
import * as paypal from '../../../src/clients/processors/paypal/answers.ts'
import type { ProcessorPayment } from '../../../src/clients/processors/processor.ts'
import { ProcessorUnavailable } from '../../../src/clients/processors/processor.ts'
import * as stripe from '../../../src/clients/processors/stripe/answers.ts'
import { decimalOf } from '../../../src/lib/money.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const requested = { amount: 1000, currency: 'USD' }
const paymentId = 'pay_1'
const refundId = 'ref_1'

const intent = {
  ...{
    object: 'payment_intent',
    id: 'pi_1',
    amount: 1000,
    currency: 'usd',
    status: 'succeeded',
    amount_received: 1000,
    amount_capturable: 0,
  },
  ...{ client_secret: 'pi_1_secret', metadata: { payment_id: paymentId }, latest_charge: { id: 'ch_1', amount_refunded: 100 } },
}
const stripeRefund = { object: 'refund', id: 're_1', amount: 1000, currency: 'usd', status: 'succeeded', metadata: { refund_id: refundId } }
const money = { currency_code: 'USD', value: '10.00' }
const order = {
  ...{ id: 'O1', status: 'COMPLETED', links: [{ rel: 'approve', href: 'https://paypal.example' }] },
  purchase_units: [
    {
      ...{ amount: money, custom_id: paymentId },
      payments: {
        authorizations: [{ id: 'A1', status: 'CAPTURED', amount: money }],
        captures: [{ id: 'C1', status: 'COMPLETED', amount: money }],
        refunds: [{ id: 'R1', status: 'COMPLETED', amount: money, custom_id: refundId }],
      },
    },
  ],
}

const readers: Record<string, { example: unknown; read: (json: unknown) => unknown }> = {
  'a payment of Stripe': {
    example: intent,
    read: (json) => stripe.paymentOf(json, { paymentId, expected: requested, publishableKey: undefined }),
  },
  'a refund of Stripe': { example: stripeRefund, read: (json) => stripe.refundOf(json, { refundId, expected: requested }) },
  'a payment of PayPal': {
    example: order,
    read: (json) =>
      paypal.paymentOf(paypal.orderOf(json, { paymentId, currency: 'USD', total: 1000 }), { expected: requested, clientId: 'client' }),
  },
  'a refund of PayPal': {
    example: { id: 'R1', status: 'COMPLETED', amount: money, custom_id: refundId },
    read: (json) => paypal.refundOf(json, { refundId, expected: requested }),
  },
}

/** Every path through an example. */
const pathsIn = (json: unknown): (string | number)[][] =>
  typeof json === 'object' && json !== null
    ? Object.entries(json).flatMap(([name, value]) => [[name], ...pathsIn(value).map((path) => [name, ...path])])
    : []

function replaceAt(json: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined) return value
  const copy: Record<string | number, unknown> = Array.isArray(json) ? ([...json] as never) : { ...(json as object) }
  copy[step] = replaceAt(copy[step], rest, value)
  return copy
}

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    '',
    'constructor',
    '__proto__',
    -1,
    0.5,
    1e21,
    2 ** 53,
    '9'.repeat(50),
    null,
    {},
    [],
    [null],
    'USD',
    'eur',
    '1000',
    1001,
    999,
    'CAPTURED',
    'processing',
  ),
)

test('a missing value is named in the error', () => {
  expect(() => requireValue(undefined, 'payment id')).toThrow('unexpected answer: no usable payment id')
  expect(requireValue('pi_1', 'payment id')).toBe('pi_1')
})

describe('parsing processor responses', () => {
  test.each(Object.keys(readers))('arbitrary JSON in a response of %s is unavailable or a consistent payment', (what) => {
    const { example, read } = readers[what] ?? { example: undefined, read: () => undefined }
    expect(() => read(example)).not.toThrow()
    const paths = pathsIn(example)
    const check = (json: unknown) => {
      try {
        const answer = read(json) as Partial<ProcessorPayment>
        expect(['string', 'undefined']).toContain(typeof answer.reference)
        if (answer.state === 'CAPTURED') expect(answer.captured).toBe(requested.amount)
        for (const amount of [answer.authorized, answer.captured, answer.refunded])
          expect(amount === undefined || Number.isSafeInteger(amount)).toBe(true)
        for (const text of [answer.failureCode, ...Object.values(answer.references ?? {})])
          expect(['string', 'undefined']).toContain(typeof text)
      } catch (error) {
        if (!(error instanceof ProcessorUnavailable)) throw error
      }
    }
    fc.assert(fc.property(anyJson, check))
    fc.assert(
      fc.property(fc.constantFrom(...paths), anyJson, (path, value) => check(replaceAt(example, path, value))),
      { numRuns: 1000 },
    )
  })

  test('a message with arbitrary JSON is read without errors', () => {
    const event = {
      id: 'evt_1',
      type: 'x',
      event_type: 'CUSTOMER.DISPUTE.UPDATED',
      data: { object: { ...intent, object: 'dispute', payment_intent: 'pi_1' } },
      resource: order,
    }
    const check = (json: unknown) => {
      const { id, payment } = stripe.messageOf(Buffer.from(JSON.stringify(json)))
      expect(id).not.toBe('')
      expect(payment === undefined || typeof payment.reference === 'string').toBe(true)
      for (const name of Object.values(paypal.namesIn(json))) expect(typeof name).toBe('string')
      paypal.disputeOf(json)
    }
    fc.assert(fc.property(anyJson, check))
    fc.assert(fc.property(fc.constantFrom(...pathsIn(event)), anyJson, (path, value) => check(replaceAt(event, path, value))))
  })

  test('values are read only from own properties with the expected type', () => {
    expect(valueAt({ a: [{ b: 1 }] }, 'a', 0, 'b')).toBe(1)
    for (const path of [['toString'], ['__proto__', 'toString'], ['a', 'length', 'x'], ['a', 1], ['a', 0, 'b', 'c']])
      expect(valueAt({ a: [{ b: 1 }] }, ...path)).toBeUndefined()
    expect([textAt({ a: '' }, 'a'), textAt({ a: 1 }, 'a'), textAt(null), textAt('x')]).toEqual([undefined, undefined, undefined, 'x'])
    expect([0, 5, -1, 0.5, 2 ** 53, '5', null].map((a) => countAt({ a }, 'a'))).toEqual([
      0,
      5,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect([listAt({ a: [1] }, 'a'), listAt({ a: 'x' }, 'a'), listAt(undefined, 'a')]).toEqual([[1], [], []])
    expect(wordOf(undefined, 'a b', '', 'card_declined', 'later')).toBe('card_declined')
    expect(parsedMessage(Buffer.from('{"a":1}'))).toEqual({ a: 1 })
  })
})

describe('conversion of amounts', () => {
  test('rescaling an amount to other units is exact or undefined', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 45), fc.nat(4), fc.nat(4), (amount, from, to) => {
        const scaled = rescaleAmount(amount, from, to)
        const exact = BigInt(amount) * 10n ** BigInt(to)
        const isWhole = exact % 10n ** BigInt(from) === 0n && exact / 10n ** BigInt(from) <= BigInt(Number.MAX_SAFE_INTEGER)
        expect(scaled !== undefined).toBe(isWhole)
        if (scaled !== undefined) expect(BigInt(scaled) * 10n ** BigInt(from)).toBe(exact)
      }),
    )
    for (const amount of [-1, 0.1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) expect(rescaleAmount(amount, 2, 2)).toBeUndefined()
  })

  test('an amount is written as a decimal with exactly the given number of digits', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 45), fc.integer({ min: 0, max: 4 }), (amount, decimals) => {
        const text = decimalOf(amount, decimals)
        expect(text).toMatch(decimals === 0 ? /^(0|[1-9]\d*)$/ : new RegExp(String.raw`^(0|[1-9]\d*)\.\d{${decimals}}$`))
        expect(Number(text.replace('.', ''))).toBe(amount)
      }),
    )
  })
})
