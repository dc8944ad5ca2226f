import type { cartLines, carts, OrderDiscount, orderGiftCards, orderLines, orders, SettledField } from '../../../../db/schema/selling.ts'
import type { ShippingMethod, TaxRate } from '../../../../db/schema/shop.ts'
import { AppError, fieldError } from '../../../core/errors.ts'
import { dayMs } from '../../../lib/day.ts'
import { amountMax } from '../../../lib/money.ts'
import { multiplyHalfEven } from '../../../lib/rounding.ts'
import { hundredthsOf, hundredthsOfWhole } from '../../../lib/tax-rate.ts'
import { assertReachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { isSameProvince, isUnknownProvince, noProvinces, type Provinces } from '../../shop/countries/domain.ts'
import { type ParcelContents, shipsTo } from '../../shop/shipping/domain.ts'

export type Cart = typeof carts.$inferSelect
export type CartLine = typeof cartLines.$inferSelect
export type CartStatus = Cart['status']

export const linesMax = 100
export const quantityMax = 9_999
export const giftCardsMax = 10
export const affiliateCodeMax = 64
/** The gift cards that one order issues at most: each is a row and a mail of the write that makes the sale. */
export const soldCardsMax = 100
export const recipientNameMax = 100
export const recipientMessageMax = 500
/** Counted from the last change. */
export const cartLifeMs = 30 * dayMs
/** A draft's, counted from its shop's last change. Changes by shoppers do not extend it. */
export const draftLifeMs = 90 * dayMs

export const cartTransitions = assertReachable('OPEN', {
  OPEN: ['CONVERTED', 'EXPIRED'],
  // A cancelled checkout.
  CONVERTED: ['OPEN'],
  EXPIRED: [],
} as const satisfies Transitions<CartStatus>)
export const cartStatuses = statesOf(cartTransitions)

/** Returns the status of a cart now: an open one whose time is over is EXPIRED, even before the job runs. */
export const statusAt = ({ status, expiresAt }: Pick<Cart, 'status' | 'expiresAt'>, now: number): CartStatus =>
  status === 'OPEN' && expiresAt <= now ? 'EXPIRED' : status

/** Returns the expiry of a cart after a shopper's change. A draft's shop and an agent's session decide on theirs. */
export const expiryAfter = ({ draft, agent, expiresAt }: Pick<Cart, 'draft' | 'agent' | 'expiresAt'>, now: number): number =>
  draft === null && agent === null ? now + cartLifeMs : expiresAt

const draftCartError = () =>
  new AppError('CONFLICT', 'This cart belongs to a draft order. Only the shop can change its lines, prices and discount')

/**
 * Refuses changes of a draft's lines, prices and discount: its shop makes them through the draft.
 * @throws AppError CONFLICT for the cart of a draft
 */
export function assertNoDraft({ draft }: Pick<Cart, 'draft'>): void {
  if (draft !== null) throw draftCartError()
}

/**
 * Refuses changes of fields that the shop settled in a draft.
 * @param change undefined keeps a field
 * @throws AppError CONFLICT for a settled field
 */
export function assertNotSettled({ draft }: Pick<Cart, 'draft'>, change: { readonly [Field in SettledField]?: unknown }): void {
  const settled = draft?.settled.find((field) => change[field] !== undefined)
  if (settled) throw fieldError('CONFLICT', settled, `set by the shop for this draft order`)
}

/** The shown amount due of a cart that an agent changed: no person has seen it yet, so none can pay it. */
export const unseenDue = -1

/** Returns the time of a change. No two changes share one, so that it works as a version. */
export const nextUpdatedAt = ({ updatedAt }: Pick<Cart, 'updatedAt'>, now: number): number => Math.max(now, updatedAt + 1)

/**
 * The carts of a shop that a caller may read and change: all, those of guests, or those of guests and of one customer.
 */
export type CartAccess = 'all' | 'guests' | { customerId: string }

/** Returns whether a caller may read and change a cart of the shop. */
export const canAccessCart = (reach: CartAccess, { customerId }: Pick<Cart, 'customerId'>): boolean =>
  reach === 'all' || customerId === null || (reach !== 'guests' && reach.customerId === customerId)

/** Where a purchase is taxed, or goes to. */
type TaxLocation = { countryCode: string; province: string | null }

/** Returns where a cart is taxed: by its shipping address, else its billing address, else the shop's country. */
export const taxPlaceOf = (
  { shippingAddress, billingAddress }: Pick<Cart, 'shippingAddress' | 'billingAddress'>,
  shopCountry: string,
): TaxLocation => shippingAddress ?? billingAddress ?? { countryCode: shopCountry, province: null }

/**
 * Returns the most specific tax rate of a location and tax class. The order is: class and region, class and country,
 * region, country. Regions and provinces match by code or name.
 * @param provinces without them, regions match by spelling alone
 */
export function taxRateAt(
  rates: readonly TaxRate[],
  location: TaxLocation,
  provinces: Provinces = noProvinces,
  taxClass: string | null = null,
): TaxRate | undefined {
  const standard = () => rateOfClass(rates, location, provinces, undefined)
  return taxClass === null ? standard() : (rateOfClass(rates, location, provinces, taxClass) ?? standard())
}

/** Returns the rate of a class: of the region, else of the country. */
function rateOfClass(
  rates: readonly TaxRate[],
  { countryCode, province }: TaxLocation,
  provinces: Provinces,
  taxClass: string | undefined,
): TaxRate | undefined {
  const isOf = ({ region }: TaxRate) => region && province !== null && isSameProvince(provinces, countryCode, region, province)
  const ofCountry = rates.filter((rate) => rate.country === countryCode && rate.class === taxClass)
  return ofCountry.find(isOf) ?? ofCountry.find(({ region }) => !region)
}

/**
 * Returns the rate of shipping to a location: the standard rate there if it applies to shipping, else the first rate
 * of a class that does. A region's rate that does not apply hides its country's.
 */
export function shippingTaxRateAt(
  rates: readonly TaxRate[],
  location: TaxLocation,
  provinces: Provinces = noProvinces,
): TaxRate | undefined {
  if (!rates.some(({ shipping }) => shipping)) return undefined
  const classes = new Set([undefined, ...rates.map((rate) => rate.class)])
  return [...classes].map((taxClass) => rateOfClass(rates, location, provinces, taxClass)).find((rate) => rate?.shipping)
}

/** A notice to the shopper that the amounts do not show. */
export type Notice = { code: (typeof noticeCodes)[number]; message: string }
export const noticeCodes = ['NO_TAX_RATE', 'NO_SHIPPING_METHOD', 'UNKNOWN_PROVINCE', 'DISCOUNT_NOT_COUNTED'] as const

/** The facts about a cart's lines that its notices depend on. */
export type NoticeFacts = {
  /** Of the taxed lines; the standard class for a cart without any. */
  taxClasses: readonly (string | null)[]
  parcel: ParcelContents
  /** Whether any method is offered for the cart. */
  isMethodOffered: boolean
}

/**
 * Lists which of the shop's tax rates and shipping methods do not cover a cart's address, and an unknown province.
 * @param provinces empty for a shop without rates or zones by province
 */
export function noticesOf(
  { shippingAddress, billingAddress }: Pick<Cart, 'shippingAddress' | 'billingAddress'>,
  { taxRates, shippingMethods }: { taxRates: readonly TaxRate[]; shippingMethods: readonly ShippingMethod[] },
  provinces: Provinces,
  { taxClasses, parcel, isMethodOffered }: NoticeFacts,
): Notice[] {
  const taxedAt = shippingAddress ?? billingAddress
  const notices: Notice[] = []
  if (taxedAt && taxRates.length > 0 && taxClasses.some((taxClass) => !taxRateAt(taxRates, taxedAt, provinces, taxClass)))
    notices.push({ code: 'NO_TAX_RATE', message: 'No tax rate covers the address, so no tax is charged' })
  if (shippingAddress && parcel.isNeeded && !isMethodOffered && shippingMethods.length > 0) {
    const isReached = shippingMethods.some((method) => shipsTo(method, shippingMethods, shippingAddress, provinces))
    const message = isReached
      ? 'No shipping method is available for this cart: its weight or value is outside their limits'
      : 'No shipping method covers the shipping address'
    notices.push({ code: 'NO_SHIPPING_METHOD', message })
  }
  if (taxedAt && isUnknownProvince(provinces, taxedAt))
    notices.push({
      code: 'UNKNOWN_PROVINCE',
      message: `The country ${taxedAt.countryCode} has no province "${taxedAt.province}", so tax rates and shipping zones of provinces do not apply`,
    })
  return notices
}

/** Amounts in minor units. */
export type Totals = {
  subtotal: number
  discount: number
  shipping: number
  /** On top of the prices. */
  tax: number
  /** Included in the prices. */
  taxIncluded: number
  /** On shipping: part of `tax`, or of `taxIncluded` for an inclusive rate. */
  shippingTax: number
  /** Paid by gift cards. */
  giftCards: number
  total: number
  /** Left to pay. */
  amountDue: number
}

/** The amounts of a converted cart, from its order. */
export type SoldCart = {
  totals: Totals
  /** The code of the shipping method. */
  shippingMethod: string | null
  /** What each gift card pays. */
  cards: { id: string; last4: string; amount: number }[]
  /** The discounts that apply. */
  discounts: readonly OrderDiscount[]
  /** The discount of each line, by its id; none if missing. */
  ofLines: ReadonlyMap<string, number>
}

/** An order with what its cart shows of it. `lines`: only needed with a discount. */
export type Sale = {
  readonly order: typeof orders.$inferSelect
  readonly giftCards: readonly Pick<typeof orderGiftCards.$inferSelect, 'giftCardId' | 'last4' | 'amount'>[]
  readonly lines: readonly Pick<typeof orderLines.$inferSelect, 'id' | 'discount'>[]
}

/** Returns the amounts of a converted cart. */
export const soldCartOf = ({ order, giftCards, lines }: Sale): SoldCart => ({
  totals: {
    subtotal: order.subtotal,
    discount: order.discountTotal,
    shipping: order.shippingTotal,
    tax: order.taxTotal,
    taxIncluded: order.taxIncluded,
    shippingTax: order.shippingTax,
    giftCards: order.giftCardTotal,
    total: order.total,
    amountDue: order.amountDue,
  },
  shippingMethod: order.shippingMethod?.code ?? null,
  cards: giftCards.map(({ giftCardId: id, last4, amount }) => ({ id, last4, amount })),
  discounts: order.discounts,
  ofLines: new Map(lines.map(({ id, discount }) => [id, discount])),
})

/** `rate`: undefined for an untaxed line. `discount`: taken off before tax. */
type PurchaseLine = { unitPrice: number; quantity: number; rate: TaxRate | undefined; discount?: number }
/** `total` is before the discount. */
export type TaxedLine = { total: number; discount: number; taxRateBps: number; taxInclusive: boolean; taxAmount: number }

/**
 * Computes a purchase: each line and shipping are taxed and rounded by themselves, gift cards come last.
 * @param shippingOf returns the shipping price for a subtotal after discounts
 * @param shippingRate undefined for untaxed shipping
 */
export function totalsOf<Draw extends { amount: number }>(
  {
    lines,
    shippingOf,
    shippingRate,
  }: { lines: readonly PurchaseLine[]; shippingOf: (amount: number) => number; shippingRate?: TaxRate | undefined },
  drawsOf: (amountToPay: number) => Draw[],
): { lines: TaxedLine[]; totals: Totals; draws: Draw[] } {
  const taxed = lines.map(taxedLine)
  const subtotal = sumOf(taxed.map(({ total }) => total))
  const discount = sumOf(taxed.map((line) => line.discount))
  const shipping = shippingOf(subtotal - discount)
  const shippingTax = shippingRate ? taxOf(shipping, shippingRate) : 0
  const taxes = [...taxed, { taxInclusive: shippingRate?.inclusive ?? false, taxAmount: shippingTax }]
  const tax = sumOf(taxes.map(({ taxInclusive, taxAmount }) => (taxInclusive ? 0 : taxAmount)))
  const taxIncluded = sumOf(taxes.map(({ taxInclusive, taxAmount }) => (taxInclusive ? taxAmount : 0)))
  const total = sumOf([subtotal - discount, shipping, tax])
  const draws = drawsOf(total)
  const giftCards = sumOf(draws.map(({ amount }) => amount))
  return {
    lines: taxed,
    totals: { subtotal, discount, shipping, tax, taxIncluded, shippingTax, giftCards, total, amountDue: total - giftCards },
    draws,
  }
}

function taxedLine(line: PurchaseLine): TaxedLine {
  const { rate, discount = 0 } = line
  const total = lineTotalOf(line)
  const taxAmount = rate ? taxOf(total - discount, rate) : 0
  return { total, discount, taxRateBps: rate?.rateBps ?? 0, taxInclusive: rate?.inclusive ?? false, taxAmount }
}

/**
 * Returns a line's amount before discounts.
 * @throws AppError CONFLICT for more than can be stored
 */
export const lineTotalOf = ({ unitPrice, quantity }: Pick<PurchaseLine, 'unitPrice' | 'quantity'>): number =>
  checkedAmount(unitPrice * quantity)

/** Returns the tax on an amount, or the tax included in it, rounded half-even. */
export function taxOf(amount: number, { rateBps, inclusive }: Pick<TaxRate, 'rateBps' | 'inclusive'>): number {
  const rate = hundredthsOf(rateBps)
  return multiplyHalfEven(amount, rate, inclusive ? hundredthsOfWhole + rate : hundredthsOfWhole)
}

/** @throws AppError CONFLICT for more than can be stored */
export const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => checkedAmount(sum + amount), 0)

/** Checks that an amount can be stored. Numbers up to twice the limit are exact, and larger ones stay above it. */
function checkedAmount(amount: number): number {
  if (amount > amountMax) throw new AppError('CONFLICT', 'The total of the cart would exceed the largest total of an order')
  return amount
}
