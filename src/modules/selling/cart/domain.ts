import type { cartLines, carts, OrderDiscount, SettledField } from '../../../../db/schema/selling.ts'
import type { ShippingMethod, TaxRate } from '../../../../db/schema/shop.ts'
import { AppError } from '../../../core/errors.ts'
import { dayMs } from '../../../lib/day.ts'
import { amountMax } from '../../../lib/money.ts'
import { shareOf } from '../../../lib/rounding.ts'
import { reachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { isSameProvince, isUnknownProvince, noProvinces, type Provinces } from '../../shop/countries/domain.ts'
import { type Parcel, reaches } from '../../shop/shipping/domain.ts'

export type Cart = typeof carts.$inferSelect
export type CartLine = typeof cartLines.$inferSelect
export type CartStatus = Cart['status']

export const linesMax = 100
export const quantityMax = 9_999
export const giftCardsMax = 10
export const affiliateCodeMax = 64
/** After its last change. */
export const cartLifeMs = 30 * dayMs
/** A draft, after the last change by its shop: what shoppers do gives it no more. */
export const draftLifeMs = 90 * dayMs

export const cartTransitions = reachable('OPEN', {
  OPEN: ['CONVERTED', 'EXPIRED'],
  // A checkout that was taken back.
  CONVERTED: ['OPEN'],
  EXPIRED: [],
} as const satisfies Transitions<CartStatus>)
export const cartStatuses = statesOf(cartTransitions)

/** What a cart reads as: an open one whose time is over has expired, even if no job has come by yet. */
export const statusAt = ({ status, expiresAt }: Pick<Cart, 'status' | 'expiresAt'>, now: number): CartStatus =>
  status === 'OPEN' && expiresAt <= now ? 'EXPIRED' : status

/** Until when a cart is open after a shopper has done something with it. */
export const expiryAfter = ({ draft, expiresAt }: Pick<Cart, 'draft' | 'expiresAt'>, now: number): number =>
  draft === null ? now + cartLifeMs : expiresAt

const fixed = () => new AppError('CONFLICT', 'The shop has drawn up this order: its lines, prices and discount are changed as its draft')

/**
 * What is in a draft, at which prices and with which discount, is its shop's to say, by the routes of drafts.
 * @throws AppError CONFLICT for the cart of a draft
 */
export function assertNoDraft({ draft }: Pick<Cart, 'draft'>): void {
  if (draft !== null) throw fixed()
}

/**
 * Whoever pays a draft says what its shop has left open.
 * @param change what is undefined stays
 * @throws AppError CONFLICT for what the shop has settled
 */
export function assertNotSettled({ draft }: Pick<Cart, 'draft'>, change: { readonly [Field in SettledField]?: unknown }): void {
  const settled = draft?.settled.find((field) => change[field] !== undefined)
  if (settled) throw new AppError('CONFLICT', `${settled} (body): settled by the shop, which has drawn up this order`)
}

/** When a change of a cart counts as made: no two leave the same time, so that one tells whether another came between. */
export const nextUpdatedAt = ({ updatedAt }: Pick<Cart, 'updatedAt'>, now: number): number => Math.max(now, updatedAt + 1)

/** The carts of a shop that somebody may see and change: all of them, those of nobody, or those and their own. */
export type CartAccess = 'all' | 'guests' | { customerId: string }

/** Whether a cart of the shop lies within reach. */
export const canAccessCart = (reach: CartAccess, { customerId }: Pick<Cart, 'customerId'>): boolean =>
  reach === 'all' || customerId === null || (reach !== 'guests' && reach.customerId === customerId)

/** Where a purchase is taxed, or goes to. */
export type TaxLocation = { countryCode: string; province: string | null }

/** Where a cart is taxed: where it goes to, else where it is billed to, else where the shop is. */
export const taxPlaceOf = (
  { shippingAddress, billingAddress }: Pick<Cart, 'shippingAddress' | 'billingAddress'>,
  shopCountry: string,
): TaxLocation => shippingAddress ?? billingAddress ?? { countryCode: shopCountry, province: null }

/**
 * The rate of a place for a tax class, or for goods of none: the most specific that there is. A class's own rates stand instead of the
 * standard ones, a region's instead of its country's: class and region, class and country, region, country. Regions and provinces go by
 * code or name.
 * @param provinces without them, regions go by their spelling alone
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

/** What a shopper has to know of a cart, and would not see by its amounts. */
export type Notice = { code: (typeof noticeCodes)[number]; message: string }
export const noticeCodes = ['NO_TAX_RATE', 'NO_SHIPPING_METHOD', 'UNKNOWN_PROVINCE', 'DISCOUNT_NOT_COUNTED'] as const

/** What of a cart's lines decides which notices it has. */
export type NoticeFacts = {
  /** Of the lines that are taxed; of a cart without any, the standard one. */
  taxClasses: readonly (string | null)[]
  parcel: Parcel
  /** Whether a method is offered for the cart as it is. */
  isSent: boolean
}

/**
 * Lists what the address of a cart is not covered by, of a shop that has some (tax rates, shipping methods), and an
 * unknown province.
 * @param provinces empty for a shop without rates or zones by province, which has no unknown provinces
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
    const isReached = shippingMethods.some((method) => reaches(method, shippingMethods, shippingAddress, provinces))
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
  /** Held by the prices already. */
  taxIncluded: number
  /** What gift cards pay of the total. */
  giftCards: number
  total: number
  /** What is left to pay. */
  amountDue: number
}

/** What a cart comes to as its order has it. */
export type SoldCart = {
  totals: Totals
  /** The code of the method by which it goes. */
  shippingMethod: string | null
  /** What each gift card pays of it. */
  cards: { id: string; last4: string; amount: number }[]
  /** The discounts that count. */
  discounts: readonly OrderDiscount[]
  /** What they take off each line, by its id; of one that is missing nothing. */
  ofLines: ReadonlyMap<string, number>
}

/** `rate`: of its place and class; undefined where it is not taxed. `discount`: what is taken off the line, which its tax is not of. */
export type PurchaseLine = { unitPrice: number; quantity: number; rate: TaxRate | undefined; discount?: number }
/** `total` is before the discount. */
export type TaxedLine = { total: number; discount: number; taxRateBps: number; taxInclusive: boolean; taxAmount: number }

const bpsOfWhole = 10_000

/**
 * What a purchase comes to: each line taxed and rounded by itself, shipping untaxed, gift cards last.
 * @param shippingOf what is asked for sending goods of so much, which is their subtotal after discounts
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

/** What a line comes to before discounts. @throws AppError CONFLICT for more than can be stored */
export const lineTotalOf = ({ unitPrice, quantity }: Pick<PurchaseLine, 'unitPrice' | 'quantity'>): number => stored(unitPrice * quantity)

/** The tax on an amount, or the part of it that is tax; half a unit is rounded to the even one. */
export const taxOf = (amount: number, { rateBps, inclusive }: Pick<TaxRate, 'rateBps' | 'inclusive'>): number =>
  shareOf(amount, rateBps, inclusive ? bpsOfWhole + rateBps : bpsOfWhole)

/** @throws AppError CONFLICT for more than can be stored */
export const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => stored(sum + amount), 0)

/** An amount that can be stored. Up to twice the bound numbers are exact, and beyond it they stay above it. */
function stored(amount: number): number {
  if (amount > amountMax) throw new AppError('CONFLICT', 'The total of the cart would be larger than any order can be')
  return amount
}
