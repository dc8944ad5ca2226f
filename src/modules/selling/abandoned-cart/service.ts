import { locking } from '../../../core/command-context.ts'
import type { ListChunk } from '../../../core/csv-list.ts'
import { AppError } from '../../../core/errors.ts'
import { anonymous } from '../../../core/principal.ts'
import { inBatches } from '../../../lib/batches.ts'
import { hourMs } from '../../../lib/day.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type ListKey, type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { sha256 } from '../../../lib/seal.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import { findSellables } from '../../catalog/products/index.ts'
import type { CustomerDeps } from '../../customers/customer/index.ts'
import { findToken, issueToken } from '../../identity/one-time-token/index.ts'
import type { MailData } from '../../messaging/mail/domain.ts'
import { type MailDeps, type Preparer, queueMail, readAbandonedCartMail, sendsMail } from '../../messaging/mail/index.ts'
import type { Cart } from '../cart/domain.ts'
import { type CartCaller, type CartDeps, type CartView, findCart, readCart, viewCart } from '../cart/index.ts'
import { abandonedAfterMs, decideMail, mailWindowMs } from './domain.ts'
import type { AbandonedCartStore, AbandonedFilter, AbandonedKey } from './store.ts'

export type AbandonedCartDeps = CartDeps & CustomerDeps & MailDeps & { readonly abandonedCartStore: AbandonedCartStore }
type Deps = AbandonedCartDeps

/** Carts whose mail is queued in one write. */
const mailBatch = 100
/** Lines that a mail shows at most. */
const linesShownMax = 50

/** Renders carts of one shop with their lines and orders. */
async function viewsOf({ abandonedCartStore: store, ...deps }: Deps, shopId: string, rows: readonly Cart[]) {
  const ids = rows.map(({ id }) => id)
  const [lines, orders] = await Promise.all([store.linesOf(ids), store.ordersOf(ids)])
  const sellables = await findSellables(deps, [...new Set(lines.map(({ variantId }) => variantId))], shopId)
  return rows.map((cart) => {
    const { currency } = cart
    const order = orders.find(({ cartId }) => cartId === cart.id)
    return {
      ...pick(cart, 'id', 'customerId', 'acceptsMarketing'),
      email: cart.email ?? order?.email ?? null,
      lines: lines
        .filter(({ cartId }) => cartId === cart.id)
        .map(({ variantId, quantity, unitPrice }) => {
          const sellable = sellables.get(variantId)
          return {
            ...{ variantId, productId: sellable?.product.id ?? null, title: sellable?.product.title ?? null },
            ...{ variantTitle: sellable?.variant.title ?? null, sku: sellable?.variant.sku ?? null, quantity },
            ...{ unitPrice: { amount: unitPrice, currency }, total: { amount: unitPrice * quantity, currency } },
          }
        }),
      total: { amount: order?.total ?? cart.shownTotal, currency },
      ...isoTimes({ mailedAt: cart.remindedAt, restoredAt: cart.restoredAt }),
      order: order ? pick(order, 'id', 'number') : null,
      ...isoTimes(pick(cart, 'createdAt', 'updatedAt')),
    }
  })
}
type AbandonedCartView = Awaited<ReturnType<typeof viewsOf>>[number]

const timesAt = (now: number) => ({ now, before: now - abandonedAfterMs })

/** Lists a shop's open carts that are unchanged for an hour, or its recovered ones, newest first. */
export async function listAbandonedCarts(
  deps: Deps,
  filter: AbandonedFilter,
  slice: PageSlice,
): Promise<Page<AbandonedCartView> & { totalCapped?: true }> {
  const { rows, total, isCapped } = await deps.abandonedCartStore.list(filter, timesAt(deps.clock.now()), slice)
  const page = pageOf(await viewsOf(deps, filter.shopId, rows), total, slice)
  return isCapped ? { ...page, totalCapped: true } : page
}

/** The digits of a time in a key, so that keys sort as text. */
const timeDigits = 15
const keyOf = ({ at, id }: AbandonedKey): string => `${String(at).padStart(timeDigits, '0')}${id}`
const keyIn = (key: ListKey): AbandonedKey => ({ at: Number(String(key).slice(0, timeDigits)), id: String(key).slice(timeDigits) })

/** Returns the key of a listed cart in an export. */
export const exportKeyOf = ({ id, order, restoredAt, updatedAt }: AbandonedCartView): string =>
  keyOf({ id, at: Date.parse((order && restoredAt) ?? updatedAt) })

/** Reads a chunk of a complete export. */
export async function abandonedCartsPage(
  deps: Deps,
  filter: AbandonedFilter,
  { after = null, ...slice }: PageSlice,
): Promise<ListChunk<AbandonedCartView>> {
  const key = after === null ? null : keyIn(after)
  const { rows } = await deps.abandonedCartStore.list(filter, timesAt(deps.clock.now()), slice, key)
  return { data: await viewsOf(deps, filter.shopId, rows) }
}

/** Queues the mail of each cart that is due, once, in small writes. The next run continues an interrupted one. */
export async function mailAbandonedCarts(deps: Deps): Promise<void> {
  if (!sendsMail(deps)) return
  const { abandonedCartStore: store, db, clock } = deps
  for (const { shopId, mail } of await store.senders()) {
    if (!mail?.enabled) continue
    const now = clock.now()
    const to = now - mail.afterHours * hourMs
    await inBatches(mailBatch, async () => {
      const due = await store.due(shopId, { from: to - mailWindowMs, to, now }, mailBatch)
      await db.write(async (tx) => {
        for (const { id: cartId, updatedAt, email } of due)
          if (email !== null && (await store.noteMailed(tx, { id: cartId, updatedAt }, now)))
            await queueMail(tx, deps, {
              // A cart's id is a secret.
              key: `abandoned-cart:${sha256(cartId)}:${updatedAt}`,
              ...{ shopId, to: email, template: 'abandoned-cart', data: { cartId, updatedAt } },
            })
      }, locking)
      return due.length
    })
  }
}

/** A caller who may read any cart, without a record of what it showed. */
const linkCaller = (shopId: string): CartCaller => ({ shop: { id: shopId }, principal: anonymous, hasLink: true })

/**
 * Decides at sending whether the mail is still wanted, and adds the contents and the link. A cart that changed since is
 * left to the job, which mails it once it has been unchanged again.
 */
export const createMailPreparer =
  (deps: Deps): Preparer =>
  async (content, { shopId, attempts }) => {
    const { db, clock, abandonedCartStore: store } = deps
    const data = content.data as MailData['abandoned-cart']
    const cart = await findCart(deps, data.cartId)
    const decision = decideMail(cart, { to: content.to, data, isFirst: attempts === 1 }, clock.now())
    if (decision === 'wait') await db.write((tx) => store.forgetMailed(tx, data.cartId), locking)
    if (decision !== 'send' || !cart || shopId === null) return undefined
    const [{ enabled }, { view }] = await Promise.all([readAbandonedCartMail(db.read, shopId), viewCart(deps, linkCaller(shopId), cart.id)])
    if (!enabled || view.lines.length === 0) return undefined
    const token = await db.write((tx) => issueToken(tx, deps, { purpose: 'CART_RECOVERY', subjectId: cart.id, shopId, email: content.to }))
    const lines = view.lines.slice(0, linesShownMax).map(({ title, variantTitle, quantity, total }) => ({
      ...{ title: title ?? '', variantTitle: visibleVariantTitle(variantTitle ?? ''), quantity, total },
    }))
    const contents = { token, lines, more: view.lines.length - lines.length, total: view.totals.total }
    return { ...content, data: { ...data, contents } }
  }

/** Finds the cart of a mail's link while the link is valid. */
export async function findLinkedCart(deps: Deps, token: string): Promise<{ shopId: string; cartId: string } | undefined> {
  const found = await findToken(deps.db.read, deps, 'CART_RECOVERY', token)
  const cart = found && (await findCart(deps, found.subjectId))
  return cart && { shopId: cart.shopId, cartId: cart.id }
}

/** Notes that the shopper used the link of a cart. */
export const noteRestored = (deps: Deps, cartId: string): Promise<void> =>
  deps.db.write((tx) => deps.abandonedCartStore.noteRestored(tx, cartId, deps.clock.now()), locking)

/**
 * Returns the cart of a mail's link to the shop's storefront.
 * @throws AppError NOT_FOUND for an invalid link, and for a customer's cart without that customer's token
 */
export async function restoreCart(deps: Deps, caller: CartCaller, token: string): Promise<CartView> {
  const found = await findLinkedCart(deps, token)
  if (found?.shopId !== caller.shop.id) throw new AppError('NOT_FOUND', 'The link is invalid or has expired', { code: 'invalid_link' })
  const view = await readCart(deps, caller, found.cartId)
  await noteRestored(deps, found.cartId)
  return view
}
