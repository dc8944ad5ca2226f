import type { Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { inBatches } from '../../../lib/batches.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { type CartCaller, type CartDeps, referCart } from '../cart/index.ts'
import { type Order, refundWindowMs } from '../order/domain.ts'
import {
  type Affiliate,
  type AffiliateInput,
  type AffiliateView,
  affiliateView,
  afterRefund,
  attributionWindowMs,
  commissionOf,
  isRecentClick,
  normalCode,
  type RefundedSoFar,
} from './domain.ts'
import type { AffiliateDeps } from './providers.ts'
import { commissionStore } from './store.ts'

/** The fields of an order that its commission needs. */
type AttributedOrder = Pick<
  Order,
  | 'id'
  | 'shopId'
  | 'currency'
  | 'subtotal'
  | 'discountTotal'
  | 'taxIncluded'
  | 'shippingTax'
  | 'shippingTaxInclusive'
  | 'affiliateCode'
  | 'affiliateAt'
  | 'createdAt'
>

/** A click may name a cart. */
export type ReferringDeps = AffiliateDeps & CartDeps

/** Rows of one write. */
const approvalBatch = 500
const removalBatch = 500
const codeTaken = refuseTaken('another affiliate has this code', 'code')
const nothingYet = { clicks: 0, earnings: [] }

const noSuchAffiliate = () => new AppError('NOT_FOUND', 'No such affiliate')

/** Names are personal data and not audited. */
const affiliateDifference = (before: Affiliate | undefined, after: Affiliate): Difference =>
  differenceOf(before, after, ['code', 'rateBps', 'active'])

const inputOf = ({ code, ...rest }: AffiliateInput): AffiliateInput => (code === undefined ? rest : { ...rest, code: normalCode(code) })

/** @throws AppError CONFLICT when the code is taken */
export function createAffiliate(
  deps: AffiliateDeps,
  by: CommandContext,
  { name, code, rateBps }: Pick<Affiliate, 'name' | 'code' | 'rateBps'>,
): Promise<AffiliateView> {
  const now = deps.clock.now()
  const id = deps.newId('affiliate')
  const affiliate = {
    id,
    shopId: by.shop.id,
    name,
    code: normalCode(code),
    rateBps,
    active: true,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  return audited(deps, by, { action: 'affiliate.created', subject: id }, async (tx, setDifference) => {
    await deps.affiliateStore.insert(tx, affiliate)
    setDifference(affiliateDifference(undefined, affiliate))
    return affiliateView(affiliate, nothingYet)
  }).catch(codeTaken)
}

/**
 * Changes an affiliate; undefined keeps a field. Existing commissions stay.
 * @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED; CONFLICT when the code is taken
 */
export async function changeAffiliate(deps: AffiliateDeps, by: CommandContext, id: string, input: AffiliateInput): Promise<AffiliateView> {
  // Read before the write: within it, every click would conflict on PostgreSQL.
  const figures = await figuresOf(deps, [id])
  return audited(deps, by, { action: 'affiliate.changed', subject: id }, async (tx, setDifference) => {
    const before = await deps.affiliateStore.find(by.shop.id, id, tx)
    if (!before) throw noSuchAffiliate()
    assertVersion(by.expected, before.version)
    const changes = { ...inputOf(input), updatedAt: deps.clock.now(), version: before.version + 1 }
    const affiliate = assertNotStale(await deps.affiliateStore.change(tx, before, changes))
    setDifference(affiliateDifference(before, affiliate))
    return affiliateView(affiliate, figures(id))
  }).catch(codeTaken)
}

/** @throws AppError NOT_FOUND, also for another shop's */
export async function affiliateOf(deps: AffiliateDeps, shop: Pick<ShopContext, 'id'>, id: string): Promise<AffiliateView> {
  const affiliate = await deps.affiliateStore.find(shop.id, id)
  if (!affiliate) throw noSuchAffiliate()
  return affiliateView(affiliate, (await figuresOf(deps, [id]))(id))
}

/** Lists the shop's affiliates, newest first. */
export async function listAffiliates(deps: AffiliateDeps, shop: Pick<ShopContext, 'id'>, slice: PageSlice): Promise<Page<AffiliateView>> {
  const { rows: affiliates, total } = await deps.affiliateStore.list(shop.id, slice)
  const ids = affiliates.map(({ id }) => id)
  const figures = await figuresOf(deps, ids)
  const views = affiliates.map((one) => affiliateView(one, figures(one.id)))
  return pageOf(views, total, slice)
}

async function figuresOf({ affiliateStore, clock }: AffiliateDeps, ids: readonly string[]) {
  const clicks = await affiliateStore.clicksSince(ids, clock.now() - attributionWindowMs)
  const earnings = await affiliateStore.earningsOf(ids)
  return (id: string) => ({ clicks: clicks.get(id) ?? 0, earnings: earnings.get(id) ?? [] })
}

/**
 * Counts a click on an affiliate's link, and puts the code on the named cart: the last click wins.
 * @throws AppError NOT_FOUND for an unknown or inactive code, or an inaccessible cart; CONFLICT for a cart that is not
 *   open
 */
export async function recordClick(
  deps: ReferringDeps,
  { shop, principal }: CartCaller,
  { code, cartId }: { code: string; cartId?: string | undefined },
): Promise<{ affiliateId: string; code: string; attributedUntil: string }> {
  const at = deps.clock.now()
  const affiliate = await deps.affiliateStore.findActive(shop.id, normalCode(code))
  if (!affiliate) throw noSuchAffiliate()
  await deps.db.write(async (tx) => {
    if (cartId !== undefined) await referCart(tx, deps, { caller: { shop, principal }, cartId, code: affiliate.code })
    await deps.affiliateStore.insertClick(tx, { id: deps.newId('click'), affiliateId: affiliate.id, at })
  })
  return { affiliateId: affiliate.id, code: affiliate.code, attributedUntil: new Date(at + attributionWindowMs).toISOString() }
}

/**
 * Attributes an order to the affiliate of its last click within 30 days, if active, inside the order's write. A
 * commission of zero is recorded too.
 * @returns the affiliate's id; the same when repeated
 */
export async function attributeOrder(tx: Writer, deps: AffiliateDeps, order: AttributedOrder): Promise<string | undefined> {
  const { affiliateCode: code, affiliateAt: at } = order
  if (code === null || at === null) return undefined
  const commission = await commissionStore.find(tx, order.id)
  if (commission) return commission.affiliateId
  const affiliate = isRecentClick(at, order.createdAt)
    ? await deps.affiliateStore.findActive(order.shopId, normalCode(code), tx)
    : undefined
  if (!affiliate) return undefined
  const now = deps.clock.now()
  await commissionStore.insert(tx, {
    orderId: order.id,
    affiliateId: affiliate.id,
    shopId: order.shopId,
    currency: order.currency,
    amount: commissionOf(order, affiliate.rateBps),
    reversed: 0,
    status: 'PENDING',
    approvesAt: now + refundWindowMs,
    createdAt: now,
    updatedAt: now,
  })
  return affiliate.id
}

/**
 * Reduces an order's commission after a refund, inside the refund's write.
 * @param soFar all refunds of the order: repeating it changes nothing
 */
export async function reverseCommission(
  tx: Writer,
  { clock }: Pick<Deps, 'clock'>,
  { orderId, ...soFar }: { orderId: string } & RefundedSoFar,
): Promise<void> {
  const commission = await commissionStore.lock(tx, orderId)
  if (commission) await commissionStore.change(tx, orderId, { ...afterRefund(commission, soFar), updatedAt: clock.now() })
}

/** Removes the attribution of an order that ended without a sale. */
export const removeCommission = (tx: Writer, orderId: string): Promise<void> => commissionStore.remove(tx, orderId)

/** Approves commissions whose refund window has passed, in small writes. Returns their number. */
export async function approveCommissions({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<number> {
  const now = clock.now()
  return inBatches(approvalBatch, () => db.write((tx) => commissionStore.approveDue(tx, now, approvalBatch)))
}

/** Removes expired clicks, in small writes. Returns their number. */
export async function forgetOldClicks({
  db,
  clock,
  affiliateStore,
}: Pick<AffiliateDeps, 'db' | 'clock' | 'affiliateStore'>): Promise<number> {
  const before = clock.now() - attributionWindowMs
  return inBatches(removalBatch, () => db.write((tx) => affiliateStore.removeClicksBefore(tx, before, removalBatch)))
}
