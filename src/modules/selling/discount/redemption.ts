import type { Writer } from '../../../../db/engine.ts'
import { AppError } from '../../../core/errors.ts'
import {
  type AppliedDiscount,
  type DiscountUse,
  discountNameOf,
  type UnavailableReason,
  unavailableReasonOf,
  unavailableTexts,
} from './domain.ts'
import { customerKeyOf, type Shopper } from './offers.ts'
import type { DiscountDeps } from './providers.ts'

const unavailableError = ({ offer }: AppliedDiscount, why: UnavailableReason) =>
  new AppError('CONFLICT', `${discountNameOf(offer)} ${unavailableTexts[why]}. Read the cart again`, { code: 'discount_unavailable' })
const changedError = ({ offer }: AppliedDiscount) =>
  new AppError('CONFLICT', `${discountNameOf(offer)} has changed. Read the cart again`, { code: 'discount_unavailable' })

/** In order of their ids, so that concurrent writes do not deadlock. */
const sortById = (discounts: readonly AppliedDiscount[]): AppliedDiscount[] =>
  [...discounts].sort((a, b) => (a.offer.id < b.offer.id ? -1 : 1))

type DiscountUseRequest = {
  readonly orderId: string
  readonly mode: DiscountUse['mode']
  readonly shopper: Shopper
  readonly discounts: readonly AppliedDiscount[]
}

/** Returns the customer key of an order. Called before its write, which awaits only locks. */
export const discountCustomerOf = async (deps: DiscountDeps, shopper: Shopper): Promise<string> => {
  const customer = await customerKeyOf(deps, shopper)
  if (customer === undefined) throw new Error('the order has neither a customer nor an e-mail address')
  return customer
}

/**
 * Records an order's discounts inside its write, after gift cards. Orders with a limited discount wait for its row,
 * those with a limit per customer for that customer's uses; others share no lock.
 * @param customer from `discountCustomerOf`
 * @throws AppError CONFLICT when a discount is used up, has ended or has changed; the write must then fail
 */
export async function takeDiscounts(
  tx: Writer,
  { discountStore: store, clock }: DiscountDeps,
  { orderId, mode, discounts, customer }: Omit<DiscountUseRequest, 'shopper'> & { readonly customer: string },
): Promise<void> {
  const now = clock.now()
  const ordered = sortById(discounts)
  for (const one of ordered) {
    const { offer } = one
    if (offer.usageLimit !== null && !(await store.use(tx, offer, now))) {
      const current = await store.find(offer.shopId, offer.id, tx)
      throw unavailableError(one, (current && unavailableReasonOf(current, 0, now)) ?? 'DISABLED')
    }
  }
  const limited = ordered.filter(({ offer }) => offer.perCustomerLimit !== null)
  store.holdUses(
    tx,
    limited.map(({ offer }) => ({ discountId: offer.id, customer })),
  )
  for (const one of limited) {
    const uses = await store.usesOf({ discountId: one.offer.id, customer, mode }, tx)
    if (uses >= (one.offer.perCustomerLimit ?? 0)) throw unavailableError(one, 'USED_BY_CUSTOMER')
  }
  for (const { offer } of ordered) await store.insertUse(tx, { discountId: offer.id, orderId, customer, mode, at: now })
  // Reads behind the row of its use, which blocks a new limit from counting until this write ends.
  for (const one of ordered) {
    const { offer } = one
    const current = await store.find(offer.shopId, offer.id, tx)
    const reason = current ? unavailableReasonOf({ ...current, usageLimit: null }, 0, now) : 'DISABLED'
    if (reason !== undefined) throw unavailableError(one, reason)
    const isSame = (current?.usageLimit === null) === (offer.usageLimit === null)
    if (!isSame || current?.perCustomerLimit !== offer.perCustomerLimit) throw changedError(one)
  }
}

/** Returns the uses of an order that ended without a sale, inside a write. The caller calls it once. */
export const giveBackDiscounts = (
  tx: Writer,
  { discountStore }: Pick<DiscountDeps, 'discountStore'>,
  { id: orderId, shopId, discounts }: { id: string; shopId: string; discounts: readonly unknown[] },
): Promise<void> => (discounts.length === 0 ? Promise.resolve() : discountStore.giveBack(tx, { orderId, shopId }))
