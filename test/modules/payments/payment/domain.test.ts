import { expect, test } from 'bun:test'
import {
  hasFailed,
  isOpenPayment,
  openPaymentStatuses,
  type Payment,
  paymentStatuses,
  paymentTokenSeal,
  paymentView,
  processorDefault,
} from '../../../../src/modules/payments/payment/domain.ts'

test('a payment is open until it is captured, failed or voided', () => {
  expect(paymentStatuses).toEqual(['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED', 'PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED'])
  expect(openPaymentStatuses).toEqual(['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED', 'PROCESSING'])
  for (const status of paymentStatuses) expect(isOpenPayment({ status })).toBe(openPaymentStatuses.some((one) => one === status))
})

test('only failed and voided payments count as failed', () => {
  expect(paymentStatuses.filter((status) => hasFailed({ status }))).toEqual(['FAILED', 'VOIDED'])
})

test('a checkout without a processor uses the sandbox', () => {
  expect(processorDefault).toBe('sandbox')
})

test('the seal of a payment token contains the id of its payment', () => {
  expect(paymentTokenSeal('pay_1')).toBe('payment/pay_1')
})

test('the view of a payment has its amounts with the currency, and neither its token nor its client parameters', () => {
  const payment: Payment = {
    id: 'pay_1',
    orderId: 'order_1',
    shopId: 'shop_1',
    attemptKey: 'attempt',
    method: 'card',
    processor: 'sandbox',
    accountId: '',
    mode: 'TEST',
    processorReference: 'ref',
    references: {},
    sealedToken: 'sealed',
    returnUrl: 'https://shop.example/back',
    clientParameters: { secret: 'of the page' },
    amount: 5,
    currency: 'JPY',
    authorized: 4,
    captured: 3,
    refunded: 2,
    status: 'CAPTURED',
    failureCode: null,
    sentAt: 0,
    askedAt: null,
    endedAt: null,
    askAt: null,
    leaseHolder: null,
    leaseUntil: null,
    createdAt: 0,
    updatedAt: 1_000,
  }
  expect(paymentView(payment)).toEqual({
    id: 'pay_1',
    method: 'card',
    processor: 'sandbox',
    processorReference: 'ref',
    manual: null,
    amount: { amount: 5, currency: 'JPY' },
    authorized: { amount: 4, currency: 'JPY' },
    captured: { amount: 3, currency: 'JPY' },
    refunded: { amount: 2, currency: 'JPY' },
    status: 'CAPTURED',
    failureCode: null,
    createdAt: '1970-01-01T00:00:00.000Z',
    updatedAt: '1970-01-01T00:00:01.000Z',
  })
})
