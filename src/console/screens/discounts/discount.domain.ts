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

/** @param names products and collections with their titles */
export const textOf = (
  of: Discount,
  { zone, products, collections }: { zone: string; products: readonly Choice[]; collections: readonly Choice[] },
): DiscountText => ({
  title: of.title,
  how: of.code === null ? 'AUTOMATIC' : 'CODE',
  code: of.code ?? '',
  kind: of.kind,
  percent: of.valueBps === null ? '' : percentText(of.valueBps),
  amount: of.amount === null ? '' : moneyText(of.amount),
  minSubtotal: of.minSubtotal === null ? '' : moneyText(of.minSubtotal),
  products,
  collections,
  startsAt: wallTimeText(of.startsAt, zone),
  endsAt: wallTimeText(of.endsAt, zone),
  usageLimit: digits(of.usageLimit),
  perCustomerLimit: digits(of.perCustomerLimit),
  isActive: of.status === 'ACTIVE',
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

const positive = (text: string, currency: string) => {
  const money = parseMoney(text, currency)
  return money && money.amount > 0 ? money : undefined
}

/**
 * Builds the request body, or returns the wrong fields.
 * @param before the stored discount, for a change
 */
export function bodyOf(
  typed: DiscountText,
  { currency, zone, before }: { currency: string; zone: string; before?: Discount | undefined },
): { readonly body: Body } | { readonly wrong: FieldErrors } {
  const { kind } = typed
  const valueBps = kind === 'PERCENT' ? parsePercent(typed.percent) || undefined : null
  const amount = kind === 'FIXED' ? positive(typed.amount, currency) : null
  const minSubtotal = typed.minSubtotal.trim() === '' ? null : positive(typed.minSubtotal, currency)
  const startsAt = parseChangedWallTime(typed.startsAt, before?.startsAt ?? null, zone)
  const endsAt = parseChangedWallTime(typed.endsAt, before?.endsAt ?? null, zone)
  const usageLimit = parseCount(typed.usageLimit)
  const perCustomerLimit = parseCount(typed.perCustomerLimit)
  const wrong: { -readonly [Field in keyof FieldErrors]: FieldErrors[Field] } = {}
  if (typed.title.trim() === '') wrong.title = 'required'
  if (typed.how === 'CODE' && typed.code.trim() === '') wrong.code = 'required'
  if (valueBps === undefined) wrong.percent = 'percent'
  if (amount === undefined) wrong.amount = 'amount'
  if (minSubtotal === undefined) wrong.minSubtotal = 'amount'
  if (startsAt === undefined) wrong.startsAt = 'moment'
  if (endsAt === undefined) wrong.endsAt = 'moment'
  else if (startsAt && endsAt && Date.parse(endsAt) <= Date.parse(startsAt)) wrong.endsAt = 'order'
  if (usageLimit === undefined) wrong.usageLimit = 'number'
  if (perCustomerLimit === undefined) wrong.perCustomerLimit = 'number'
  if (
    Object.keys(wrong).length > 0 ||
    valueBps === undefined ||
    amount === undefined ||
    minSubtotal === undefined ||
    startsAt === undefined ||
    endsAt === undefined ||
    usageLimit === undefined ||
    perCustomerLimit === undefined
  )
    return { wrong }
  const idsOf = (chosen: readonly Choice[]) => (chosen.length === 0 ? null : chosen.map(({ id }) => id))
  return {
    body: {
      title: typed.title.trim(),
      code: typed.how === 'CODE' ? typed.code.trim() : null,
      kind,
      valueBps,
      amount,
      minSubtotal,
      productIds: idsOf(typed.products),
      collectionIds: idsOf(typed.collections),
      startsAt,
      endsAt,
      usageLimit,
      perCustomerLimit,
      status: typed.isActive ? 'ACTIVE' : 'DISABLED',
    },
  }
}
