import { expect, test } from 'bun:test'
import { createBtcpay } from '../../../../src/clients/processors/btcpay/client.ts'
import { createCheckout } from '../../../../src/clients/processors/checkout/client.ts'
import { createPaypal } from '../../../../src/clients/processors/paypal/client.ts'
import { createQpay } from '../../../../src/clients/processors/qpay/client.ts'
import { createStripe } from '../../../../src/clients/processors/stripe/client.ts'
import { createTap } from '../../../../src/clients/processors/tap/client.ts'
import { currencies } from '../../../../src/lib/money.ts'
import { processorsSupporting } from '../../../../src/modules/payments/payment-method/currencies.ts'
import { processorNames } from '../../../../src/modules/payments/payment-method/domain.ts'

test('each processor is offered only for the currencies that it supports', () => {
  const processorsFor = (currency: string) => [...processorsSupporting(currency)]
  expect(processorsFor('USD')).toEqual(['stripe', 'tap', 'checkout', 'paypal', 'btcpay'])
  expect(processorsFor('KWD')).toEqual(['stripe', 'tap', 'checkout', 'btcpay'])
  expect(processorsFor('MNT')).toEqual(['stripe', 'qpay', 'checkout', 'btcpay'])
  expect(processorsFor('ISK')).toEqual(['stripe', 'checkout', 'btcpay'])
  expect(processorsFor('HUF')).toEqual(['stripe', 'checkout', 'paypal', 'btcpay'])
  expect(processorsFor('CLF')).toEqual([])
  expect(processorsFor('XXX')).toEqual([])
  expect(currencies.filter((currency) => processorsSupporting(currency).has('paypal'))).toHaveLength(24)
  expect(currencies.filter((currency) => processorsSupporting(currency).has('qpay'))).toEqual(['MNT'])
})

test('a processor is offered for exactly the currencies in which its client accepts some amount', () => {
  const none = async () => Promise.reject(new Error('nothing is asked'))
  const port = { fetch: none, trusted: true, timeoutMs: 1, now: () => 0 }
  const clients = {
    stripe: createStripe({ secretKey: 'sk_test_a' }, port),
    tap: createTap({ secretKey: 'sk_test_a', merchantId: '1' }, port),
    qpay: createQpay({ username: 'a', password: 'b', invoiceCode: 'c' }, port),
    checkout: createCheckout({ secretKey: 'sk_sbox_a' }, port),
    paypal: createPaypal({ clientId: 'a', secret: 'b' }, port),
    btcpay: createBtcpay({ apiUrl: 'http://127.0.0.1:1', storeId: 'a', apiKey: 'b', mode: 'TEST' }, port),
  }
  for (const name of processorNames) {
    const { supportsAmount, supportsCurrency } = clients[name].capabilities
    const expected = currencies.filter((currency) => [1_000, 100_000].some((amount) => supportsAmount({ amount, currency })))
    expect([name, currencies.filter((currency) => processorsSupporting(currency).has(name))]).toEqual([name, expected])
    expect([name, currencies.filter((currency) => supportsCurrency(currency))]).toEqual([name, expected])
  }
})
