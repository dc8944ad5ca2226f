import type { Writer } from '../../../../db/engine.ts'
import { type CommandContext, withLocks } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { findUnknownReference } from '../../catalog/products/index.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { changedDiscount, type DiscountInput } from './discount-input.ts'
import { automaticPerShopMax, type Discount, type DiscountView, discountsPerShopMax, discountView, isEnded } from './domain.ts'
import type { DiscountDeps } from './providers.ts'

type By = CommandContext<Pick<ShopContext, 'id' | 'currency' | 'mode'>>
export type NewDiscount = DiscountInput & Pick<Discount, 'title' | 'kind'>

const codeTaken = refuseTaken('another discount has this code', 'code')
const noSuchDiscount = () => new AppError('NOT_FOUND', 'No such discount')
/** A checkout may still use a discount that was removed during it. */
const removedKeptMs = dayMs
const removalBatch = 500

/** Titles and codes are public; no personal data is in them. */
const discountDifference = (before: Discount | undefined, after: Discount | undefined): Difference =>
  differenceOf(before && auditedFields(before), after && auditedFields(after), [
    'title',
    'code',
    'kind',
    'valueBps',
    'amount',
    'minSubtotal',
    'currency',
    'productIds',
    'collectionIds',
    'startsAt',
    'endsAt',
    'usageLimit',
    'perCustomerLimit',
    'status',
  ])
const auditedFields = ({ codeKey: _, used: __, removedAt: ___, ...discount }: Discount) => discount

/**
 * Creates a discount.
 * @throws AppError INVALID, naming the field, also for products and collections of another shop; CONFLICT when the
 *   code is taken or the shop has too many discounts
 */
export function createDiscount(deps: DiscountDeps, by: By, input: NewDiscount): Promise<DiscountView> {
  const now = deps.clock.now()
  const blank: Discount = {
    id: deps.newId('discount'),
    shopId: by.shop.id,
    title: input.title,
    code: null,
    codeKey: null,
    kind: input.kind,
    valueBps: null,
    amount: null,
    minSubtotal: null,
    currency: null,
    productIds: null,
    collectionIds: null,
    startsAt: null,
    endsAt: null,
    usageLimit: null,
    perCustomerLimit: null,
    status: 'ACTIVE',
    used: 0,
    createdAt: now,
    updatedAt: now,
    removedAt: null,
    version: 1,
  }
  const discount = changedDiscount(blank, input, by.shop, now)
  return audited(deps, withLocks(deps, by), { action: 'discount.created', subject: discount.id }, async (tx, setDifference) => {
    await assertOfShop(tx, deps, by.shop.id, input)
    await assertRoom(tx, deps, undefined, discount)
    await deps.discountStore.insert(tx, discount)
    setDifference(discountDifference(undefined, discount))
    return discountView(discount, now)
  }).catch(codeTaken)
}

/**
 * Changes a discount; undefined keeps a field. Orders keep what they took.
 * @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED; INVALID and CONFLICT as `createDiscount`
 */
export const changeDiscount = (deps: DiscountDeps, by: By, id: string, input: DiscountInput): Promise<DiscountView> => {
  const now = deps.clock.now()
  return audited(deps, withLocks(deps, by), { action: 'discount.changed', subject: id }, async (tx, setDifference) => {
    const before = await findToChange(tx, deps, by, id)
    const changed = changedDiscount(before, input, by.shop, now)
    await assertOfShop(tx, deps, by.shop.id, input)
    await assertRoom(tx, deps, before, changed)
    const after = { ...changed, used: await usedFrom(tx, deps, by, before, changed), version: before.version + 1 }
    assertNotStale((await deps.discountStore.save(tx, after, before)) || undefined)
    setDifference(discountDifference(before, after))
    return discountView(after, now)
  }).catch(codeTaken)
}

/** Returns the uses that count after a change. They are counted now if there was no limit before. */
async function usedFrom(tx: Writer, { discountStore }: DiscountDeps, { shop }: By, before: Discount, after: Discount): Promise<number> {
  if (after.usageLimit === null) return 0
  return before.usageLimit === null ? discountStore.countUses(tx, after.id, shop.mode) : before.used
}

/**
 * Removes a discount: it applies to no cart, and its code is free.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED
 */
export const removeDiscount = (deps: DiscountDeps, by: By, id: string): Promise<void> =>
  audited(deps, withLocks(deps, by), { action: 'discount.removed', subject: id }, async (tx, setDifference) => {
    const now = deps.clock.now()
    const before = await findToChange(tx, deps, by, id)
    const after = { ...before, codeKey: null, removedAt: now, updatedAt: now, version: before.version + 1 }
    assertNotStale((await deps.discountStore.save(tx, after, before)) || undefined)
    setDifference(discountDifference(before, undefined))
  })

/** Finds and locks a discount, so that no order uses it until the write ends. */
async function findToChange(tx: Writer, { discountStore }: DiscountDeps, { shop, expected }: By, id: string): Promise<Discount> {
  await discountStore.lock(tx, id)
  const discount = await discountStore.find(shop.id, id, tx)
  if (!discount) throw noSuchDiscount()
  assertVersion(expected, discount.version)
  return discount
}

/** @throws AppError INVALID, naming the field, for products and collections of another shop */
async function assertOfShop(tx: Writer, deps: DiscountDeps, shopId: string, { productIds, collectionIds }: DiscountInput): Promise<void> {
  const unknown = await findUnknownReference(tx, deps, shopId, { productIds: productIds ?? [], collectionIds: collectionIds ?? [] })
  if (!unknown) return
  const what = unknown.field === 'productIds' ? 'product' : 'collection'
  throw invalidField(`${unknown.field}.${unknown.at}`, `must be a ${what} of the shop`)
}

/** @throws AppError CONFLICT when the shop would have too many */
async function assertRoom(
  tx: Writer,
  { discountStore, clock }: DiscountDeps,
  before: Discount | undefined,
  after: Discount,
): Promise<void> {
  const now = clock.now()
  const isAutomatic = (one: Discount) => one.codeKey === null && one.status === 'ACTIVE' && !isEnded(one, now)
  const isNewlyAutomatic = isAutomatic(after) && !(before && isAutomatic(before))
  if (before && !isNewlyAutomatic) return
  discountStore.holdAll(tx, after.shopId)
  const { all, automatic } = await discountStore.counts(tx, after.shopId, now)
  if (!before && all >= discountsPerShopMax)
    throw new AppError('CONFLICT', `A shop has at most ${discountsPerShopMax} discounts`, { code: 'limit_reached' })
  if (isNewlyAutomatic && automatic >= automaticPerShopMax)
    throw new AppError(
      'CONFLICT',
      `A shop can have at most ${automaticPerShopMax} active automatic discounts. Disable one, or give this one a code`,
      { code: 'limit_reached' },
    )
}

/**
 * Reads a discount.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function readDiscount({ discountStore, clock }: DiscountDeps, shopId: string, id: string): Promise<DiscountView> {
  const discount = await discountStore.find(shopId, id)
  if (!discount) throw noSuchDiscount()
  return discountView(discount, clock.now())
}

/** Lists the shop's discounts, newest first. */
export async function listDiscounts({ discountStore, clock }: DiscountDeps, shopId: string, slice: PageSlice): Promise<Page<DiscountView>> {
  const { rows, total } = await discountStore.list(shopId, slice)
  const now = clock.now()
  return pageOf(
    rows.map((discount) => discountView(discount, now)),
    total,
    slice,
  )
}

/**
 * Disables all discounts of a shop in the write that takes it live. Uses by test orders do not count afterwards.
 * @returns how many were active
 */
export const disableDiscounts = (tx: Writer, { discountStore, clock }: DiscountDeps, shopId: string): Promise<number> =>
  discountStore.disableAll(tx, shopId, clock.now())

/** Deletes removed discounts that no order uses, in small writes. Returns their number. */
export async function forgetDiscounts({ db, clock, discountStore }: Pick<DiscountDeps, 'db' | 'clock' | 'discountStore'>): Promise<number> {
  const before = clock.now() - removedKeptMs
  return inBatches(removalBatch, () => db.write((tx) => discountStore.forgetRemoved(tx, before, removalBatch)))
}
