/** Random purchases, and their expected totals in fractions of BigInt. The oracle shares no code with souk. */
import fc from 'fast-check'
import type { TaxRate } from '../../db/schema/shop.ts'
import { decimalsOf } from '../../src/lib/money.ts'
import type { Sellable } from '../../src/modules/catalog/products/domain.ts'
import type { Cart } from '../../src/modules/selling/cart/domain.ts'
import type { CartItem, CartSnapshot } from '../../src/modules/selling/cart/pricing.ts'
import type { Offer } from '../../src/modules/selling/discount/domain.ts'
import type { GiftCard } from '../../src/modules/selling/gift-card/domain.ts'
import type { Shop } from '../../src/modules/shop/shop/domain.ts'

type Place = { countryCode: string; province: string | null }
type Line = { unitPrice: number; quantity: number; taxable: boolean; taxClass: string | null; isEligible: boolean }
export type Purchase = {
  currency: string
  rates: TaxRate[]
  shippingAddress: Place | null
  billingAddress: Place | null
  lines: Line[]
  discount: { kind: 'PERCENT' | 'FIXED'; value: number } | undefined
  isShippingFree: boolean
  shipping: number | undefined
  cards: number[]
  /** Refunds of lines before the rest: a line, a quantity, and whether the refund succeeds. */
  refunds: { line: number; quantity: number; succeeds: boolean }[]
}

const classes = fc.constantFrom(undefined, undefined, 'books', 'food')
const rate: fc.Arbitrary<TaxRate> = fc
  .record({
    country: fc.constantFrom('US', 'US', 'JP'),
    region: fc.constantFrom(null, 'CA', 'NY'),
    rateBps: fc.oneof(
      fc.integer({ min: 0, max: 1_000_000 }).map((hundredths) => hundredths / 100),
      fc.constantFrom(0, 0.01, 500, 887.5, 1_000, 2_000, 10_000),
    ),
    inclusive: fc.boolean(),
    shipping: fc.boolean(),
    class: classes,
  })
  .map(({ class: taxClass, ...rest }) => (taxClass === undefined ? rest : { ...rest, class: taxClass }))
const place: fc.Arbitrary<Place | null> = fc.option(
  fc.record({ countryCode: fc.constantFrom('US', 'US', 'JP', 'KW'), province: fc.constantFrom(null, 'CA', 'ca', 'NY', 'TX') }),
)

/** Currencies with no, two and three decimals; inclusive and exclusive rates mixed. */
export const purchases: fc.Arbitrary<Purchase> = fc.constantFrom('JPY', 'USD', 'KWD').chain((currency) => {
  const unit = 10 ** decimalsOf(currency)
  const price = fc.oneof(fc.integer({ min: 0, max: 5_000 * unit }), fc.constantFrom(0, 1, 3, 5, 15 * unit))
  return fc.record({
    currency: fc.constant(currency),
    rates: fc.uniqueArray(rate, {
      selector: ({ country, region, class: taxClass }) => `${country}/${region}/${taxClass}`,
      minLength: 1,
      maxLength: 6,
    }),
    shippingAddress: place,
    billingAddress: place,
    lines: fc.array(
      fc.record({
        unitPrice: price,
        quantity: fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 9_999 })),
        taxable: fc.constantFrom(true, true, false),
        taxClass: classes.map((taxClass) => taxClass ?? null),
        isEligible: fc.constantFrom(true, true, false),
      }),
      { maxLength: 6 },
    ),
    discount: fc.option(
      fc.oneof(
        fc.record({ kind: fc.constant('PERCENT' as const), value: fc.integer({ min: 1, max: 10_000 }) }),
        fc.record({ kind: fc.constant('FIXED' as const), value: fc.integer({ min: 1, max: 10_000 * unit }) }),
      ),
      { nil: undefined },
    ),
    isShippingFree: fc.constantFrom(false, false, false, true),
    shipping: fc.option(price, { nil: undefined, freq: 8 }),
    cards: fc.array(fc.integer({ min: 1, max: 5_000 * unit }), { maxLength: 2 }),
    refunds: fc.array(fc.record({ line: fc.nat({ max: 5 }), quantity: fc.integer({ min: 1, max: 5 }), succeeds: fc.boolean() }), {
      maxLength: 5,
    }),
  })
})

const addressOf = (at: Place | null): Cart['shippingAddress'] =>
  at && { name: 'Ada', company: null, line1: '1 Street', line2: null, city: 'City', postalCode: null, phone: null, ...at }

/** Returns the cart snapshot of a purchase, for pricing. */
export function snapshotOf({ currency, rates, lines, discount, isShippingFree, shipping, cards, ...at }: Purchase): CartSnapshot {
  const cart = {
    id: 'cart_1',
    currency,
    customerId: null,
    discountCode: null,
    draft: null,
    shippingMethod: shipping === undefined ? null : 'post',
    shippingAddress: addressOf(at.shippingAddress),
    billingAddress: addressOf(at.billingAddress),
  } as Cart
  const shippingMethods =
    shipping === undefined ? [] : [{ code: 'post', title: 'Post', countries: [], price: { amount: shipping, currency } }]
  const items = lines.map(({ unitPrice, quantity, taxable, taxClass }, nth): CartItem => {
    const variant = { id: `var_${nth}`, taxable, taxClass, price: unitPrice, weightGrams: 0, requiresShipping: true }
    const line = { id: `line_${nth}`, cartId: cart.id, variantId: variant.id, quantity, unitPrice }
    return { line, sellable: { variant, product: { id: `prod_${nth}` } } as Sellable }
  })
  const offer = (id: string, fields: Partial<Offer>) =>
    ({ id, code: null, status: 'ACTIVE', startsAt: null, endsAt: null, usageLimit: null, perCustomerLimit: null, ...fields }) as Offer
  const always = { currency: null, minSubtotal: null, createdAt: 1, used: 0, of: null }
  const products = new Set(lines.flatMap(({ isEligible }, nth) => (isEligible ? [`prod_${nth}`] : [])))
  const of = { products, collections: new Set<string>() }
  const { kind, value } = discount ?? {}
  const worth = kind === 'PERCENT' ? { valueBps: value, amount: null } : { valueBps: null, amount: value }
  const all = [
    ...(kind ? [offer('disc_1', { ...always, ...worth, kind, of } as Partial<Offer>)] : []),
    ...(isShippingFree ? [offer('disc_2', { ...always, kind: 'FREE_SHIPPING' })] : []),
  ]
  const giftCards = cards.map((balance, nth) => {
    const card = { id: `gift_${nth}`, last4: `000${nth}`, currency, balance, status: 'ACTIVE', customerId: null, expiresAt: null }
    return { ...card, createdAt: nth } as GiftCard
  })
  return {
    cart,
    shop: { country: 'US', taxRates: rates, shippingMethods } as unknown as Shop,
    items,
    giftCards,
    provinces: new Map(),
    offers: { all, collections: new Map(), uses: new Map() },
  }
}

/** Divides, and rounds half to even: one less if rounding half up hit an odd number by a tie. */
function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const [shifted, twice] = [2n * numerator + denominator, 2n * denominator]
  const up = shifted / twice
  return shifted % twice === 0n && up % 2n === 1n ? up - 1n : up
}
/** Returns a rate in hundredths of a basis point: 88750 for 887.5. */
const digitsOf = (rateBps: number): bigint => BigInt(rateBps.toFixed(2).replace('.', ''))
const taxOf = (amount: bigint, of: TaxRate | undefined): bigint =>
  of ? divideHalfEven(amount * digitsOf(of.rateBps), 1_000_000n + (of.inclusive ? digitsOf(of.rateBps) : 0n)) : 0n

/** Returns the best matching rate: a match of class counts more than one of region. */
function bestRate(rates: readonly TaxRate[], { countryCode, province }: Place, taxClass: string | null): TaxRate | undefined {
  const score = ({ region, class: of }: TaxRate) => (of === undefined ? 0 : 2) + (region === null ? 0 : 1)
  return rates
    .filter(({ country }) => country === countryCode)
    .filter(({ region }) => region === null || region === province?.toUpperCase())
    .filter(({ class: of }) => of === undefined || of === taxClass)
    .reduce<TaxRate | undefined>((best, one) => (best && score(best) > score(one) ? best : one), undefined)
}

/** Returns the standard rate if it has `shipping`, else the rate of the first class that has it. */
function rateOfShipping(rates: readonly TaxRate[], at: Place): TaxRate | undefined {
  const standard = bestRate(rates, at, null)
  if (standard?.shipping) return standard
  const named = rates.flatMap(({ class: taxClass }) => taxClass ?? []).filter((name, nth, all) => all.indexOf(name) === nth)
  for (const name of named) {
    const ofClass = rates.filter((one) => one.class === name)
    const best = bestRate(ofClass, at, name)
    if (best?.shipping) return best
  }
  return undefined
}

/** Splits a discount among lines: rounds down, and then adds one unit for the largest remainders. */
function splitDiscount(amount: bigint, totals: readonly bigint[]): bigint[] {
  const whole = totals.reduce((sum, total) => sum + total, 0n)
  const parts = totals.map((total) => (whole === 0n ? 0n : (amount * total) / whole))
  const rests = totals.map((total) => (whole === 0n ? 0n : (amount * total) % whole))
  let left = whole === 0n ? 0n : amount - parts.reduce((sum, part) => sum + part, 0n)
  for (; left > 0n; left--) {
    const largest = rests.reduce((best, rest, nth) => (rest > (rests[best] ?? 0n) ? nth : best), 0)
    parts[largest] = (parts[largest] ?? 0n) + 1n
    rests[largest] = -1n
  }
  return parts
}

/** Returns the totals of a purchase by the contract. */
export function expectedOf({ rates, shippingAddress, billingAddress, lines, discount, isShippingFree, ...rest }: Purchase) {
  const at = shippingAddress ?? billingAddress ?? { countryCode: 'US', province: null }
  const totals = lines.map(({ unitPrice, quantity }) => BigInt(unitPrice) * BigInt(quantity))
  const eligible = totals.map((total, nth) => (lines[nth]?.isEligible ? total : 0n))
  const sum = (all: readonly bigint[]) => all.reduce((one, other) => one + other, 0n)
  const worth = () => {
    if (!discount) return 0n
    const value = BigInt(discount.value)
    if (discount.kind === 'PERCENT') return divideHalfEven(sum(eligible) * value, 10_000n)
    return value < sum(eligible) ? value : sum(eligible)
  }
  const discounts = splitDiscount(worth(), eligible)
  const ofLines = lines.map(({ taxable, taxClass }, nth) => {
    const of = taxable ? bestRate(rates, at, taxClass) : undefined
    const [total, off] = [totals[nth] ?? 0n, discounts[nth] ?? 0n]
    return { total, off, rateBps: of?.rateBps ?? 0, inclusive: of?.inclusive ?? false, tax: taxOf(total - off, of) }
  })
  const shipping = isShippingFree || lines.length === 0 ? 0n : BigInt(rest.shipping ?? 0)
  const shippingRate = rateOfShipping(rates, at)
  const shippingTax = taxOf(shipping, shippingRate)
  const taxes = [...ofLines, { inclusive: shippingRate?.inclusive ?? false, tax: shippingTax }]
  const tax = sum(taxes.map((one) => (one.inclusive ? 0n : one.tax)))
  const total = sum(totals) - sum(discounts) + shipping + tax
  const onCards = sum(rest.cards.map(BigInt))
  const giftCards = onCards < total ? onCards : total
  return {
    lines: ofLines,
    shippingRate,
    totals: {
      subtotal: sum(totals),
      discount: sum(discounts),
      shipping,
      tax,
      taxIncluded: sum(taxes.map((one) => (one.inclusive ? one.tax : 0n))),
      shippingTax,
      giftCards,
      total,
      amountDue: total - giftCards,
    },
  }
}
