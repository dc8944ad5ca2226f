import { type Actor, locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertVersion, type ExpectedVersion } from '../../../core/versions.ts'
import { storedMailAddress } from '../../../lib/mail-address.ts'
import type { Money } from '../../../lib/money.ts'
import { isSameValue, type Optional, withoutUndefined } from '../../../lib/objects.ts'
import { distinctTags } from '../../../lib/search-terms.ts'
import type { Sellable } from '../../catalog/products/domain.ts'
import { findSellables } from '../../catalog/products/index.ts'
import { type AddressFields, addressOf } from '../../customers/customer/domain.ts'
import { validateAddress } from '../../customers/customer/index.ts'
import { enqueueMessage } from '../../messaging/webhook/index.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audit } from '../../operations/audit/index.ts'
import type { Provinces } from '../../shop/countries/domain.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { readShop } from '../../shop/shop/index.ts'
import { assertProvinces, chargesAt, hasMoved, provincesFor } from '../cart/index.ts'
import { correctableStatuses, correctionsMax, formerValueFields, type Order, type OrderLine } from './domain.ts'
import { appendEvent } from './events.ts'
import type { OrderDeps } from './providers.ts'
import { reindexOrder } from './search/search-index.ts'
import { noSuchOrder, readOrder } from './service.ts'
import type { OrderView } from './view.ts'

type CorrectableFields = Pick<Order, (typeof formerValueFields)[number]>
type Correction = Optional<
  Pick<CorrectableFields, 'email' | 'tags'> & Record<'shippingAddress' | 'billingAddress', AddressFields> & { acceptDifference: boolean }
>
type CorrectionRequest = {
  readonly shop: Pick<ShopContext, 'id'>
  readonly orderId: string
  readonly actor: Actor
  readonly expected?: ExpectedVersion | undefined
  readonly attempt: Attempt
}

/**
 * Corrects the addresses, e-mail address and tags of an order that is not sent completely; undefined keeps a field. The
 * former values go to the timeline. Nothing is charged or refunded. Writes nothing if nothing changes.
 * @returns the order with its version
 * @throws AppError INVALID; NOT_FOUND, PRECONDITION_FAILED; CONFLICT for a sent or ended order, one correction too
 *   many, and unless accepted, for a move that changes tax or shipping
 */
export async function correctOrder(
  deps: OrderDeps,
  { shop: { id: shopId }, orderId, actor, expected, attempt }: CorrectionRequest,
  { acceptDifference = false, email, shippingAddress, billingAddress, tags }: Correction,
): Promise<OrderView & { version: number }> {
  const { orderStore: store } = deps
  const requested: Partial<CorrectableFields> = withoutUndefined({
    email: email === undefined ? undefined : storedMailAddress(email),
    shippingAddress: shippingAddress && validateAddress(shippingAddress, 'shippingAddress.'),
    billingAddress: billingAddress && validateAddress(billingAddress, 'billingAddress.'),
    tags: tags && distinctTags(tags),
  })
  const shop = await readShop(deps, shopId)
  const pricing: OrderPricing = { shop, provinces: await provincesFor(shop), lines: await store.lines(orderId) }
  assertProvinces(pricing, requested, 'body')
  const variantIds = pricing.lines.map(({ variantId }) => variantId)
  const sellables = await findSellables(deps, variantIds, shopId)
  await deps.db.write(async (tx) => {
    const before = await store.lock(tx, orderId)
    if (before?.shopId !== shopId) throw noSuchOrder()
    const changed = formerValueFields.filter(
      (field) => requested[field] !== undefined && !isSameValue(requested[field], shownValueOf(before, field)),
    )
    if (changed.length === 0 && attempt.isResumed) return
    assertVersion(expected, before.version)
    if (!(correctableStatuses as readonly Order['status'][]).includes(before.status))
      throw new AppError('CONFLICT', `An order that is ${before.status} cannot be changed`, { code: 'invalid_transition' })
    if (changed.length === 0) return
    const events = await store.eventsOf(tx, orderId)
    if (events.filter(({ type }) => type === 'UPDATED').length >= correctionsMax)
      throw new AppError('CONFLICT', `An order can be changed at most ${correctionsMax} times`, { code: 'limit_reached' })
    if (!acceptDifference) assertSameCharges(before, { ...before, ...requested }, pricing, sellables)
    // Later than the stored time even in the same millisecond: runs of the saga compare it to notice the change.
    const updatedAt = Math.max(deps.clock.now(), before.updatedAt + 1)
    const after = await store.change(tx, orderId, correctableStatuses, { ...requested, version: before.version + 1, updatedAt })
    if (!after) throw new Error('an order that was locked has changed')
    if (changed.includes('tags')) await store.replaceTags(tx, after)
    if (changed.some((field) => field !== 'tags')) await reindexOrder(tx, deps, orderId)
    const detail = Object.fromEntries(changed.map((field) => [field, textOf(before, field)]))
    await appendEvent(tx, deps, { orderId, type: 'UPDATED', detail, actor: actor.id })
    await enqueueMessage(tx, deps, {
      shopId,
      event: 'order.updated',
      key: `order.updated:${orderId}:${after.version}`,
      data: { orderId, number: after.number, changed },
    })
    await audit(tx, deps, { actor, action: 'order.changed', subject: orderId, shopId, ...correctionDifference(before, after) })
  }, locking)
  return readOrder(deps, { shopId }, orderId)
}

/** What an order shows of a field. A stored address may have its parts in another order. */
function shownValueOf(order: Order, field: keyof CorrectableFields): CorrectableFields[typeof field] {
  const value = order[field]
  return value !== null && typeof value === 'object' && 'line1' in value ? addressOf(value) : value
}

/** A former value as text for the timeline; empty if there was none. */
function textOf(order: Order, field: keyof CorrectableFields): string {
  const value = shownValueOf(order, field)
  if (value === null || typeof value === 'string') return value ?? ''
  return (Array.isArray(value) ? value : Object.values(value).filter((part) => part !== null)).join(', ')
}

const correctionDifference = (before: Order, after: Order) => differenceOf(pickCorrectable(before), pickCorrectable(after), [])
const pickCorrectable = (order: Order) =>
  Object.fromEntries(formerValueFields.map((field) => [field, shownValueOf(order, field)])) as CorrectableFields

type OrderPricing = { readonly shop: Shop; readonly provinces: Provinces; readonly lines: readonly OrderLine[] }

/**
 * Refuses a move to another country or province that changes tax or shipping. A move is accepted if both are as
 * charged, or if both are the same at the two addresses today: a variant may have changed since the order.
 * @throws AppError CONFLICT with the difference between what the order was charged and would be
 */
function assertSameCharges(
  before: Order,
  after: Order,
  { shop, provinces, lines }: OrderPricing,
  sellables: Awaited<ReturnType<typeof findSellables>>,
): void {
  if (!hasMoved(provinces, shop.country, before, after)) return
  const { currency, shippingTotal, taxTotal, taxIncluded, total } = before
  const contents = {
    currency,
    shippingMethod: before.shippingMethod?.code ?? null,
    items: lines.map((line) => ({
      line: { ...line, cartId: before.cartId },
      sellable: taxedAsSold(sellables.get(line.variantId), line),
      discount: line.discount,
    })),
    isShippingFree: before.discounts.some(({ kind }) => kind === 'FREE_SHIPPING'),
  }
  const charges = chargesAt({ shop, provinces }, contents, after)
  const charged = { shipping: shippingTotal, tax: taxTotal, taxIncluded }
  if (isSameValue(charges, charged) || isSameValue(charges, chargesAt({ shop, provinces }, contents, before))) return
  const money = (amount: number): Money => ({ amount, currency })
  const change = (previous: number, will: number | null) => ({ before: money(previous), after: will === null ? null : money(will) })
  const newTotal = charges.shipping === null ? null : total - shippingTotal - taxTotal + charges.shipping + charges.tax
  const difference = {
    shippingTotal: change(shippingTotal, charges.shipping),
    taxTotal: change(taxTotal, charges.tax),
    taxIncluded: change(taxIncluded, charges.taxIncluded),
    total: change(total, newTotal),
  }
  const message =
    charges.shipping === null
      ? 'The shipping method of the order is not offered at the new address'
      : 'Tax or shipping is different at the new address'
  throw new AppError('CONFLICT', `${message}. Nothing was changed: send acceptDifference: true to use it anyway`, {
    code: 'price_difference',
    extra: { difference },
  })
}

/** Returns a variant as taxable if the order was taxed for it. */
const taxedAsSold = (sellable: Sellable | undefined, { taxAmount }: OrderLine): Sellable | undefined =>
  sellable && taxAmount > 0 ? { ...sellable, variant: { ...sellable.variant, taxable: true } } : sellable
