/** Compares the console's preview of shipping methods with the options that the API offers to a cart. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  type Method,
  newMethod,
  offersFor,
  parseMethod,
  provincesOfCountries,
  replaceMethod,
  sortByCodes,
  textsOfMethod,
} from '../../src/console/screens/settings-shipping/methods.domain.ts'
import { localProvinceNames } from '../../src/lib/province-names.ts'
import { loadProvinceTable } from '../../src/modules/shop/countries/domain.ts'
import { testApp } from '../support/app.ts'
import { storeIn } from '../support/carts.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const usd = (amount: number) => ({ amount, currency: 'USD' })

const methods: Method[] = [
  { code: 'flat', title: 'Flat', countries: ['US', 'CA'], price: usd(650) },
  { code: 'anywhere', title: 'Anywhere', countries: [], price: usd(9_900) },
  {
    ...{ code: 'weight', title: 'By weight', zones: [{ countries: ['US'], provinces: ['California', 'NY'] }, { countries: ['CA'] }, {}] },
    rates: [
      { upToGrams: 1_000, amount: usd(500) },
      { upToGrams: 5_000, amount: usd(900) },
    ],
    freeOver: usd(10_000),
  },
  {
    ...{ code: 'worth', title: 'By worth', zones: [{ countries: ['US', 'DE'] }, { countries: ['JP'], provinces: ['東京都', 'Osaka'] }] },
    rates: [{ upToAmount: usd(2_000), amount: usd(700) }, { amount: usd(0) }],
  },
  { code: 'rest', title: 'The rest', zones: [{}], rates: [{ amount: usd(1_500) }], freeOver: usd(5_000) },
]

test('the preview has the methods, prices and order of the API, for any destination, weight and value', async () => {
  await using app = await testApp()
  const store = await storeIn(app)
  await store.ships(...methods)
  const served = (await app.call('GET', `/shops/v2/public/name/${store.shop.name}/countries`)).body.data as {
    code: string
    provinces: { code: string; name: string }[]
  }[]
  const table = provincesOfCountries(served, localProvinceNames())
  const weights = [0, 1_000, 1_001, 5_000, 5_001]
  const worths = [1, 2_000, 2_001, 5_000, 10_000]
  const destinations: [countryCode: string, province: string | null][] = [
    ['US', 'CA'],
    ['US', 'new york'],
    ['US', 'Texas'],
    ['CA', 'ON'],
    ['DE', null],
    ['KW', null],
    ['JP', 'Tokyo'],
    ['JP', '大阪'],
    ['JP', '北海道'],
    ['US', 'District of Columbia'],
    ['US', 'us-ca'],
  ]
  let offered = 0
  for (const [nth, weightGrams] of weights.entries()) {
    for (const amount of worths) {
      const variantId = await store.variant(`${weightGrams} ${amount}`, amount, { weightGrams, requiresShipping: true })
      const { id: cart } = (await store.guest.begin()).body
      expect((await store.guest.add(cart, variantId)).status).toBe(201)
      for (const [countryCode, province] of [destinations[nth], ...destinations.slice(0, 3), ...destinations.slice(5)].filter(
        (one) => one !== undefined,
      )) {
        const shippingAddress = { name: 'A', line1: 'B', city: 'C', postalCode: '1', countryCode, province }
        expect((await store.guest.change(cart, { shippingAddress })).status).toBe(200)
        const answer = (await store.guest.call('GET', `/cart/${cart}/shipping-options`)).body
        const offers = offersFor(methods, { grams: weightGrams, amount: usd(amount), to: { countryCode, province } }, table)
        const previewed = offers.flatMap(({ method: { code, title }, price }) => (price ? [{ code, title, amount: price }] : []))
        expect([weightGrams, amount, countryCode, province, previewed]).toEqual([weightGrams, amount, countryCode, province, answer.data])
        offered += previewed.length
      }
    }
  }
  expect(offered).toBeGreaterThan(100)
})

test('the preview accepts every name of a province that the server accepts', async () => {
  await using app = await testApp()
  const store = await storeIn(app)
  const { data } = (await app.call('GET', `/shops/v2/public/name/${store.shop.name}/countries`)).body
  const toPlain = (table: Awaited<ReturnType<typeof loadProvinceTable>>) =>
    Object.fromEntries(
      [...table].map(([country, names]) => [country, Object.fromEntries([...names].map(([name, codes]) => [name, [...codes].sort()]))]),
    )
  expect(toPlain(provincesOfCountries(data, localProvinceNames()))).toEqual(toPlain(await loadProvinceTable()))
})

test('each method is parsed back from its fields unchanged', () => {
  for (const method of methods) expect(parseMethod(textsOfMethod(method), 'USD')).toEqual({ method })
})

test('a method without a code gets one from its name', () => {
  const typed = { ...newMethod, title: ' Express (2 days) ', price: '5' }
  expect(parseMethod(typed, 'USD')).toMatchObject({ method: { code: 'express-2-days', title: 'Express (2 days)' } })
  expect(parseMethod({ ...typed, title: 'شحن' }, 'USD')).toMatchObject({ method: { code: 'shipping' } })
})

test('an invalid amount is reported by field and row without a request', () => {
  const flat = { ...newMethod, code: 'a', title: 'A' }
  expect(parseMethod({ ...flat, price: '1.234' }, 'USD')).toEqual({ error: { field: 'price', problem: 'notAmount' } })
  // The text could mean a thousand or one and a quarter.
  expect(parseMethod({ ...flat, price: '1,234' }, 'KWD')).toEqual({ error: { field: 'price', problem: 'notAmount' } })
  expect(parseMethod({ ...flat, price: '1.234' }, 'KWD')).toEqual({
    method: { code: 'a', title: 'A', countries: [], price: { amount: 1_234, currency: 'KWD' } },
  })
  const zoned = { ...flat, form: 'zoned', measure: 'grams' } as const
  const bands = [
    { upTo: '500', amount: '1' },
    { upTo: '1.5', amount: '2' },
  ]
  expect(parseMethod({ ...zoned, bands }, 'USD')).toEqual({ error: { field: 'upTo', problem: 'notNumber', bandIndex: 1 } })
  expect(parseMethod({ ...zoned, bands: [{ upTo: '', amount: '' }] }, 'USD')).toEqual({
    error: { field: 'amount', problem: 'notAmount', bandIndex: 0 },
  })
  expect(parseMethod({ ...zoned, bands: [{ upTo: '', amount: '1' }], freeOver: 'x' }, 'USD')).toEqual({
    error: { field: 'freeOver', problem: 'notAmount' },
  })
})

test('only zones of one country have provinces, and a method without a measure has one band', () => {
  const zoned = { ...newMethod, code: 'a', title: 'A', form: 'zoned' } as const
  const bands = [
    { upTo: '500', amount: '1' },
    { upTo: '', amount: '2' },
  ]
  const zones = [
    { rest: 'some', countries: ['US', 'CA'], provinces: ['NY'] },
    { rest: 'some', countries: ['DE'], provinces: ['BE'] },
    { rest: 'rest', countries: ['FR'], provinces: [] },
  ] as const
  expect(parseMethod({ ...zoned, bands, zones: [...zones] }, 'USD')).toEqual({
    method: {
      ...{ code: 'a', title: 'A', rates: [{ amount: usd(100) }] },
      zones: [{ countries: ['US', 'CA'] }, { countries: ['DE'], provinces: ['BE'] }, {}],
    },
  })
})

test('a changed method keeps its position, also under a new code, a new one comes last, and a new order keeps methods that it does not name', () => {
  const codes = (list: readonly Method[]) => list.map(({ code }) => code)
  const renamed = { ...(methods[0] as Method), code: 'other' }
  expect(codes(replaceMethod(methods, 'flat', renamed))).toEqual(['other', 'anywhere', 'weight', 'worth', 'rest'])
  expect(codes(replaceMethod(methods, undefined, renamed))).toEqual([...codes(methods), 'other'])
  expect(codes(sortByCodes(methods, ['rest', 'gone', 'flat']))).toEqual(['rest', 'flat', 'anywhere', 'weight', 'worth'])
})
