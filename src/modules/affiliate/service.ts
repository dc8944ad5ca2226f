import type { Writer } from '../../../db/engine.ts'
import type { Deps } from '../../core/deps.ts'
import { AppError } from '../../core/errors.ts'
import type { Keep } from '../../core/idempotency.ts'
import type { ShopContext } from '../../core/principal.ts'
import { type Page, pageOf, type Slice } from '../../lib/page.ts'
import { untilFewer } from '../../lib/pieces.ts'
import { type Actor, audit } from '../audit/service.ts'
import { type CartCaller, type CartDeps, prepareAffiliateCode } from '../cart/service.ts'
import { refuseTaken } from '../conflict/service.ts'
import { refundWindowMs } from '../order/domain.ts'
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
} from './domain.ts'
import { type AffiliateStore, commissionStore } from './store.ts'

export type AffiliateDeps = Deps & { readonly affiliateStore: AffiliateStore }
/** Who does it, in which shop, and what keeps the answer of an idempotent request. */
type Write = { shop: Pick<ShopContext, 'id'>; actor: Actor; keep?: Keep }
/** An order, as far as a partner earns by it. */
export type AttributedOrder = {
  id: string
  shopId: string
  currency: string
  subtotal: number
  discountTotal: number
  affiliateCode: string | null
  /** When the shopper came by the code (milliseconds). */
  affiliateAt: number | null
  createdAt: number
}

/** Rows of one write. */
const approvedAtOnce = 500
const forgottenAtOnce = 500
const codeTaken = 'code (body): another affiliate of the shop has it'
const nothingYet = { clicks: 0, earnings: [] }

const noSuchAffiliate = () => new AppError('NOT_FOUND', 'No such affiliate')

const inputOf = ({ code, ...rest }: AffiliateInput): AffiliateInput => ({
  ...rest,
  ...(code === undefined ? {} : { code: normalCode(code) }),
})

/** @throws AppError CONFLICT when the code is taken */
export async function createAffiliate(
  deps: AffiliateDeps,
  { shop, actor, keep }: Write,
  input: Pick<Affiliate, 'name' | 'code' | 'rateBps'>,
): Promise<AffiliateView> {
  const now = deps.clock.now()
  const id = deps.newId('affiliate')
  const { name, rateBps } = input
  const affiliate = { id, shopId: shop.id, name, code: normalCode(input.code), rateBps, active: true, createdAt: now, updatedAt: now }
  const view = affiliateView(affiliate, nothingYet)
  const record = audit(deps, actor, { action: 'affiliate.created', subject: id, shopId: shop.id })
  return deps.db
    .write(async (tx) => {
      await deps.affiliateStore.insert(tx, affiliate)
      await record(tx)
      await keep?.(tx, view)
      return view
    })
    .catch(refuseTaken(codeTaken))
}

/**
 * Changes an affiliate; what `input` leaves undefined stays. Commissions that are written down stay too.
 * @throws AppError NOT_FOUND, also for another shop's; CONFLICT when the code is taken
 */
export async function changeAffiliate(
  deps: AffiliateDeps,
  { shop, actor, keep }: Write,
  id: string,
  input: AffiliateInput,
): Promise<AffiliateView> {
  const changes = { ...inputOf(input), updatedAt: deps.clock.now() }
  const record = audit(deps, actor, { action: 'affiliate.changed', subject: id, shopId: shop.id })
  // Read before the write: within it, on Postgres, every click would be a conflict.
  const figures = await figuresOf(deps, [id])
  return deps.db
    .write(async (tx) => {
      const affiliate = await deps.affiliateStore.change(tx, { shopId: shop.id, id }, changes)
      if (!affiliate) throw noSuchAffiliate()
      await record(tx)
      const view = affiliateView(affiliate, figures(id))
      await keep?.(tx, view)
      return view
    })
    .catch(refuseTaken(codeTaken))
}

/** @throws AppError NOT_FOUND, also for another shop's */
export async function affiliateOf(deps: AffiliateDeps, shop: Pick<ShopContext, 'id'>, id: string): Promise<AffiliateView> {
  const affiliate = await deps.affiliateStore.find(shop.id, id)
  if (!affiliate) throw noSuchAffiliate()
  return affiliateView(affiliate, (await figuresOf(deps, [id]))(id))
}

/** A page of the shop's affiliates, newest first. */
export async function listAffiliates(deps: AffiliateDeps, shop: Pick<ShopContext, 'id'>, slice: Slice): Promise<Page<AffiliateView>> {
  const { affiliates, total } = await deps.affiliateStore.list(shop.id, slice)
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
 * Counts a click on a partner's link, and puts the code on the cart that is named: the last click wins.
 * @throws AppError NOT_FOUND for a code that no active partner of the shop has, and for a cart out of reach; CONFLICT for one
 *   that is not open
 */
export async function recordClick(
  deps: AffiliateDeps & CartDeps,
  { shop, principal }: CartCaller,
  { code, cartId }: { code: string; cartId?: string | undefined },
): Promise<{ affiliateId: string; code: string; attributedUntil: string }> {
  const at = deps.clock.now()
  const affiliate = await deps.affiliateStore.findActive(shop.id, normalCode(code))
  if (!affiliate) throw noSuchAffiliate()
  const click = { id: deps.newId('click'), affiliateId: affiliate.id, at }
  const attribute = cartId === undefined ? undefined : prepareAffiliateCode(deps, { shop, principal }, { cartId, code: affiliate.code })
  await deps.db.write(async (tx) => {
    await attribute?.(tx)
    await deps.affiliateStore.insertClick(tx, click)
  })
  return { affiliateId: affiliate.id, code: affiliate.code, attributedUntil: new Date(at + attributionWindowMs).toISOString() }
}

/**
 * Prepares the attribution of an order to the partner whose code came last, if that was within 30 days before it and the
 * partner is active. What it returns, called inside the order's write, answers the partner's id; called again for the same order, the
 * same. The commission is written down even when it is nothing: that the partner sent the shopper is a fact.
 */
export function prepareAttribution(deps: AffiliateDeps, order: AttributedOrder): (tx: Writer) => Promise<string | undefined> {
  const now = deps.clock.now()
  const { affiliateCode: code, affiliateAt: at } = order
  return async (tx) => {
    if (code === null || at === null) return undefined
    const known = await commissionStore.find(tx, order.id)
    if (known) return known.affiliateId
    const affiliate = isRecentClick(at, order.createdAt)
      ? await deps.affiliateStore.findActive(order.shopId, normalCode(code), tx)
      : undefined
    if (!affiliate) return undefined
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
}

/**
 * Prepares what a refund takes back of an order's commission, approved or not: call what it returns inside the refund's
 * write. It may run again: `refunded` is all that was refunded of the order so far, out of `of`.
 */
export function prepareReversal(
  { clock }: Pick<Deps, 'clock'>,
  { orderId, refunded, of }: { orderId: string; refunded: number; of: number },
): (tx: Writer) => Promise<void> {
  const updatedAt = clock.now()
  return async (tx) => {
    const commission = await commissionStore.find(tx, orderId)
    if (commission) await commissionStore.change(tx, orderId, { ...afterRefund(commission, { refunded, of }), updatedAt })
  }
}

/** Takes back the attribution of an order that came to nothing. */
export const removeCommission = (tx: Writer, orderId: string): Promise<void> => commissionStore.remove(tx, orderId)

/** Approves the commissions whose refund window has passed, in small writes. Returns how many. */
export async function approveCommissions({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<number> {
  const now = clock.now()
  return untilFewer(approvedAtOnce, () => db.write((tx) => commissionStore.approveDue(tx, now, approvedAtOnce)))
}

/** Forgets clicks that count no more, in small writes. Returns how many. */
export async function forgetOldClicks({
  db,
  clock,
  affiliateStore,
}: Pick<AffiliateDeps, 'db' | 'clock' | 'affiliateStore'>): Promise<number> {
  const before = clock.now() - attributionWindowMs
  return untilFewer(forgottenAtOnce, () => db.write((tx) => affiliateStore.removeClicksBefore(tx, before, forgottenAtOnce)))
}
