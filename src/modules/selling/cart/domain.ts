import type { cartLines, carts, OrderDiscount, SettledField } from '../../../../db/schema/selling.ts'
import type { ShippingMethod, TaxRate } from '../../../../db/schema/shop.ts'
import { AppError } from '../../../core/errors.ts'
import { dayMs } from '../../../lib/day.ts'
import { amountMax } from '../../../lib/money.ts'
import { multiplyHalfEven } from '../../../lib/rounding.ts'
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

/** Returns the expiry of a cart after a shopper's change. */
export const expiryAfter = ({ draft, expiresAt }: Pick<Cart, 'draft' | 'expiresAt'>, now: number): number =>
  draft === null ? now + cartLifeMs : expiresAt

const fixed = () => new AppError('CONFLICT', 'The shop has drawn up this order: its lines, prices and discount are changed as its draft')

/**
 * Refuses changes of a draft's lines, prices and discount: its shop makes them through the draft.
 * @throws AppError CONFLICT for the cart of a draft
 */
export function assertNoDraft({ draft }: Pick<Cart, 'draft'>): void {
  if (draft !== null) throw fixed()
}

/**
 * Refuses changes of fields that the shop settled in a draft.
 * @param change undefined keeps a field
 * @throws AppError CONFLICT for a settled field
 */
export function assertNotSettled({ draft }: Pick<Cart, 'draft'>, change: { readonly [Field in SettledField]?: unknown }): void {
  const settled = draft?.settled.find((field) => change[field] !== undefined)
  if (settled) throw new AppError('CONFLICT', `${settled} (body): settled by the shop, which has drawn up this order`)
}

/** Returns the time of a change. No two changes share one, so that it works as a version. */
export const nextUpdatedAt = ({ updatedAt }: Pick<Cart, 'updatedAt'>, now: number): number => Math.max(now, updatedAt + 1)

/**
 * The carts of a shop that a caller may read and change: all, those of guests, or those of guests and of one customer.
 */
export type CartAccess = 'all' | 'guests' | { customerId: string }

/** Whether a caller may read and change a cart of the shop. */
export const canAccessCart = (reach: CartAccess, { customerId }: Pick<Cart, 'customerId'>): boolean =>
  reach === 'all' || customerId === null || (reach !== 'guests' && reach.customerId === customerId)

/** Where a purchase is taxed, or goes to. */
export type TaxLocation = { countryCode: string; province: string | null }

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
  { countryCode, province }: TaxLocation,
  provinces: Provinces = noProvinces,
  taxClass: string | null = null,
): TaxRate | undefined {
  const isOf = ({ region }: TaxRate) => region && province !== null && isSameProvince(provinces, countryCode, region, province)
  const within = (one: string | undefined) => {
    const ofCountry = rates.filter((rate) => rate.country === countryCode && rate.class === one)
    return ofCountry.find(isOf) ?? ofCountry.find(({ region }) => !region)
  }
  return (taxClass === null ? undefined : within(taxClass)) ?? within(undefined)
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
  isSent: boolean
}

/**
 * Lists which of the shop's tax rates and shipping methods do not cover a cart's address, and an unknown province.
 * @param provinces empty for a shop without rates or zones by province
 */
export function noticesOf(
  { shippingAddress, billingAddress }: Pick<Cart, 'shippingAddress' | 'billingAddress'>,
  { taxRates, shippingMethods }: { taxRates: readonly TaxRate[]; shippingMethods: readonly ShippingMethod[] },
  provinces: Provinces,
  { taxClasses, parcel, isSent }: NoticeFacts,
): Notice[] {
  const taxedAt = shippingAddress ?? billingAddress
  const notices: Notice[] = []
  if (taxedAt && taxRates.length > 0 && taxClasses.some((taxClass) => !taxRateAt(taxRates, taxedAt, provinces, taxClass)))
    notices.push({ code: 'NO_TAX_RATE', message: 'No tax rate of the shop covers the address: no tax is counted' })
  if (shippingAddress && parcel.isNeeded && !isSent && shippingMethods.length > 0) {
    const isReached = shippingMethods.some((method) => shipsTo(method, shippingMethods, shippingAddress, provinces))
    const message = isReached
      ? 'No shipping method of the shop takes what is in the cart to the shipping address: it is too heavy or too dear for them'
      : 'No shipping method of the shop goes to the shipping address'
    notices.push({ code: 'NO_SHIPPING_METHOD', message })
  }
  if (taxedAt && isUnknownProvince(provinces, taxedAt))
    notices.push({
      code: 'UNKNOWN_PROVINCE',
      message: `The country ${taxedAt.countryCode} has no province "${taxedAt.province}": tax rates and shipping zones by province do not apply`,
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

/** `rate`: undefined for an untaxed line. `discount`: taken off before tax. */
export type PurchaseLine = { unitPrice: number; quantity: number; rate: TaxRate | undefined; discount?: number }
/** `total` is before the discount. */
export type TaxedLine = { total: number; discount: number; taxRateBps: number; taxInclusive: boolean; taxAmount: number }

const bpsOfWhole = 10_000

/**
 * Computes a purchase: each line is taxed and rounded by itself, shipping is untaxed, gift cards come last.
 * @param shippingOf returns the shipping price for a subtotal after discounts
 */
export function totalsOf<Draw extends { amount: number }>(
  { lines, shippingOf }: { lines: readonly PurchaseLine[]; shippingOf: (amount: number) => number },
  drawsOf: (amountToPay: number) => Draw[],
): { lines: TaxedLine[]; totals: Totals; draws: Draw[] } {
  const taxed = lines.map(taxedLine)
  const subtotal = sumOf(taxed.map(({ total }) => total))
  const tax = sumOf(taxed.map(({ taxInclusive, taxAmount }) => (taxInclusive ? 0 : taxAmount)))
  const taxIncluded = sumOf(taxed.map(({ taxInclusive, taxAmount }) => (taxInclusive ? taxAmount : 0)))
  const discount = sumOf(taxed.map((line) => line.discount))
  const shipping = shippingOf(subtotal - discount)
  const total = sumOf([subtotal - discount, shipping, tax])
  const draws = drawsOf(total)
  const giftCards = sumOf(draws.map(({ amount }) => amount))
  return {
    lines: taxed,
    totals: { subtotal, discount, shipping, tax, taxIncluded, giftCards, total, amountDue: total - giftCards },
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
 * A line's amount before discounts.
 * @throws AppError CONFLICT for more than can be stored
 */
export const lineTotalOf = ({ unitPrice, quantity }: Pick<PurchaseLine, 'unitPrice' | 'quantity'>): number => stored(unitPrice * quantity)

/** The tax on an amount, or the tax included in it, rounded half-even. */
export const taxOf = (amount: number, { rateBps, inclusive }: Pick<TaxRate, 'rateBps' | 'inclusive'>): number =>
  multiplyHalfEven(amount, rateBps, inclusive ? bpsOfWhole + rateBps : bpsOfWhole)

/** @throws AppError CONFLICT for more than can be stored */
export const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => stored(sum + amount), 0)

/** Checks that an amount can be stored. Numbers up to twice the limit are exact, and larger ones stay above it. */
function stored(amount: number): number {
  if (amount > amountMax) throw new AppError('CONFLICT', 'The total of the cart would be larger than any order can be')
  return amount
}
