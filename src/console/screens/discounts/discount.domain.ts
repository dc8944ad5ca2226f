import type { Schema } from '../../lib/api/api.ts'
import { parseChangedWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'
import { moneyText, parseMoney } from '../../lib/forms/amounts.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'
import { parsePercent, percentText } from '../../lib/forms/percent.ts'

type Discount = Schema<'Discount'>
type DiscountState = 'DISABLED' | 'ENDED' | 'USED_UP' | 'SCHEDULED' | 'ACTIVE'

/**
 * Returns the discount's state; DISABLED precedes the others.
 * @param now server time in milliseconds
 */
export function discountState({ status, ended, usedUp, startsAt }: Discount, now: number): DiscountState {
  if (status === 'DISABLED') return 'DISABLED'
  if (ended) return 'ENDED'
  if (usedUp) return 'USED_UP'
  return startsAt !== null && Date.parse(startsAt) > now ? 'SCHEDULED' : 'ACTIVE'
}
export const stateTone = { ACTIVE: 'good', DISABLED: 'plain', ENDED: 'plain', USED_UP: 'warn', SCHEDULED: 'info' } as const

/** The form's values. */
export type DiscountText = {
  readonly title: string
  readonly how: 'CODE' | 'AUTOMATIC'
  readonly code: string
  readonly kind: Discount['kind']
  readonly percent: string
  readonly amount: string
  readonly minSubtotal: string
  readonly products: readonly Choice[]
  readonly collections: readonly Choice[]
  readonly startsAt: string
  readonly endsAt: string
  readonly usageLimit: string
  readonly perCustomerLimit: string
  readonly isActive: boolean
}
export const blankDiscount: DiscountText = {
  title: '',
  how: 'CODE',
  code: '',
  kind: 'PERCENT',
  percent: '',
  amount: '',
  minSubtotal: '',
  products: [],
  collections: [],
  startsAt: '',
  endsAt: '',
  usageLimit: '',
  perCustomerLimit: '',
  isActive: true,
}

const digits = (value: number | null) => (value === null ? '' : String(value))

/**
 * Returns the form's values of a discount.
 * @param products with their titles
 * @param collections with their titles
 */
export const textOf = (
  discount: Discount,
  { zone, products, collections }: { zone: string; products: readonly Choice[]; collections: readonly Choice[] },
): DiscountText => ({
  title: discount.title,
  how: discount.code === null ? 'AUTOMATIC' : 'CODE',
  code: discount.code ?? '',
  kind: discount.kind,
  percent: discount.valueBps === null ? '' : percentText(discount.valueBps),
  amount: discount.amount === null ? '' : moneyText(discount.amount),
  minSubtotal: discount.minSubtotal === null ? '' : moneyText(discount.minSubtotal),
  products,
  collections,
  startsAt: wallTimeText(discount.startsAt, zone),
  endsAt: wallTimeText(discount.endsAt, zone),
  usageLimit: digits(discount.usageLimit),
  perCustomerLimit: digits(discount.perCustomerLimit),
  isActive: discount.status === 'ACTIVE',
})

export const bodyFields = [
  'title',
  'code',
  'kind',
  'valueBps',
  'amount',
  'minSubtotal',
  'productIds',
  'collectionIds',
  'startsAt',
  'endsAt',
  'usageLimit',
  'perCustomerLimit',
  'status',
] as const satisfies readonly (keyof Discount)[]
export type Body = Pick<Discount, (typeof bodyFields)[number]>
export type FieldErrors = { readonly [Field in keyof DiscountText]?: 'required' | 'amount' | 'percent' | 'number' | 'moment' | 'order' }

/** Parses a whole number from 1; null for empty, undefined if invalid. */
function parseCount(text: string): number | null | undefined {
  if (text.trim() === '') return null
  const count = wholeNumber(text) ?? 0
  return count > 0 && count <= 1_000_000_000 ? count : undefined
}

const parsePositive = (text: string, currency: string) => {
  const money = parseMoney(text, currency)
  return money && money.amount > 0 ? money : undefined
}

/**
 * Builds the request body, or returns the wrong fields.
 * @param before the stored discount, for a change
 */
export function bodyOf(
  input: DiscountText,
  { currency, zone, before }: { currency: string; zone: string; before?: Discount | undefined },
): { readonly body: Body } | { readonly errors: FieldErrors } {
  const { kind } = input
  const valueBps = kind === 'PERCENT' ? parsePercent(input.percent) || undefined : null
  const amount = kind === 'FIXED' ? parsePositive(input.amount, currency) : null
  const minSubtotal = input.minSubtotal.trim() === '' ? null : parsePositive(input.minSubtotal, currency)
  const startsAt = parseChangedWallTime(input.startsAt, before?.startsAt ?? null, zone)
  const endsAt = parseChangedWallTime(input.endsAt, before?.endsAt ?? null, zone)
  const usageLimit = parseCount(input.usageLimit)
  const perCustomerLimit = parseCount(input.perCustomerLimit)
  const errors: { -readonly [Field in keyof FieldErrors]: FieldErrors[Field] } = {}
  if (input.title.trim() === '') errors.title = 'required'
  if (input.how === 'CODE' && input.code.trim() === '') errors.code = 'required'
  if (valueBps === undefined) errors.percent = 'percent'
  if (amount === undefined) errors.amount = 'amount'
  if (minSubtotal === undefined) errors.minSubtotal = 'amount'
  if (startsAt === undefined) errors.startsAt = 'moment'
  if (endsAt === undefined) errors.endsAt = 'moment'
  else if (startsAt && endsAt && Date.parse(endsAt) <= Date.parse(startsAt)) errors.endsAt = 'order'
  if (usageLimit === undefined) errors.usageLimit = 'number'
  if (perCustomerLimit === undefined) errors.perCustomerLimit = 'number'
  if (
    Object.keys(errors).length > 0 ||
    valueBps === undefined ||
    amount === undefined ||
    minSubtotal === undefined ||
    startsAt === undefined ||
    endsAt === undefined ||
    usageLimit === undefined ||
    perCustomerLimit === undefined
  )
    return { errors }
  const idsOf = (chosen: readonly Choice[]) => (chosen.length === 0 ? null : chosen.map(({ id }) => id))
  return {
    body: {
      title: input.title.trim(),
      code: input.how === 'CODE' ? input.code.trim() : null,
      kind,
      valueBps,
      amount,
      minSubtotal,
      productIds: idsOf(input.products),
      collectionIds: idsOf(input.collections),
      startsAt,
      endsAt,
      usageLimit,
      perCustomerLimit,
      status: input.isActive ? 'ACTIVE' : 'DISABLED',
    },
  }
}
