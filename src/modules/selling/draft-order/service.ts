import { type CommandContext, withLocks } from '../../../core/command-context.ts'
import { retryOnConflict } from '../../../core/conflict.ts'
import type { ListChunk } from '../../../core/csv-list.ts'
import { AppError, fieldError, undefinedIfNotFound } from '../../../core/errors.ts'
import { anonymous } from '../../../core/principal.ts'
import { assertNotStale, assertVersion, type ExpectedVersion } from '../../../core/versions.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import { queueMail, sendsMail } from '../../messaging/mail/index.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import {
  type CartCaller,
  type CartSnapshot,
  type CartView,
  type DraftInput,
  emptyCart,
  insertCart,
  lockCart,
  removeDraftCart,
  saveCart,
  updatedDraftCart,
  viewCart,
} from '../cart/index.ts'
import { cancelUnpaidOrder, orderOfCart, requestSagaContext } from '../order/index.ts'
import { type Draft, type DraftStatus, draftStatusOf, draftsPerShopMax, sendsMax, standingOf } from './domain.ts'
import { type DraftView, draftView, type LoadedDraft } from './draft-view.ts'
import type { DraftDeps } from './providers.ts'

/** A create or change of a draft; undefined keeps a field. */
type DraftOrderInput = DraftInput & { readonly note?: string | null | undefined }

const noSuchDraft = () => new AppError('NOT_FOUND', 'No such draft order')

/** Returns a caller who may read a draft's cart without a record of what it showed. */
export const linkCaller = (shopId: string): CartCaller => ({ shop: { id: shopId }, principal: anonymous, hasLink: true })

/** A cart that anyone with its link may pay. */
export type LinkedCart = Pick<Draft, 'shopId' | 'cartId'>
type LoadedCart = Omit<LoadedDraft, 'draft'> & { readonly snapshot: CartSnapshot }

/** Reads a linked cart with its last order. */
export async function loadLinkedCart(deps: DraftDeps, { shopId, cartId }: LinkedCart): Promise<LoadedCart> {
  const { cart, snapshot, view } = await viewCart(deps, linkCaller(shopId), cartId)
  const order = await orderOfCart(deps, cartId)
  return { cart, view, snapshot, order, status: draftStatusOf(cart, order, deps.clock.now()) }
}

/** Reads a draft with its cart and last order. */
const loadDraft = async (deps: DraftDeps, draft: Draft) => ({ draft, ...(await loadLinkedCart(deps, draft)) })

const viewOf = async (deps: DraftDeps, draft: LoadedDraft): Promise<DraftView> =>
  draftView(draft, (await deps.orderLinks.ready()).payUrlOf(draft.draft.id))

/**
 * Finds a draft.
 * @throws AppError NOT_FOUND, also for another shop's
 */
async function ownDraft(deps: DraftDeps, shopId: string, id: string): Promise<Draft> {
  const draft = await deps.draftStore.find(id)
  if (draft?.shopId !== shopId) throw noSuchDraft()
  return draft
}

/**
 * Reads a draft with its version.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export const readDraft = async (deps: DraftDeps, shopId: string, id: string): Promise<DraftView> =>
  viewOf(deps, await loadDraft(deps, await ownDraft(deps, shopId, id)))

type DraftFilter = { readonly shopId: string; readonly status?: DraftStatus | undefined }

/** Loads drafts that were just listed; deleted ones are left out. */
async function viewsOf(deps: DraftDeps, drafts: readonly Draft[]): Promise<DraftView[]> {
  const views = drafts.map((draft) =>
    loadDraft(deps, draft)
      .then((loaded) => viewOf(deps, loaded))
      .catch(undefinedIfNotFound),
  )
  return (await Promise.all(views)).flatMap((view) => view ?? [])
}

/** Lists the shop's drafts, newest first. */
export async function listDrafts(deps: DraftDeps, filter: DraftFilter, slice: PageSlice): Promise<Page<DraftView>> {
  const { rows, total } = await deps.draftStore.list(filter, deps.clock.now(), slice)
  return pageOf(await viewsOf(deps, rows), total, slice)
}

/** Counts the shop's open drafts, up to `most`. */
export const countOpenDrafts = (
  { draftStore, clock }: Pick<DraftDeps, 'draftStore' | 'clock'>,
  shopId: string,
  most: number,
): Promise<number> => draftStore.countIn(shopId, 'OPEN', clock.now(), most)

/** Reads a piece of a complete export. */
export async function draftsPage(deps: DraftDeps, filter: DraftFilter, slice: PageSlice): Promise<ListChunk<DraftView>> {
  const { rows } = await deps.draftStore.list(filter, deps.clock.now(), slice)
  return { data: await viewsOf(deps, rows), scannedTo: rows.at(-1)?.id }
}

/** The audited fields. Of personal data only that it changed. A cart's id is a secret. */
const draftDifference = (before: AuditedDraft | undefined, after: AuditedDraft | undefined): Difference =>
  differenceOf(before && auditFieldsOf(before), after && auditFieldsOf(after), [
    'currency',
    'lineCount',
    'total',
    'customerId',
    'shippingMethod',
    'discountCode',
    'settled',
  ])
type AuditedDraft = { readonly snapshot: CartSnapshot; readonly total: number; readonly note: string | null }
const auditFieldsOf = ({ snapshot: { cart, items }, total, note }: AuditedDraft) => ({
  currency: cart.currency,
  lineCount: items.length,
  lines: items.map(({ line: { variantId, quantity, unitPrice } }) => ({ variantId, quantity, unitPrice })),
  total,
  customerId: cart.customerId,
  email: cart.email,
  shippingAddress: cart.shippingAddress,
  billingAddress: cart.billingAddress,
  shippingMethod: cart.shippingMethod,
  discountCode: cart.discountCode,
  settled: cart.draft?.settled ?? [],
  note,
})
const totalOf = ({ totals }: CartView): number => totals.total.amount

/**
 * Creates a draft: a cart with fixed prices.
 * @returns the draft with its version
 * @throws AppError INVALID, naming the field; NOT_FOUND for an unknown customer; CONFLICT for more than any order can
 *   hold, or one draft too many
 */
export async function createDraft(deps: DraftDeps, by: CommandContext, { note = null, ...input }: DraftOrderInput): Promise<DraftView> {
  const { shop } = by
  const id = deps.newId('draft')
  const { snapshot, view } = await updatedDraftCart(deps, id, await emptyCart(deps, shop.id), input)
  const { payUrlOf } = await deps.orderLinks.ready()
  const now = deps.clock.now()
  const { id: cartId } = snapshot.cart
  const draft: Draft = { id, shopId: shop.id, cartId, note, sends: 0, sentAt: null, createdAt: now, updatedAt: now, version: 1 }
  return audited(deps, withLocks(deps, by), { action: 'draft_order.created', subject: id }, async (tx, setDifference) => {
    // Two concurrent creates do not see each other. The limit is for runaway scripts, so one more is fine.
    if ((await deps.draftStore.countOf(tx, shop.id)) >= draftsPerShopMax)
      throw new AppError('CONFLICT', `A shop has at most ${draftsPerShopMax} draft orders. Delete some first`, { code: 'limit_reached' })
    await insertCart(tx, deps, snapshot)
    await deps.draftStore.insert(tx, draft)
    setDifference(draftDifference(undefined, { snapshot, total: totalOf(view), note }))
    return draftView({ draft, cart: snapshot.cart, view, order: undefined, status: 'OPEN' }, payUrlOf(id))
  })
}

/**
 * Changes an unpaid draft; undefined keeps a field. A shopper who looks at it pays only what they see.
 * @returns the draft with its version
 * @throws AppError as `createDraft`; PRECONDITION_FAILED; CONFLICT for a draft that is being paid or is over
 */
export async function changeDraft(
  deps: DraftDeps,
  by: CommandContext,
  id: string,
  { note, ...input }: DraftOrderInput,
): Promise<DraftView> {
  const { shop, expected } = by
  const { payUrlOf } = await deps.orderLinks.ready()
  const change = async (): Promise<DraftView> => {
    const found = await openDraft(deps, shop.id, id, { actor: by.actor.id, expected })
    const { snapshot, view } = await updatedDraftCart(deps, id, found.snapshot, input)
    return audited(deps, withLocks(deps, by), { action: 'draft_order.changed', subject: id }, async (tx, setDifference) => {
      await saveCart(tx, deps, snapshot, found.snapshot)
      const before = await deps.draftStore.find(id, tx)
      if (!before) throw noSuchDraft()
      assertVersion(expected, before.version)
      const fields = { note: note === undefined ? before.note : note, updatedAt: deps.clock.now(), version: before.version + 1 }
      const draft = assertNotStale(await deps.draftStore.change(tx, before, fields))
      const previous = { snapshot: found.snapshot, total: totalOf(found.view), note: before.note }
      setDifference(draftDifference(previous, { snapshot, total: totalOf(view), note: draft.note }))
      return draftView({ draft, cart: snapshot.cart, view, order: undefined, status: 'OPEN' }, payUrlOf(id))
    })
  }
  const tooMany = () => new AppError('UNAVAILABLE', 'Other requests keep changing the draft order. Try again', { retryAfterSeconds: 1 })
  return retryOnConflict(change, tooMany)
}

/**
 * Returns a draft that can be changed or paid. If its order ended without a sale, the cart is reopened first.
 * @param actor for the order's events
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for a draft that is being paid or is over
 */
async function openDraft(
  deps: DraftDeps,
  shopId: string,
  id: string,
  { actor, expected }: { actor: string; expected?: ExpectedVersion | undefined },
): Promise<LoadedDraft & { readonly snapshot: CartSnapshot }> {
  const draft = await ownDraft(deps, shopId, id)
  assertVersion(expected, draft.version)
  return { draft, ...(await openLinkedCart(deps, draft, actor)) }
}

/**
 * Returns a linked cart that can be changed or paid. If its order ended without a sale, it is reopened first.
 * @param actor for the order's events
 * @throws AppError CONFLICT for a cart that is being paid or is over
 */
export async function openLinkedCart(deps: DraftDeps, linked: LinkedCart, actor: string): Promise<LoadedCart> {
  const found = await loadLinkedCart(deps, linked)
  if (found.status !== 'OPEN') throw notOpen(found.status)
  if (found.cart.status !== 'CONVERTED' || !found.order) return found
  await cancelUnpaidOrder(deps, found.order.id, requestSagaContext(deps, deps.newId('attempt')), actor)
  const reloaded = await loadLinkedCart(deps, linked)
  if (reloaded.cart.status !== 'OPEN') throw notOpen(reloaded.status)
  return reloaded
}

const notOpenTexts: Readonly<Record<DraftStatus, string>> = {
  OPEN: 'The draft order is being paid',
  PENDING_PAYMENT: 'The draft order became an order that is awaiting payment. Cancel that order first',
  COMPLETED: 'The draft order was already paid',
  CANCELLED: 'The draft order became an order that was cancelled',
  EXPIRED: 'The draft order has expired',
}
const isPaymentAwaited = (status: DraftStatus) => status === 'OPEN' || status === 'PENDING_PAYMENT'
const notOpen = (status: DraftStatus) =>
  new AppError('CONFLICT', notOpenTexts[status], { code: isPaymentAwaited(status) ? 'payment_in_progress' : 'draft_closed' })

/**
 * Deletes a draft and its link. An order that ended without a sale stays.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for a draft that is being paid or was paid
 */
export async function removeDraft(deps: DraftDeps, by: CommandContext, id: string): Promise<void> {
  const { shop, expected } = by
  const { cartId } = await ownDraft(deps, shop.id, id)
  await audited(deps, withLocks(deps, by), { action: 'draft_order.removed', subject: id }, async (tx, setDifference) => {
    // A checkout locks the cart first, too.
    await lockCart(tx, deps, cartId)
    const draft = await deps.draftStore.find(id, tx)
    if (!draft) throw noSuchDraft()
    assertVersion(expected, draft.version)
    const order = await orderOfCart(deps, cartId, tx)
    const standing = order && standingOf(order)
    if (standing === 'PENDING_PAYMENT' || standing === 'COMPLETED') throw notOpen(standing)
    await removeDraftCart(tx, deps, cartId)
    setDifference({ before: { status: standing ?? 'OPEN' }, after: null })
  })
}

/** Lines that a mail shows at most. The page shows the rest. */
const linesShownMax = 50

/**
 * Mails the link of a draft.
 * @returns the draft with its version
 * @throws AppError NOT_FOUND; CONFLICT for a draft without an address, that is being paid or is over, was sent too
 *   often or changes now, and without a mail server
 */
export async function sendDraft(deps: DraftDeps, by: CommandContext, id: string): Promise<DraftView> {
  const { shop, actor } = by
  const { payUrlOf } = await deps.orderLinks.ready()
  if (!sendsMail(deps))
    throw new AppError('CONFLICT', 'No mail server is configured (SMTP_URL). Send the payUrl to the customer yourself', {
      code: 'mail_not_configured',
    })
  const loaded = await openDraft(deps, shop.id, id, { actor: actor.id })
  const { cart, view, snapshot } = loaded
  const to = cart.email
  if (to === null) throw fieldError('CONFLICT', 'email', 'the draft order has no email address')
  const lines = snapshot.items.map(({ line, sellable }) => ({
    title: sellable?.product.title ?? '',
    variantTitle: visibleVariantTitle(sellable?.variant.title ?? ''),
    quantity: line.quantity,
    total: { amount: line.unitPrice * line.quantity, currency: cart.currency },
  }))
  return audited(deps, withLocks(deps, by), { action: 'draft_order.sent', subject: id }, async (tx, setDifference) => {
    // The address has changed or was erased meanwhile: the mail would go to the wrong person.
    const lockedCart = await lockCart(tx, deps, cart.id)
    if (lockedCart?.updatedAt !== cart.updatedAt)
      throw new AppError('CONFLICT', 'The draft order was changed by another request. Read it again before you send it', {
        code: 'order_changed',
      })
    const now = deps.clock.now()
    const draft = await deps.draftStore.noteSent(tx, id, now, sendsMax)
    if (!draft)
      throw new AppError('CONFLICT', `The link of a draft order can be mailed at most ${sendsMax} times`, { code: 'limit_reached' })
    const more = Math.max(0, lines.length - linesShownMax)
    await queueMail(tx, deps, {
      key: `order-draft:${id}:${draft.sends}`,
      shopId: shop.id,
      to,
      template: 'order-draft',
      data: { draftId: id, lines: lines.slice(0, linesShownMax), more, total: view.totals.total },
    })
    setDifference({ before: { sends: draft.sends - 1 }, after: { sends: draft.sends } })
    return draftView({ ...loaded, draft }, payUrlOf(id))
  })
}
