/** Tests the form values of a shop's settings: shop, payment methods and tax rates. */
import { describe, expect, test } from 'bun:test'
import { changedFields, shopChange, textsOfShop } from '../../src/console/screens/settings/shop.domain.ts'
import { accountBody, expectedMode } from '../../src/console/screens/settings-payments/account.domain.ts'
import { methods, methodsOf, resolutionsOf, textsOfMethods } from '../../src/console/screens/settings-payments/methods.domain.ts'
import { findDuplicate, parseRate, rateKey, replaceRate, textsOfRate } from '../../src/console/screens/settings-taxes/rates.domain.ts'

const shop: Parameters<typeof textsOfShop>[0] = {
  id: 'shop_1',
  name: 'tea',
  title: 'Tea',
  description: 'Leaves',
  logoUrl: null,
  currency: 'KWD',
  country: 'KW',
  mode: 'TEST',
  status: 'ACTIVE',
  contact: { email: 'tea@example.com', phone: null },
  address: { line1: '1 Street', line2: null, city: 'Kuwait', province: null, postalCode: null, countryCode: 'KW' },
  storefrontOrigins: ['https://tea.example'],
  showQuantity: false,
  strictProvinces: false,
  legalName: null,
  taxNumber: 'KW 1',
  invoiceNote: null,
  returnDays: 30,
  timeZone: 'Asia/Kuwait',
  pages: { order: null, reset: 'https://tea.example/reset', verify: null, invitation: null, product: null, cart: null, checkout: null },
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}

describe('the shop', () => {
  const before = textsOfShop(shop)

  test('sends nothing without edits', () => {
    expect(changedFields(before, { ...before })).toEqual([])
    expect(shopChange(before, { ...before, storefrontOrigins: ['https://tea.example'] })).toBeUndefined()
  })

  test('sends only changed fields, also within contact, address and pages, and null for cleared ones', () => {
    const after = {
      ...before,
      title: ' Green tea ',
      email: '',
      line2: 'Floor 2',
      reset: '',
      order: 'https://tea.example/o',
      showQuantity: true,
    }
    expect(shopChange(before, after)).toEqual({
      ...{ title: 'Green tea', showQuantity: true },
      contact: { email: null },
      address: { line2: 'Floor 2' },
      pages: { order: 'https://tea.example/o', reset: null },
    })
    expect(shopChange(before, { ...before, description: '', logoUrl: 'https://tea.example/media/1' })).toEqual({
      ...{ description: '', logoUrl: 'https://tea.example/media/1' },
    })
    expect(shopChange(before, { ...before, returnDays: '0' })).toEqual({ returnDays: 0 })
    expect(shopChange(before, { ...before, legalName: ' Tea GmbH ', taxNumber: ' ' })).toEqual({ legalName: 'Tea GmbH', taxNumber: null })
    expect(shopChange({ ...before, logoUrl: 'https://a.example/b' }, before)).toEqual({ logoUrl: null })
  })
})

describe('payment methods', () => {
  test('are parsed back from their fields unchanged, with the fields of disabled methods', () => {
    for (const saved of [
      {},
      { card: { enabled: true, processor: 'tap', publishableKey: 'pk_test_1' }, paypal: { enabled: false, clientId: 'one' } },
      {
        card: { enabled: false },
        crypto: { enabled: true },
        wallet: { enabled: true, tokenProvider: 'stripe', merchantIdentifier: 'merchant.a' },
      },
    ] as const)
      expect(methodsOf(textsOfMethods(saved))).toEqual(saved)
  })

  test('omit a method without a choice, whatever its other fields', () => {
    const typed = textsOfMethods({ card: { enabled: true, processor: 'tap', publishableKey: 'pk_test_1' } })
    expect(methodsOf({ ...typed, card: 'auto' })).toEqual({})
    // A key without a processor is also omitted.
    for (const publishableKey of ['  ', 'pk_test_1'])
      expect(methodsOf({ ...typed, publishableKey, processor: '' })).toEqual({ card: { enabled: true } })
  })

  test('have one resolution each, in a fixed order, with the chosen processor', () => {
    const chain = [
      { method: 'wallet', step: 'SHOP_CONFIG', candidate: null, outcome: 'NO_MATCH' },
      { method: 'card', step: 'SHOP_CONFIG', candidate: null, outcome: 'NO_MATCH' },
      { method: 'card', step: 'BREAKER', candidate: 'tap', outcome: 'SKIPPED_OPEN' },
      { method: 'card', step: 'KYB_COHORT', candidate: 'stripe', outcome: 'SELECTED' },
    ] as const
    const resolutions = resolutionsOf({ meta: { kybCohort: null, partnership: null, chain: [...chain], skippedByBreaker: ['tap'] } })
    expect(resolutions.map(({ method, selected, links }) => [method, selected, links.length])).toEqual([
      ['card', 'stripe', 3],
      ['paypal', undefined, 0],
      ['crypto', undefined, 0],
      ['wallet', undefined, 1],
    ])
    expect(resolutions.map(({ method }) => method)).toEqual([...methods])
  })

  test('an account is sent with filled fields, and with a mode only if the processor has one', () => {
    const fields = [
      { name: 'secretKey', secret: true, required: true },
      { name: 'publishableKey', secret: false, required: false },
    ]
    const typed = { secretKey: ' sk_live_1 ', publishableKey: '', other: 'x' }
    expect(accountBody({ fields, takesMode: false }, typed, 'TEST')).toEqual({ secretKey: 'sk_live_1' })
    expect(accountBody({ fields, takesMode: true }, typed, 'TEST')).toEqual({ secretKey: 'sk_live_1', mode: 'TEST' })
    expect(expectedMode({ fields, takesMode: false }, typed, 'TEST')).toBe('LIVE')
    expect(expectedMode({ fields, takesMode: true }, typed, 'TEST')).toBe('TEST')
    expect(expectedMode({ fields, takesMode: false }, { secretKey: 'sk_1' }, 'TEST')).toBeUndefined()
  })
})

describe('tax rates', () => {
  test('a rate is parsed back from its fields unchanged', () => {
    for (const rate of [
      { country: 'US', region: 'CA', rateBps: 887.55, inclusive: false, shipping: true },
      { country: 'GB', region: null, rateBps: 2000, inclusive: true, shipping: false, class: 'books' },
    ])
      expect(parseRate(textsOfRate(rate))).toEqual(rate)
    expect(
      parseRate({ ...textsOfRate({ country: 'US', region: null, rateBps: 1, inclusive: false, shipping: false }), rate: '' }),
    ).toBeUndefined()
  })

  test('a duplicate region is found in any spelling, and a rate is no duplicate of itself', () => {
    const [us, ca] = [
      { country: 'US', region: null, rateBps: 100, inclusive: false, shipping: false },
      { country: 'US', region: 'CA', rateBps: 725, inclusive: false, shipping: false },
    ]
    expect(findDuplicate([us, ca], { ...ca, region: ' us-ca', rateBps: 1 }, undefined)).toEqual(ca)
    expect(findDuplicate([us, ca], { ...ca, rateBps: 1 }, rateKey(ca))).toBeUndefined()
    expect(findDuplicate([us, ca], { ...us, class: 'books' } as never, undefined)).toBeUndefined()
    expect(replaceRate([us, ca], rateKey(ca), { ...ca, rateBps: 1 })).toEqual([us, { ...ca, rateBps: 1 }])
    expect(replaceRate([us], undefined, ca)).toEqual([us, ca])
  })
})
