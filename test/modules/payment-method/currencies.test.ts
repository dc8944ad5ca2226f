import { expect, test } from 'bun:test'
import { saysCurrency } from '../../../src/clients/processors/currencies.ts'
import { currencies } from '../../../src/lib/money.ts'
import { processorsSayingBy } from '../../../src/modules/payment-method/currencies.ts'

const processorsSaying = processorsSayingBy(saysCurrency)

test('each processor is asked for the currencies that it can say, and for no others', () => {
  const saying = (currency: string) => [...processorsSaying(currency)]
  expect(saying('USD')).toEqual(['stripe', 'tap', 'checkout', 'paypal', 'btcpay'])
  expect(saying('KWD')).toEqual(['stripe', 'tap', 'checkout', 'btcpay'])
  expect(saying('MNT')).toEqual(['stripe', 'qpay', 'checkout', 'btcpay'])
  expect(saying('ISK')).toEqual(['stripe', 'checkout', 'btcpay'])
  expect(saying('HUF')).toEqual(['stripe', 'checkout', 'paypal', 'btcpay'])
  expect(saying('CLF')).toEqual([])
  expect(saying('XXX')).toEqual([])
  expect(currencies.filter((currency) => processorsSaying(currency).has('paypal'))).toHaveLength(24)
  expect(currencies.filter((currency) => processorsSaying(currency).has('qpay'))).toEqual(['MNT'])
})
