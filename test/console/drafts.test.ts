/** Tests the typed and the sent form of draft orders, and the period and attention items of the home page. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { parseDateRange } from '../../src/console/lib/navigation/date-range.ts'
import {
  blankDraft,
  bodyOf,
  changeOf,
  type DraftText,
  findLineError,
  subtotalOf,
  textOf,
} from '../../src/console/screens/drafts/draft.domain.ts'
import { attentionItems } from '../../src/console/screens/home/needs-attention.domain.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const line = (quantity: string, price: string, variantId = 'var_1') => ({ variantId, title: 'Mug', detail: '', quantity, price })
const draftText = (more: Partial<DraftText> = {}): DraftText => ({ ...blankDraft, lines: [line('2', '10.50')], ...more })
const address = {
  name: 'Noor',
  company: null,
  line1: '1 Quay Street',
  line2: null,
  city: 'Portland',
  province: null,
  postalCode: null,
  countryCode: 'US',
  phone: null,
}

describe('a draft', () => {
  test('is sent in minor units, without fields that are left to the payer', () => {
    expect(bodyOf(draftText({ email: ' a@example.com ' }), 'USD')).toEqual({
      lines: [{ variantId: 'var_1', quantity: 2, unitPrice: { amount: 1_050, currency: 'USD' } }],
      email: 'a@example.com',
      customerId: null,
      shippingAddress: null,
      billingAddress: null,
      shippingMethod: null,
      discountCode: null,
      note: null,
    })
    expect(bodyOf(draftText({ lines: [line('1', '10,5')] }), 'KWD').lines[0]?.unitPrice?.amount).toBe(10_500)
    expect(bodyOf(draftText({ lines: [line('1', '1050')] }), 'JPY').lines[0]?.unitPrice?.amount).toBe(1_050)
    expect(bodyOf(draftText({ lines: [line('1', '')] }), 'USD').lines).toEqual([{ variantId: 'var_1', quantity: 1 }])
  })

  test('names the field of an invalid value', () => {
    expect(findLineError(draftText(), 'USD')).toBeUndefined()
    expect(findLineError(blankDraft, 'USD')).toEqual({ problem: 'noLines' })
    expect(findLineError(draftText({ lines: [line('٢', '١٠٫٥')] }), 'USD')).toBeUndefined()
    for (const quantity of ['', '0', '1.5', '10000', 'x', '-1'])
      expect(findLineError(draftText({ lines: [line(quantity, '1')] }), 'USD')?.problem).toBe('quantity')
    for (const price of ['x', '1.234', '-1', '1e3', '999999999999999999'])
      expect(findLineError(draftText({ lines: [line('1', price)] }), 'USD')?.problem).toBe('price')
    expect(findLineError(draftText({ lines: [line('1', '1.5')] }), 'JPY')?.problem).toBe('price')
  })

  test('sends only changed fields', () => {
    const original = draftText({ email: 'a@example.com', shippingAddress: address })
    expect(changeOf(original, original, 'USD')).toEqual({})
    expect(changeOf(original, { ...original, email: '' }, 'USD')).toEqual({ email: null })
    expect(changeOf(original, { ...original, lines: [line('3', '10.50')] }, 'USD')).toEqual({
      lines: [{ variantId: 'var_1', quantity: 3, unitPrice: { amount: 1_050, currency: 'USD' } }],
    })
    expect(changeOf(original, { ...original, shippingAddress: null }, 'USD')).toEqual({ shippingAddress: null })
  })

  test('shows only the shop’s values of fields that the payer may also fill', () => {
    const draft = {
      settled: ['email'],
      lines: [
        {
          variantId: 'var_1',
          title: null,
          variantTitle: 'Default Title',
          sku: 'M-1',
          quantity: 2,
          unitPrice: { amount: 5, currency: 'USD' },
        },
      ],
      email: 'a@example.com',
      customerId: null,
      shippingAddress: address,
      billingAddress: null,
      shippingMethod: 'post',
      discountCode: null,
      note: 'x',
    } as unknown as Parameters<typeof textOf>[0]
    expect(textOf(draft)).toEqual({
      ...blankDraft,
      lines: [{ variantId: 'var_1', title: 'var_1', detail: 'M-1', quantity: '2', price: '0.05' }],
      email: 'a@example.com',
      note: 'x',
    })
  })

  test('has a subtotal if all its lines are valid', () => {
    expect(subtotalOf(draftText({ lines: [line('2', '10.50'), line('1', '0.01', 'var_2')] }), 'USD')).toBe(2_101)
    expect(subtotalOf(draftText({ lines: [line('2', '')] }), 'USD')).toBeUndefined()
    expect(subtotalOf(draftText({ lines: [line('x', '1')] }), 'USD')).toBeUndefined()
  })
})

test('the period of the home page is in its URL', () => {
  const today = (before: number) => `day-${before}`
  expect(parseDateRange({}, undefined, today)).toEqual({ days: 30 })
  expect(parseDateRange({ days: '7' }, undefined, today)).toEqual({ days: 7, startDate: 'day-6', endDate: 'day-0' })
  expect(parseDateRange({ days: '90' }, undefined, today)).toEqual({ days: 90, startDate: 'day-89', endDate: 'day-0' })
  expect(parseDateRange({ days: 'x', from: '2026-01-01' }, undefined, today)).toEqual({ days: 30 })
  expect(parseDateRange({ days: '7', from: '2026-01-01', to: '2026-02-01' }, undefined, today)).toEqual({
    days: undefined,
    startDate: '2026-01-01',
    endDate: '2026-02-01',
  })
})

test('attention items are the non-zero counts, most urgent first', () => {
  const none = { total: 0 }
  const counts = {
    ordersToSend: { total: 1_000, totalCapped: true },
    paymentsProcessing: none,
    ordersStuck: none,
    returnsRequested: { total: 3 },
    returnsApproved: null,
    refundsManual: { total: 2 },
    refundsClaimable: none,
    disputes: { total: 2, orders: [7, 9].map((number) => ({ id: `ord_${number}`, number })) },
    drafts: none,
    lowStock: null,
    webhooks: { disabled: 1, failing: 0, undelivered: none },
  } as unknown as Parameters<typeof attentionItems>[0]
  // Each disputed order has a link.
  expect(attentionItems(counts)[0]?.links.map(({ path, text }) => [path.join('/'), text])).toEqual([
    ['orders/ord_7', '#7'],
    ['orders/ord_9', '#9'],
  ])
  expect(attentionItems(counts).map(({ name, n, capped }) => [name, n, capped])).toEqual([
    ['disputes', 2, false],
    ['refundsManual', 2, false],
    ['ordersToSend', 1_000, true],
    ['returnsRequested', 3, false],
    ['webhooksDisabled', 1, false],
  ])
  expect(attentionItems({ ...counts, webhooks: null }).map(({ name }) => name)).not.toContain('webhooksDisabled')
})
