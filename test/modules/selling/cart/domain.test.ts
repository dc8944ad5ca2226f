import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TaxRate } from '../../../../db/schema/shop.ts'
import { AppError } from '../../../../src/core/errors.ts'
import { newCartId } from '../../../../src/lib/ids.ts'
import { amountMax, decimalsOf } from '../../../../src/lib/money.ts'
import {
  type Cart,
  type CartAccess,
  type CartStatus,
  canAccessCart,
  cartLifeMs,
  cartStatuses,
  cartTransitions,
  nextUpdatedAt,
  quantityMax,
  statusAt,
  type Totals,
  taxOf,
  taxPlaceOf,
  taxRateAt,
  totalsOf,
} from '../../../../src/modules/selling/cart/domain.ts'
import { drawsOf } from '../../../../src/modules/selling/gift-card/domain.ts'

const now = 1_000_000

/** Basis points with up to two decimals. */
const rates = fc.integer({ min: 0, max: 1_000_000 }).map((hundredths) => hundredths / 100)
/** Currencies with 0, 2, 3 and 4 decimals. */
const currency = fc.constantFrom('JPY', 'USD', 'KWD', 'CLF')
const purchase = currency.chain((code) => {
  const unit = 10 ** decimalsOf(code)
  return fc.record({
    lines: fc.array(
      fc.record({
        unitPrice: fc.oneof(fc.integer({ min: 0, max: 5_000 * unit }), fc.constantFrom(0, 1, 5, 15 * unit)),
        quantity: fc.oneof(fc.integer({ min: 1, max: quantityMax }), fc.constantFrom(1, 2, quantityMax)),
        taxable: fc.boolean(),
      }),
      { maxLength: 12 },
    ),
    rate: fc.option(
      fc.record({
        country: fc.constant('US'),
        region: fc.constant(null),
        rateBps: fc.oneof(rates, fc.constantFrom(500, 887.5, 1_250, 5_000)),
        inclusive: fc.boolean(),
      }),
      { nil: undefined },
    ),
    shipping: fc.integer({ min: 0, max: 100 * unit }),
  })
})
const cards = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^gift_[0-9a-z]{4}$/),
    last4: fc.constant('0000'),
    status: fc.constantFrom('ACTIVE' as const, 'DISABLED' as const),
    expiresAt: fc.option(fc.integer({ min: now - 2, max: now + 4 }), { nil: null }),
    balance: fc.integer({ min: 0, max: 100_000_000 }),
  }),
  { selector: ({ id }) => id, maxLength: 10 },
)
/** Converts a generated purchase to the input of `totalsOf`. */
const totalsInput = ({
  lines,
  rate,
  shipping,
}: {
  lines: readonly { unitPrice: number; quantity: number; taxable: boolean }[]
  rate: TaxRate | undefined
  shipping: number
}) => ({
  lines: lines.map(({ taxable, ...line }) => ({ ...line, rate: taxable ? rate : undefined })),
  shippingOf: () => shipping,
})
const noGiftCards = () => []
const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)

describe('the totals of a cart', () => {
  test('adds up the totals of a cart from lines, discount, shipping, exclusive tax and gift cards', () => {
    fc.assert(
      fc.property(purchase, cards, (purchased, giftCards) => {
        const { lines, totals, draws } = totalsOf(totalsInput(purchased), (toPay) => drawsOf(giftCards, toPay, now))
        expect(totals.subtotal).toBe(sum(purchased.lines.map(({ unitPrice, quantity }) => unitPrice * quantity)))
        expect(totals.subtotal).toBe(sum(lines.map(({ total }) => total)))
        expect(totals.total).toBe(totals.subtotal - totals.discount + totals.shipping + totals.tax)
        expect(totals.giftCards).toBe(sum(draws.map(({ amount }) => amount)))
        expect(totals.amountDue).toBe(totals.total - totals.giftCards)
        expect(totals.shipping).toBe(purchased.shipping)
      }),
    )
  })

  test('computes only non-negative integers for a cart', () => {
    fc.assert(
      fc.property(purchase, cards, (purchased, giftCards) => {
        const { lines, totals, draws } = totalsOf(totalsInput(purchased), (toPay) => drawsOf(giftCards, toPay, now))
        const amounts = [
          ...Object.values(totals),
          ...lines.flatMap(({ total, taxAmount }) => [total, taxAmount]),
          ...draws.map((draw) => draw.amount),
        ]
        for (const amount of amounts)
          expect([Number.isSafeInteger(amount), amount >= 0, Object.is(amount, -0)]).toEqual([true, true, false])
      }),
    )
  })

  test('sums the tax of the lines, either all on top of the prices or all included in them', () => {
    fc.assert(
      fc.property(purchase, (purchased) => {
        const { lines, totals } = totalsOf(totalsInput(purchased), noGiftCards)
        const taxes = sum(lines.map(({ taxAmount }) => taxAmount))
        expect(purchased.rate?.inclusive ? totals.taxIncluded : totals.tax).toBe(taxes)
        expect(purchased.rate?.inclusive ? totals.tax : totals.taxIncluded).toBe(0)
        lines.forEach((line, at) => {
          const taxed = purchased.lines[at]?.taxable && purchased.rate
          expect([line.taxRateBps, line.taxInclusive]).toEqual(taxed ? [taxed.rateBps, taxed.inclusive] : [0, false])
          if (!taxed) expect(line.taxAmount).toBe(0)
        })
      }),
    )
  })

  test('keeps included tax below the price, and exclusive tax at or below the price of the goods', () => {
    fc.assert(
      fc.property(purchase, (purchased) => {
        const { lines, totals } = totalsOf(totalsInput(purchased), noGiftCards)
        for (const { total, taxAmount, taxInclusive } of lines)
          if (taxInclusive && total > 0) expect(taxAmount).toBeLessThan(total)
          else expect(taxAmount).toBeLessThanOrEqual(total)
        expect(totals.taxIncluded).toBeLessThanOrEqual(totals.subtotal)
      }),
    )
  })

  test('never pays more of a cart by gift cards than their balances or the total', () => {
    fc.assert(
      fc.property(purchase, cards, (purchased, giftCards) => {
        const { totals, draws } = totalsOf(totalsInput(purchased), (toPay) => drawsOf(giftCards, toPay, now))
        for (const { giftCardId, amount } of draws)
          expect(amount).toBeLessThanOrEqual(giftCards.find(({ id }) => id === giftCardId)?.balance ?? 0)
        expect(totals.giftCards).toBeLessThanOrEqual(totals.total)
      }),
    )
  })

  test('computes the same totals of a cart in any order of its lines', () => {
    fc.assert(
      fc.property(purchase, (purchased) => {
        expect(totalsOf(totalsInput({ ...purchased, lines: purchased.lines.toReversed() }), noGiftCards).totals).toEqual(
          totalsOf(totalsInput(purchased), noGiftCards).totals,
        )
      }),
    )
  })

  test('computes totals exactly up to the largest amount, and rejects larger ones at each component', () => {
    const line = (unitPrice: number, quantity = 1) => ({ unitPrice, quantity, taxable: true })
    const rate: TaxRate = { country: 'US', region: null, rateBps: 10_000, inclusive: false }
    const totalsFor = (lines: ReturnType<typeof line>[], taxRate?: TaxRate, shipping = 0) =>
      totalsOf(totalsInput({ lines, rate: taxRate, shipping }), noGiftCards).totals
    expect(totalsFor([line(amountMax)])).toMatchObject({ subtotal: amountMax, total: amountMax })
    expect(totalsFor([line(amountMax / 2)], rate)).toMatchObject({ tax: amountMax / 2, total: amountMax })
    expect(totalsFor([line(amountMax)], { ...rate, inclusive: true })).toMatchObject({ taxIncluded: amountMax / 2, total: amountMax })
    const oversized: (() => Totals)[] = [
      () => totalsFor([line(amountMax, quantityMax)]),
      () => totalsFor([line(amountMax), line(1)]),
      () => totalsFor([line(amountMax)], undefined, 1),
      () => totalsFor([line(amountMax)], { ...rate, rateBps: 1 }),
      () => totalsFor([line(amountMax / 2 + 1)], rate),
      () => totalsFor(Array(100).fill(line(amountMax, quantityMax))),
    ]
    for (const computeTotals of oversized) {
      let refusal: unknown
      try {
        computeTotals()
      } catch (error) {
        refusal = error
      }
      expect(refusal).toBeInstanceOf(AppError)
      const { kind, message } = refusal as AppError
      expect({ kind, message }).toEqual({ kind: 'CONFLICT', message: 'The total of the cart would exceed the largest total of an order' })
    }
  })
})

describe('tax of a cart', () => {
  test('rounds tax to the nearest unit, and halves to even', () => {
    const onTop = (amount: number, rateBps: number) => taxOf(amount, { rateBps, inclusive: false })
    const within = (amount: number, rateBps: number) => taxOf(amount, { rateBps, inclusive: true })
    expect([onTop(50, 500), onTop(150, 500), onTop(250, 500), onTop(51, 500), onTop(149, 500)]).toEqual([2, 8, 12, 3, 7])
    // A rate of 10,000 bps included in the price is half of it.
    expect([within(1, 10_000), within(3, 10_000), within(5, 10_000), within(119, 1_900)]).toEqual([0, 2, 2, 19])
    expect([onTop(999, 0), within(999, 0), onTop(0, 10_000)]).toEqual([0, 0, 0])
    // The exact taxes at 8.875 % are 35.5, 106.5, and 71 included in 871.
    expect([onTop(400, 887.5), onTop(1_200, 887.5), within(871, 887.5)]).toEqual([36, 106, 71])
  })

  test('computes tax within half a unit of the exact share, also beyond the precision of floats', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: amountMax }),
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.boolean(),
        (amount, hundredths, inclusive) => {
          const scale = BigInt(inclusive ? 1_000_000 + hundredths : 1_000_000)
          const off = 2n * (BigInt(taxOf(amount, { rateBps: hundredths / 100, inclusive })) * scale - BigInt(amount) * BigInt(hundredths))
          expect(off <= scale && off >= -scale).toBe(true)
        },
      ),
    )
  })

  const rate = (country: string, region: string | null, rateBps: number): TaxRate => ({ country, region, rateBps, inclusive: false })
  const rates = [rate('US', 'CA', 725), rate('US', null, 500), rate('CA', 'QC', 997), rate('DE', '', 1_900)]

  test('applies the tax rate of the region in any letter case, else of the country, else none', () => {
    const rateAt = (countryCode: string, province: string | null = null) => taxRateAt(rates, { countryCode, province })?.rateBps
    expect([rateAt('US', 'CA'), rateAt('US', ' ca '), rateAt('US', 'NY'), rateAt('US', ''), rateAt('US')]).toEqual([
      725, 725, 500, 500, 500,
    ])
    expect([rateAt('CA', 'QC'), rateAt('CA', 'ON'), rateAt('CA'), rateAt('DE', 'BY'), rateAt('FR', 'CA')]).toEqual([
      997,
      undefined,
      undefined,
      1_900,
      undefined,
    ])
  })

  test('applies the tax rate of a region that the shop stored with surrounding blanks', () => {
    const rate: TaxRate = { country: 'US', region: ' Ny ', rateBps: 400, inclusive: false }
    expect(taxRateAt([rate], { countryCode: 'US', province: 'NY' })).toBe(rate)
  })

  test('applies the most specific tax rate: class and region, class and country, region, country', () => {
    const books = (country: string, region: string | null, rateBps: number) => ({ ...rate(country, region, rateBps), class: 'books' })
    const all = [...rates, books('US', 'NY', 100), books('US', null, 0), books('FR', null, 550)]
    const rateAt = (countryCode: string, province: string | null, taxClass: string | null) =>
      taxRateAt(all, { countryCode, province }, undefined, taxClass)?.rateBps
    expect([rateAt('US', 'NY', 'books'), rateAt('US', 'CA', 'books'), rateAt('US', 'CA', null), rateAt('US', 'CA', 'food')]).toEqual([
      100, 0, 725, 725,
    ])
    // A class without a rate uses the standard rate. Standard goods never use the rate of a class.
    expect([rateAt('CA', 'QC', 'books'), rateAt('DE', null, 'books'), rateAt('FR', null, 'books'), rateAt('FR', null, null)]).toEqual([
      997,
      1_900,
      550,
      undefined,
    ])
  })

  test('taxes by the shipping address, else the billing address, else the country of the shop', () => {
    const address = (countryCode: string) => ({ countryCode, province: null }) as Cart['shippingAddress']
    expect(taxPlaceOf({ shippingAddress: address('DE'), billingAddress: address('FR') }, 'US').countryCode).toBe('DE')
    expect(taxPlaceOf({ shippingAddress: null, billingAddress: address('FR') }, 'US').countryCode).toBe('FR')
    expect(taxPlaceOf({ shippingAddress: null, billingAddress: null }, 'US')).toEqual({ countryCode: 'US', province: null })
  })
})

test('allows only the defined cart state changes, and reads an open cart past its expiry as expired', () => {
  const followers: Readonly<Record<CartStatus, readonly CartStatus[]>> = cartTransitions
  for (const from of cartStatuses)
    for (const to of cartStatuses)
      expect([from, to, followers[from].includes(to)]).toEqual([
        from,
        to,
        from === 'OPEN' ? to !== 'OPEN' : from === 'CONVERTED' && to === 'OPEN',
      ])
  const read = (status: CartStatus, expiresAt: number) => statusAt({ status, expiresAt }, now)
  expect([read('OPEN', now + 1), read('OPEN', now), read('CONVERTED', now), read('EXPIRED', now + 1)]).toEqual([
    'OPEN',
    'EXPIRED',
    'CONVERTED',
    'EXPIRED',
  ])
})

test('keeps a cart for 30 days after its last change', () => {
  expect(cartLifeMs).toBe(2_592_000_000)
})

test('sets the change time of a cart to now, or just after the previous change if the clock has not advanced', () => {
  expect([999, 1_000, 1_001].map((at) => nextUpdatedAt({ updatedAt: 1_000 }, at))).toEqual([1_001, 1_001, 1_001])
  expect(nextUpdatedAt({ updatedAt: 1_000 }, 2_000)).toBe(2_000)
})

test("grants access to a cart to its customer and its shop, and to a guest's cart to everyone in the shop", () => {
  const accesses: CartAccess[] = ['all', 'guests', { customerId: 'cus_1' }, { customerId: 'cus_2' }]
  expect(accesses.map((access) => canAccessCart(access, { customerId: null }))).toEqual([true, true, true, true])
  expect(accesses.map((access) => canAccessCart(access, { customerId: 'cus_1' }))).toEqual([true, false, true, false])
})

test('encodes cart ids as a UUIDv4 in base32 with 122 random bits', () => {
  const bitsOf = (id: string) =>
    [...id.slice('cart_'.length)]
      .map((character) => '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(character).toString(2).padStart(5, '0'))
      .join('')
      .slice(2)
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const id = newCartId(() => bytes)
      expect(id).toMatch(/^cart_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      const bits = bitsOf(id)
      expect([bits.length, bits.slice(48, 52), bits.slice(64, 66)]).toEqual([128, '0100', '10'])
      const inputBits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
      const randomBits = (all: string) => all.slice(0, 48) + all.slice(52, 64) + all.slice(66)
      expect(randomBits(bits)).toBe(randomBits(inputBits))
      expect(randomBits(bits).length).toBe(122)
    }),
  )
})
