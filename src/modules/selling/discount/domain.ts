/** Computes discounts. Pure functions; amounts in minor units. */
import type { discounts, discountUses } from '../../../../db/schema/discounts.ts'
import type { OrderDiscount } from '../../../../db/schema/selling.ts'
import { decimalOf, decimalsOf, moneyOf } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { multiplyHalfEven } from '../../../lib/rounding.ts'
import { codeLimits } from '../../identity/auth/domain.ts'

export type Discount = typeof discounts.$inferSelect
export type DiscountUse = typeof discountUses.$inferSelect

export const discountKinds = ['PERCENT', 'FIXED', 'FREE_SHIPPING'] as const
export const discountStatuses = ['ACTIVE', 'DISABLED'] as const
export const titleMax = 255
export const codeMax = 64
export const bpsOfWhole = 10_000
export const usageMax = 1_000_000_000
/** Products that a discount may name. */
export const productsMax = 250
export const collectionsMax = 20
export const discountsPerShopMax = 10_000
/** Limit of automatic discounts. All are computed whenever a cart of the shop changes. */
export const automaticPerShopMax = 50
/** How long an ended automatic discount is still loaded, so that a shopper can be told its name. */
export const endedVisibleMs = 60 * 60_000

/** The limits of failed discount codes. */
export const discountCodeLimits = codeLimits('discount')

/** Returns a code in its canonical form, regardless of case and width. */
export const codeKeyOf = (code: string): string => code.trim().normalize('NFKC').toUpperCase()

/** A discount as pricing needs it. */
export type Offer = Readonly<Omit<Discount, 'productIds' | 'collectionIds'>> & {
  /** Null: applies to all products. */
  readonly of: { readonly products: ReadonlySet<string>; readonly collections: ReadonlySet<string> } | null
}

/** Converts a stored discount for pricing. */
export const offerOf = ({ productIds, collectionIds, ...discount }: Discount): Offer => ({
  ...discount,
  of: productIds === null && collectionIds === null ? null : { products: new Set(productIds), collections: new Set(collectionIds) },
})

/** The discounts on offer for a cart. */
export type Offers = {
  /** The shop's automatic discounts and the one of the cart's code, whether they apply or not. */
  readonly all: readonly Offer[]
  /** The relevant collections of each product in the cart. */
  readonly collections: ReadonlyMap<string, ReadonlySet<string>>
  /** The customer's uses of discounts that limit them. */
  readonly uses: ReadonlyMap<string, number>
}
export const noOffers: Offers = { all: [], collections: new Map(), uses: new Map() }

/** A line before discounts. A missing product matches no product or collection. Discounts never apply to gift cards. */
export type DiscountInputLine = { readonly total: number; readonly productId: string | undefined; readonly isGiftCard?: boolean }
/** The purchase that discounts are computed from; `lines` in the cart's order. */
export type DiscountInput = { readonly lines: readonly DiscountInputLine[]; readonly currency: string; readonly now: number }

/** Why a discount cannot be used, regardless of the cart. Undefined: it can. */
export type UnavailableReason = 'DISABLED' | 'SCHEDULED' | 'ENDED' | 'USED_UP' | 'USED_BY_CUSTOMER'

/** @param uses by the customer who asks */
export function unavailableReasonOf(
  offer: Pick<Offer, 'status' | 'startsAt' | 'endsAt' | 'usageLimit' | 'perCustomerLimit' | 'used'>,
  uses: number,
  now: number,
): UnavailableReason | undefined {
  if (offer.status !== 'ACTIVE') return 'DISABLED'
  if (offer.startsAt !== null && offer.startsAt > now) return 'SCHEDULED'
  if (isEnded(offer, now)) return 'ENDED'
  if (isUsedUp(offer)) return 'USED_UP'
  return offer.perCustomerLimit !== null && uses >= offer.perCustomerLimit ? 'USED_BY_CUSTOMER' : undefined
}
/**
 * Returns whether the end has passed. A discount is over at `endsAt` itself.
 * @param now milliseconds
 */
export const isEnded = ({ endsAt }: Pick<Discount, 'endsAt'>, now: number): boolean => endsAt !== null && endsAt <= now
const isUsedUp = ({ usageLimit, used }: Pick<Discount, 'usageLimit' | 'used'>): boolean => usageLimit !== null && used >= usageLimit

/** Returns why an offer of a cart cannot be used, with the customer's uses counted; see `unavailableReasonOf`. */
export const unavailableReasonIn = ({ uses }: Offers, offer: Offer, now: number): UnavailableReason | undefined =>
  unavailableReasonOf(offer, uses.get(offer.id) ?? 0, now)

/** The text for the shopper, after the discount's name. */
export const unavailableTexts: Readonly<Record<UnavailableReason, string>> = {
  DISABLED: 'is no longer available',
  SCHEDULED: 'has not started yet',
  ENDED: 'has ended',
  USED_UP: 'is used up',
  USED_BY_CUSTOMER: 'was already used the maximum number of times by this customer',
}

/** Returns the name that a shopper knows: code or title. */
export const discountNameOf = ({ code, title }: Pick<Discount, 'code' | 'title'>): string =>
  code === null ? `The discount “${title}”` : `The discount code ${code}`

/** A discount that applies, and its amount for each line in order; free shipping has none. */
export type AppliedDiscount = { readonly offer: Offer; readonly amount: number; readonly lineAmounts: readonly number[] }

/**
 * Returns the discount with the largest amount; of equal ones the one with a code, then the older. The input order
 * does not matter.
 */
export function bestReduction(offers: Offers, input: DiscountInput): AppliedDiscount | undefined {
  let best: Candidate | undefined
  for (const offer of offers.all) {
    if (offer.kind === 'FREE_SHIPPING') continue
    const evaluation = evaluate(offers, offer, input)
    if (evaluation.why !== undefined || evaluation.amount === 0) continue
    const candidate = { offer, amount: evaluation.amount }
    if (!best || isBetter(candidate, best)) best = candidate
  }
  if (!best) return undefined
  const { offer, amount } = best
  const totals = input.lines.map((line) => (covers(offers, offer, line) ? line.total : 0))
  return { offer, amount, lineAmounts: allocate(amount, totals) }
}

/**
 * Returns the discount that makes shipping free, if it costs something.
 * @param shipping its price
 */
export function freeShipping(offers: Offers, input: DiscountInput, shipping: number): AppliedDiscount | undefined {
  if (shipping <= 0) return undefined
  let best: Offer | undefined
  for (const offer of offers.all) {
    if (offer.kind !== 'FREE_SHIPPING' || evaluate(offers, offer, input).why !== undefined) continue
    if (!best || isBetter({ offer, amount: shipping }, { offer: best, amount: shipping })) best = offer
  }
  return best && { offer: best, amount: shipping, lineAmounts: input.lines.map(() => 0) }
}

type Candidate = { readonly offer: Offer; readonly amount: number }

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.amount !== b.amount) return a.amount > b.amount
  if ((a.offer.code === null) !== (b.offer.code === null)) return a.offer.code !== null
  if (a.offer.createdAt !== b.offer.createdAt) return a.offer.createdAt < b.offer.createdAt
  return a.offer.id < b.offer.id
}

type Evaluation =
  | { readonly why: UnavailableReason | 'OTHER_CURRENCY' | 'NOTHING_ELIGIBLE' | 'UNDER_MINIMUM' }
  | { readonly why: undefined; readonly amount: number }

/** Returns what a discount takes off, or why nothing. */
function evaluate(offers: Offers, offer: Offer, { lines, currency, now }: DiscountInput): Evaluation {
  const unavailable = unavailableReasonIn(offers, offer, now)
  if (unavailable !== undefined) return { why: unavailable }
  if (offer.currency !== null && offer.currency !== currency) return { why: 'OTHER_CURRENCY' }
  let subtotal = 0
  let coversAny = false
  for (const line of lines) {
    if (!covers(offers, offer, line)) continue
    coversAny = true
    subtotal += line.total
  }
  if (!coversAny) return { why: 'NOTHING_ELIGIBLE' }
  if (offer.minSubtotal !== null && subtotal < offer.minSubtotal) return { why: 'UNDER_MINIMUM' }
  return { why: undefined, amount: reductionOf(offer, subtotal) }
}

function covers({ collections }: Offers, { of }: Offer, { productId, isGiftCard }: DiscountInputLine): boolean {
  if (isGiftCard) return false
  if (of === null) return true
  if (productId === undefined) return false
  if (of.products.has(productId)) return true
  for (const one of collections.get(productId) ?? []) if (of.collections.has(one)) return true
  return false
}

/** Returns the reduction of lines with this subtotal: a half-even share or an amount, at most the subtotal. */
export const reductionOf = ({ kind, valueBps, amount }: Pick<Discount, 'kind' | 'valueBps' | 'amount'>, subtotal: number): number => {
  if (kind === 'PERCENT') return multiplyHalfEven(subtotal, valueBps ?? 0, bpsOfWhole)
  return kind === 'FIXED' ? Math.min(amount ?? 0, subtotal) : 0
}

/**
 * Divides an amount among lines in proportion to their totals. Each gets its share rounded down; the remaining units go
 * to the largest remainders, and among equal ones to the first line. The parts add up to the amount, and none exceeds
 * its line.
 * @param amount at most the sum of the lines
 */
export function allocate(amount: number, totals: readonly number[]): number[] {
  const sumOfTotals = totals.reduce((sum, total) => sum + BigInt(total), 0n)
  if (sumOfTotals === 0n) return totals.map(() => 0)
  const shares = totals.map((total, at) => {
    const product = BigInt(amount) * BigInt(total)
    return { at, part: product / sumOfTotals, rest: product % sumOfTotals }
  })
  let left = BigInt(amount) - shares.reduce((sum, { part }) => sum + part, 0n)
  const parts = shares.map(({ part }) => Number(part))
  // The sort is stable: of equal remainders the first line comes first.
  for (const { at } of shares.toSorted((a, b) => (a.rest === b.rest ? 0 : a.rest > b.rest ? -1 : 1))) {
    if (left === 0n) break
    parts[at] = (parts[at] ?? 0) + 1
    left--
  }
  return parts
}

/** Returns a discount as an order stores it. */
export const orderDiscount = ({ offer, amount }: Pick<AppliedDiscount, 'offer' | 'amount'>): OrderDiscount => ({
  ...pick(offer, 'id', 'title', 'code', 'kind'),
  amount,
})

/** Renders a discount as carts and orders show it. */
export const orderDiscountView = ({ amount, ...discount }: OrderDiscount, currency: string) => ({
  ...discount,
  amount: { amount, currency },
})

/**
 * Returns a sentence why the cart's code takes nothing off.
 * @param applied the discounts that apply instead
 */
export function notAppliedReasonOf(
  offers: Offers,
  offer: Offer,
  input: DiscountInput,
  applied: readonly AppliedDiscount[],
): string | undefined {
  if (applied.some((one) => one.offer.id === offer.id)) return undefined
  const { why } = evaluate(offers, offer, input)
  const name = discountNameOf(offer)
  switch (why) {
    case undefined:
      if (offer.kind === 'FREE_SHIPPING') return `${name} makes shipping free, but the cart has no paid shipping method yet`
      return applied.some((one) => one.offer.kind !== 'FREE_SHIPPING')
        ? `${name} does not apply, because another discount is larger`
        : undefined
    case 'UNDER_MINIMUM':
      return `${name} requires a minimum purchase of ${decimalOf(offer.minSubtotal ?? 0, decimalsOf(input.currency))} ${input.currency} of its products`
    case 'NOTHING_ELIGIBLE':
      return `${name} does not apply to the products in the cart`
    case 'OTHER_CURRENCY':
      return `${name} has another currency than the cart`
    default:
      return `${name} ${unavailableTexts[why]}`
  }
}

/** Renders a discount as its shop sees it. */
export function discountView(discount: Discount, now: number) {
  const { currency, usageLimit, used } = discount
  const moneyIn = (amount: number | null) => (amount === null || currency === null ? null : moneyOf({ amount, currency }, 'amount').amount)
  return {
    ...pick(discount, 'id', 'shopId', 'title', 'code', 'kind', 'valueBps'),
    amount: moneyIn(discount.amount),
    minSubtotal: moneyIn(discount.minSubtotal),
    ...pick(discount, 'productIds', 'collectionIds'),
    ...isoTimes(pick(discount, 'startsAt', 'endsAt')),
    ...pick(discount, 'usageLimit', 'perCustomerLimit', 'status'),
    used: usageLimit === null ? null : used,
    ended: isEnded(discount, now),
    usedUp: isUsedUp(discount),
    ...isoTimes(pick(discount, 'createdAt', 'updatedAt')),
    version: discount.version,
  }
}
export type DiscountView = ReturnType<typeof discountView>
