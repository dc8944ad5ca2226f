import { expect, test } from 'bun:test'
import { cardProcessors, isProcessorName, processorNames, processorsOf } from '../../src/lib/processors.ts'

test('isProcessorName accepts exactly the six processors, and no name of an object property', () => {
  expect(processorNames.filter(isProcessorName)).toEqual(['stripe', 'tap', 'qpay', 'checkout', 'paypal', 'btcpay'])
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'Stripe', 'sandbox', ''])
    expect(isProcessorName(name)).toBe(false)
})

test('each method has its processors', () => {
  expect([processorsOf('card'), processorsOf('paypal'), processorsOf('crypto')]).toEqual([cardProcessors, ['paypal'], ['btcpay']])
})
