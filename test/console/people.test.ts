/** Tests the form values of discounts, gift cards and articles, and the request bodies made of them. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { pickChanges, withoutNulls } from '../../src/console/lib/api/changed-fields.ts'
import { parsePercent, percentText } from '../../src/console/lib/forms/percent.ts'
import { bodyOf as blogBodyOf, blogState, textOf as blogTypedOf } from '../../src/console/screens/blog/blog.domain.ts'
import { blankDiscount, bodyOf, discountState, textOf } from '../../src/console/screens/discounts/discount.domain.ts'
import { cardBody, cardState, groupCode } from '../../src/console/screens/gift-cards/card.domain.ts'

const zone = 'Asia/Ulaanbaatar'
const times = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }
const discount = {
  id: 'disc_1',
  shopId: 'shop_1',
  title: 'Spring',
  code: 'SPRING' as string | null,
  kind: 'PERCENT' as const,
  valueBps: 1_250,
  amount: null,
  minSubtotal: { amount: 5_000, currency: 'USD' },
  productIds: ['prod_1', 'prod_2'],
  collectionIds: null,
  startsAt: '2026-03-01T00:00:30.123Z',
  endsAt: '2026-04-01T00:00:00.000Z' as string | null,
  usageLimit: 10,
  perCustomerLimit: null,
  status: 'ACTIVE' as const,
  used: 3,
  ended: false,
  usedUp: false,
  ...times,
}
const names = {
  zone,
  products: [
    { id: 'prod_1', text: 'A' },
    { id: 'prod_2', text: 'B' },
  ],
  collections: [],
}
const typed = textOf(discount, names)
const wrongOf = (change: Partial<typeof blankDiscount>) => {
  const result = bodyOf({ ...typed, ...change }, { currency: 'USD', zone })
  return 'errors' in result ? result.errors : {}
}

describe('a percentage', () => {
  test('is parsed as it is shown, and other texts are refused', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 10_000 }), (bps) => expect(parsePercent(percentText(bps))).toBe(bps)))
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (hundredths) =>
        expect(parsePercent(percentText(hundredths / 100), 4)).toBe(hundredths / 100),
      ),
    )
    expect(['8.875', '8,8755', '100.0000'].map((text) => parsePercent(text, 4))).toEqual([887.5, 887.55, 10_000])
    expect(['8.87555', '100.0001', '8.', '.5'].map((text) => parsePercent(text, 4))).toEqual([undefined, undefined, undefined, undefined])
    expect([887.5, 887.55, 0.01, 0, 1_000, 10_000].map(percentText)).toEqual(['8.875', '8.8755', '0.0001', '0', '10', '100'])
    expect(['12,5', ' 7 ', '100', '0.01', '007.50', '١٢٫٥', '۳'].map((text) => parsePercent(text))).toEqual([
      1_250, 700, 10_000, 1, 750, 1_250, 300,
    ])
    for (const text of ['', '-1', '100.01', '1.234', '1e1', '12.', '.5', '1 2', '0x1'])
      expect([text, parsePercent(text)]).toEqual([text, undefined])
  })
})

describe('a discount', () => {
  test('without edits has no changes, not even of seconds that the field does not show', () => {
    const result = bodyOf(typed, { currency: 'USD', zone, before: discount })
    if ('errors' in result) throw new Error('not wrong')
    expect(pickChanges(result.body, discount)).toEqual({})
  })

  test('sends only edited fields, so that an end in the past need not change', () => {
    const result = bodyOf({ ...typed, kind: 'FIXED', amount: '10,50', title: ' Sale ' }, { currency: 'USD', zone, before: discount })
    if ('errors' in result) throw new Error('not wrong')
    expect(pickChanges(result.body, discount)).toEqual({
      title: 'Sale',
      kind: 'FIXED',
      valueBps: null,
      amount: { amount: 1_050, currency: 'USD' },
    })
  })

  test('is typed in the shop’s time zone', () => {
    expect([typed.startsAt, typed.endsAt]).toEqual(['2026-03-01T08:00', '2026-04-01T08:00'])
    const result = bodyOf({ ...typed, endsAt: '2026-05-01T00:00' }, { currency: 'USD', zone, before: discount })
    expect('body' in result && result.body.endsAt).toBe('2026-04-30T16:00:00.000Z')
  })

  test('names invalid fields with the reason', () => {
    expect(wrongOf({ title: ' ', code: '', percent: '0' })).toEqual({ title: 'required', code: 'required', percent: 'percent' })
    expect(wrongOf({ kind: 'FIXED', amount: '0' })).toEqual({ amount: 'amount' })
    expect(wrongOf({ kind: 'FIXED', amount: '1.005' })).toEqual({ amount: 'amount' })
    expect(wrongOf({ minSubtotal: 'x', usageLimit: '0', perCustomerLimit: '1.5' })).toEqual({
      minSubtotal: 'amount',
      usageLimit: 'number',
      perCustomerLimit: 'number',
    })
    expect(wrongOf({ startsAt: '2026-05-01T00:00' })).toEqual({ endsAt: 'order' })
    expect(wrongOf({ how: 'AUTOMATIC', code: '' })).toEqual({})
    expect(wrongOf({ kind: 'FREE_SHIPPING', percent: 'x', amount: 'y' })).toEqual({})
  })

  test('that is new sends only filled fields', () => {
    const result = bodyOf({ ...blankDiscount, title: 'All', how: 'AUTOMATIC', percent: '10' }, { currency: 'USD', zone })
    if ('errors' in result) throw new Error('not wrong')
    expect(withoutNulls(result.body) as object).toEqual({ title: 'All', kind: 'PERCENT', valueBps: 1_000, status: 'ACTIVE' })
  })

  test('shows why it does not apply, the shop’s own choice first', () => {
    const now = Date.parse('2026-03-15T00:00:00Z')
    const states = [
      {},
      { startsAt: '2026-03-16T00:00:00.000Z' },
      { usedUp: true },
      { usedUp: true, ended: true },
      { ended: true, status: 'DISABLED' as const },
    ]
    expect(states.map((change) => discountState({ ...discount, ...change }, now))).toEqual([
      'ACTIVE',
      'SCHEDULED',
      'USED_UP',
      'ENDED',
      'DISABLED',
    ])
  })
})

describe('a gift card', () => {
  const now = Date.parse('2026-11-23T12:00:00Z')
  const cardOf = (amount: string, expiresAt = '', currency = 'KWD') => cardBody({ amount, expiresAt, note: ' ' }, { currency, zone, now })

  test('is typed in major units and sent in exact minor units', () => {
    expect(cardOf('10.005')).toEqual({ body: { amount: { amount: 10_005, currency: 'KWD' }, expiresAt: null, note: null } })
    expect(cardOf('1000', '', 'JPY')).toEqual({ body: { amount: { amount: 1_000, currency: 'JPY' }, expiresAt: null, note: null } })
    for (const amount of ['0', '-1', '1.0005', 'ten', '']) expect(cardOf(amount)).toEqual({ errors: { amount: 'amount' } })
  })

  test('expires in the future, in the shop’s time zone', () => {
    expect(cardOf('1', '2026-11-23T20:01')).toEqual({
      body: { amount: { amount: 1_000, currency: 'KWD' }, expiresAt: '2026-11-23T12:01:00.000Z', note: null },
    })
    expect(cardOf('1', '2026-11-23T20:00')).toEqual({ errors: { expiresAt: 'past' } })
    expect(cardOf('x', 'soon')).toEqual({ errors: { amount: 'amount', expiresAt: 'moment' } })
  })

  test('shows its code in groups of four, and why it cannot be used', () => {
    expect(groupCode('0123456789ABCDEF')).toBe('0123 4567 89AB CDEF')
    const all = { status: 'DISABLED' as const, expired: true, usedUp: true }
    expect(
      [all, { ...all, status: 'ACTIVE' as const }, { status: 'ACTIVE' as const, expired: true, usedUp: false }].map(cardState),
    ).toEqual(['DISABLED', 'USED_UP', 'EXPIRED'])
  })
})

describe('an article', () => {
  const blog = {
    id: 'blog_1',
    shopId: 'shop_1',
    slug: 'brass',
    title: 'Brass',
    excerpt: null,
    bodyHtml: '<p>x</p>',
    coverImage: null,
    author: null,
    tags: ['care'],
    status: 'PUBLISHED' as const,
    publishedAt: '2026-07-03T00:00:10.500Z' as string | null,
    ...times,
  }

  test('without edits changes nothing, and an empty slug keeps the stored one', () => {
    const body = bodyOf_({})
    expect(pickChanges(body, blog)).toEqual({})
    expect(pickChanges(bodyOf_({ slug: '', tags: [], publishedAt: '' }), blog)).toEqual({ tags: [], publishedAt: null })
  })
  const bodyOf_ = (change: Partial<ReturnType<typeof blogTypedOf>>) => {
    const body = blogBodyOf({ ...blogTypedOf(blog, zone), ...change }, { zone, before: blog })
    if (!body) throw new Error('no moment')
    return body
  }

  test('with a future date is shown as scheduled', () => {
    const now = Date.parse('2026-07-01T00:00:00Z')
    expect([blog, { ...blog, publishedAt: null }, { ...blog, status: 'DRAFT' as const }].map((one) => blogState(one, now))).toEqual([
      'SCHEDULED',
      'PUBLISHED',
      'DRAFT',
    ])
    expect(blogState(blog, Date.parse('2026-07-04T00:00:00Z'))).toBe('PUBLISHED')
  })
})
