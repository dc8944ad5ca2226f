import { invalidField } from '../../../core/errors.ts'
import type { Money } from '../../../lib/money.ts'
import type { Optional } from '../../../lib/objects.ts'
import { codeKeyOf, type Discount } from './domain.ts'

/** A change of a discount: undefined keeps a field or uses its default. Times in milliseconds. */
export type DiscountInput = Optional<
  Pick<
    Discount,
    | 'title'
    | 'code'
    | 'kind'
    | 'valueBps'
    | 'productIds'
    | 'collectionIds'
    | 'startsAt'
    | 'endsAt'
    | 'usageLimit'
    | 'perCustomerLimit'
    | 'status'
  > & { amount: Money | null; minSubtotal: Money | null }
>

/** End of valid times, which begin in 1970. */
const lastMs = Date.UTC(2200, 0, 1)

/**
 * Returns a discount after a change.
 * @param before a blank one for a new discount
 * @param shop its currency is the currency of amounts
 * @throws AppError INVALID, naming the field
 */
export function changedDiscount(before: Discount, input: DiscountInput, shop: { currency: string }, now: number): Discount {
  const kind = input.kind ?? before.kind
  assertMoment('startsAt', input.startsAt)
  assertMoment('endsAt', input.endsAt)
  assertOnce('productIds', input.productIds)
  assertOnce('collectionIds', input.collectionIds)
  const code = input.code === undefined ? before.code : input.code
  const amount = amountOf('amount', before.amount, input.amount, shop.currency)
  const minSubtotal = amountOf('minSubtotal', before.minSubtotal, input.minSubtotal, shop.currency)
  const value = { valueBps: of(before.valueBps, input.valueBps), amount }
  assertNeeded('valueBps', input.valueBps, value.valueBps, kind === 'PERCENT' ? kind : undefined, kind)
  assertNeeded('amount', input.amount, value.amount, kind === 'FIXED' ? kind : undefined, kind)
  const after: Discount = {
    ...before,
    title: input.title ?? before.title,
    code: code === null ? null : code.trim(),
    codeKey: code === null ? null : codeKeyOf(code),
    kind,
    valueBps: kind === 'PERCENT' ? value.valueBps : null,
    amount: kind === 'FIXED' ? amount : null,
    minSubtotal,
    productIds: of(before.productIds, input.productIds),
    collectionIds: of(before.collectionIds, input.collectionIds),
    startsAt: of(before.startsAt, input.startsAt),
    endsAt: of(before.endsAt, input.endsAt),
    usageLimit: of(before.usageLimit, input.usageLimit),
    perCustomerLimit: of(before.perCustomerLimit, input.perCustomerLimit),
    status: input.status ?? before.status,
    updatedAt: now,
  }
  const { startsAt, endsAt } = after
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt)
    throw invalidField(input.endsAt === undefined ? 'startsAt' : 'endsAt', 'must be later than startsAt')
  if (typeof input.endsAt === 'number' && input.endsAt <= now)
    throw invalidField('endsAt', 'must be in the future; to end the discount now, set status to DISABLED')
  return { ...after, currency: currencyOf(before, after, input, shop.currency) }
}

const of = <Value>(before: Value, input: Value | undefined): Value => (input === undefined ? before : input)

function amountOf(field: string, before: number | null, input: Money | null | undefined, currency: string): number | null {
  if (input && input.currency !== currency) throw invalidField(`${field}.currency`, `must be in the shop's currency, ${currency}`)
  return input === undefined ? before : (input?.amount ?? null)
}

/**
 * Returns the currency of a discount's amounts. Stored amounts keep theirs, even if the shop's currency changed.
 * @param now the shop's
 */
function currencyOf(before: Discount, after: Discount, input: DiscountInput, now: string): string | null {
  const fields = (['amount', 'minSubtotal'] as const).filter((field) => after[field] !== null)
  const stays = fields.find((field) => input[field] === undefined)
  if (stays === undefined || before.currency === now) return fields.length === 0 ? null : now
  if (fields.some((field) => input[field] !== undefined))
    throw invalidField(stays, `it is in ${before.currency}, which is no longer the currency of the shop: send a new amount, or null`)
  return before.currency
}

/** Checks that the fields of its kind are given, and no others. Fields of another kind are cleared. */
function assertNeeded(field: string, input: unknown, after: unknown, isOfKind: string | undefined, kind: Discount['kind']): void {
  if (isOfKind !== undefined && after === null) throw invalidField(field, `required for a discount of kind ${kind}`)
  if (isOfKind === undefined && input !== undefined && input !== null)
    throw invalidField(field, `not allowed for a discount of kind ${kind}`)
}

/** An invalid time is NaN. */
function assertMoment(field: string, ms: number | null | undefined): void {
  if (ms === null || ms === undefined || (ms >= 0 && ms < lastMs)) return
  throw invalidField(field, 'must be a time between 1970 and 2199')
}

function assertOnce(field: string, ids: readonly string[] | null | undefined): void {
  const twice = ids?.findIndex((id, at) => ids.indexOf(id) < at) ?? -1
  if (twice >= 0) throw invalidField(`${field}.${twice}`, 'must not be repeated')
}
