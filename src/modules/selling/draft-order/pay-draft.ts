/** The pay page of a draft: the cart and the checkout behind HTML forms. */
import { AppError } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { escapeHtml } from '../../../lib/markup.ts'
import { pick } from '../../../lib/objects.ts'
import { createLinks, type Look, readAppearance, type WebPage, webPage } from '../../messaging/mail/index.ts'
import { hostedPageOptions, hostedPageUrl } from '../../payments/payment/index.ts'
import { listServedCountries } from '../../shop/shipping/index.ts'
import { isOpen, type Shop } from '../../shop/shop/domain.ts'
import { readShop } from '../../shop/shop/index.ts'
import {
  type CartCaller,
  changeCart,
  changedSince,
  holdsLost,
  isSentAtAll,
  readCart,
  refreshPrices,
  shippingOptions,
  strictlyUnknown,
} from '../cart/index.ts'
import { cancelCheckout, checkOut, returnFromProcessor } from '../checkout/index.ts'
import type { Draft } from './domain.ts'
import { detailsIn, type Fields, shownIn } from './form.ts'
import { overPage, type PageRequest, type ToPay, toPayPage, waitingPage } from './page.ts'
import type { DraftDeps } from './providers.ts'
import { ofLink, openDraft, wholeDraft } from './service.ts'

type Found = {
  readonly draft: Draft
  readonly shop: Readonly<Shop>
  readonly caller: CartCaller & { readonly shop: ShopContext }
  readonly look: Look
}
type Told = { readonly notice?: ToPay['notice']; readonly sent?: Fields | undefined }

/** Results of test payments that the page offers in TEST. */
const outcomes = ['tok_success', 'tok_decline']
/** Of the idempotency key of an attempt. */
const keyBytes = 16
const shopperOfLink = 'shopper'

async function found(deps: DraftDeps, token: string): Promise<Found | undefined> {
  const id = (await deps.orderLinks.ready()).draftIdOf(token)
  const draft = id === undefined ? undefined : await deps.draftStore.find(id)
  if (!draft) return undefined
  const [shop, { look }] = await Promise.all([readShop(deps, draft.shopId), readAppearance(deps, draft.shopId)])
  const context = pick(shop, 'id', 'merchantId', 'currency', 'mode', 'origins')
  return isOpen(shop) ? { draft, shop, look, caller: { ...ofLink(shop.id), shop: context } } : undefined
}

/** The same page for every invalid link. */
async function gonePage(deps: DraftDeps): Promise<WebPage> {
  const { look } = await readAppearance(deps, null)
  const { say } = look.words
  return webPage(look, { title: say.linkOver, body: `<p>${escapeHtml(say.linkOverText)}</p>` })
}

/** Opens the page of a link: to pay, being paid, or over. An open payment is queried, as when a shopper returns. */
export async function openPayPage(deps: DraftDeps, token: string): Promise<WebPage> {
  const known = await found(deps, token)
  return known ? shown(deps, known) : gonePage(deps)
}

async function shown(deps: DraftDeps, known: Found, told: Told = {}): Promise<WebPage> {
  const { draft, caller, look, shop } = known
  const { cartId } = draft
  const before = await wholeDraft(deps, draft)
  // Queries the payment.
  const returned = before.status === 'PENDING_PAYMENT' ? await returnFromProcessor(deps, caller, cartId) : undefined
  const whole = returned ? await wholeDraft(deps, draft) : before
  const { status, order, view } = whole
  switch (status) {
    case 'EXPIRED':
      return gonePage(deps)
    case 'COMPLETED':
    case 'CANCELLED': {
      const orderUrl = order && (await createLinks(deps, shop)).order(order.id)
      return overPage(look, status === 'COMPLETED' && order?.status !== 'CANCELLED' ? 'paid' : 'cancelled', orderUrl)
    }
    case 'PENDING_PAYMENT': {
      if (order?.status === 'PENDING_PAYMENT' && order.paymentStatus === 'FAILED')
        return toPayPage(look, {
          ...(await toPayOf(deps, known)),
          view,
          seen: whole.cart.updatedAt,
          notice: unchanged(told.notice) ?? 'failed',
        })
      const link = returned?.payment.status === 'REQUIRES_ACTION' ? hostedPageUrl(returned.payment.clientParameters) : undefined
      return waitingPage(look, view, { link, notice: unchanged(told.notice) ?? (link === undefined && told.notice ? 'busy' : undefined) })
    }
    case 'OPEN':
      return openPage(deps, known, told)
  }
}

/** The page is stale: another tab or a second click was first. */
const unchanged = (notice: Told['notice']): Told['notice'] => (notice === 'changed' ? undefined : notice)

async function openPage(deps: DraftDeps, known: Found, told: Told): Promise<WebPage> {
  const { draft, caller, look, shop } = known
  const { sent } = told
  let { notice } = told
  let whole: Awaited<ReturnType<typeof openDraft>>
  try {
    whole = await openDraft(deps, shop.id, draft.id, { actor: shopperOfLink })
    // Takes off a used-up gift card or method: nothing on the page could remove it.
    if (holdsLost(whole.snapshot, deps.clock.now())) {
      await refreshPrices(deps, draft.cartId, async () => undefined)
      whole = await openDraft(deps, shop.id, draft.id, { actor: shopperOfLink })
      notice ??= 'changed'
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
    // The last order's payment is not voided yet, or another request pays now.
    return waitingPage(look, (await wholeDraft(deps, draft)).view, { link: undefined, notice: 'busy' })
  }
  // Records the shown price: the checkout refuses any other.
  const view = await readCart(deps, caller, draft.cartId)
  // Another request started to pay in between.
  if (view.status !== 'OPEN') return waitingPage(look, view, { link: undefined, notice: 'busy' })
  const { snapshot } = whole
  const asked = await askedOf(deps, known, whole)
  const asShown = { ...snapshot.cart, shownTotal: view.totals.total.amount, shownDue: view.totals.amountDue.amount }
  const isAsItWas = changedSince({ ...snapshot, cart: asShown }, deps.clock.now()).length === 0
  const unknown = strictlyUnknown(snapshot, snapshot.cart)
  const isStuck =
    !isAsItWas ||
    (asked.isNeeded && !asked.email && !asked.address && asked.methods.length === 0) ||
    (unknown !== undefined && !(unknown === 'shippingAddress' && asked.address))
  return toPayPage(look, {
    ...(await toPayOf(deps, known, view.totals.amountDue.amount)),
    view,
    asked,
    canBePaid: isAsItWas && !asked.isNeeded && unknown === undefined,
    seen: whole.cart.updatedAt,
    notice: notice ?? (isStuck ? 'notNow' : unknown && 'refused'),
    sent,
  })
}

const nothingAsked: PageRequest = { email: false, address: false, methods: [], isNeeded: false, countries: [], country: '' }

/**
 * Returns what every page of an order to pay shows.
 * @param due 0 if nothing is due
 */
async function toPayOf(deps: DraftDeps, { draft, caller }: Found, due?: number): Promise<Omit<ToPay, 'view' | 'seen' | 'notice'>> {
  const { shop } = caller
  const amount = due ?? (await wholeDraft(deps, draft)).view.totals.amountDue.amount
  return {
    asked: nothingAsked,
    ways: amount === 0 ? [] : await hostedPageOptions(deps, shop, { amount, currency: shop.currency }),
    canBePaid: true,
    isTrial: shop.mode === 'TEST',
    key: Buffer.from(deps.randomBytes(keyBytes)).toString('base64url'),
    sent: undefined,
  }
}

/** Returns the details that the shop left open, and which of them are required. */
async function askedOf(
  deps: DraftDeps,
  { draft, caller, shop }: Found,
  { snapshot, cart }: Pick<Awaited<ReturnType<typeof openDraft>>, 'snapshot' | 'cart'>,
): Promise<PageRequest> {
  const isLeftOpen = (field: NonNullable<typeof cart.draft>['settled'][number]) => !cart.draft?.settled.includes(field)
  const isSent = isSentAtAll(snapshot)
  const byMethod = isSent && shop.shippingMethods.length > 0
  const address = isSent && isLeftOpen('shippingAddress')
  const choosing = byMethod && isLeftOpen('shippingMethod') && cart.shippingAddress !== null
  return {
    email: isLeftOpen('email'),
    address,
    methods: choosing ? (await shippingOptions(deps, caller, draft.cartId)).data : [],
    isNeeded: cart.email === null || (byMethod && (cart.shippingAddress === null || cart.shippingMethod === null)),
    countries: address ? (await listServedCountries(shop.shippingMethods)).map(({ code }) => code) : [],
    country: shop.country,
  }
}

/**
 * Runs an attempt once, however often a browser sends it.
 * @throws errors of the work; CONFLICT while it is running
 */
export type IdempotentRun = (key: string, work: (attempt: Attempt) => Promise<unknown>) => Promise<unknown>
/** @param address the sender's; it limits unpaid orders */
type Sender = { readonly address: string; readonly once: IdempotentRun }

/**
 * Handles a form of the page.
 * @returns 'look' to reload the page, else what to show
 */
export async function sendPayPage(deps: DraftDeps, token: string, fields: Fields, sender: Sender): Promise<WebPage | 'look'> {
  const known = await found(deps, token)
  if (!known) return gonePage(deps)
  try {
    switch (fields.get('step')) {
      case 'details':
        return (await saveDetails(deps, known, fields)) ? 'look' : shown(deps, known, { notice: 'refused', sent: fields })
      case 'pay':
        return (await pay(deps, known, fields, sender)) ? 'look' : shown(deps, known, { notice: 'changed' })
      case 'back':
        await cancelCheckout(deps, known.caller, known.draft.cartId)
        return 'look'
      default:
        return 'look'
    }
  } catch (error) {
    const notice = error instanceof AppError ? noticeOf(error) : undefined
    if (!notice) throw error
    return shown(deps, known, { notice })
  }
}

/** Returns the notice for a refusal, without what only the shop may read. */
function noticeOf({ code, retryAfterSeconds }: AppError): ToPay['notice'] {
  switch (code) {
    case 'CONFLICT':
      // Only a duplicate of a running attempt can be retried.
      return retryAfterSeconds === undefined ? 'changed' : 'busy'
    case 'RATE_LIMITED':
    case 'UNAVAILABLE':
      return 'later'
    case 'INVALID':
      return 'refused'
    default:
      return undefined
  }
}

/** @returns false for invalid details */
async function saveDetails(deps: DraftDeps, { draft, caller, shop }: Found, fields: Fields): Promise<boolean> {
  const details = detailsIn(fields)
  if (details === 'refused') return false
  const { cart } = await openDraft(deps, shop.id, draft.id, { actor: shopperOfLink })
  const isLeftOpen = (field: 'email' | 'shippingAddress' | 'shippingMethod') => !cart.draft?.settled.includes(field)
  const { email, shippingAddress, shippingMethod } = details
  const change = {
    ...(email !== undefined && isLeftOpen('email') ? { email } : {}),
    ...(shippingAddress && isLeftOpen('shippingAddress') ? { shippingAddress } : {}),
  }
  if (Object.keys(change).length > 0) await changeCart(deps, caller, draft.cartId, change)
  if (!isLeftOpen('shippingMethod') || shop.shippingMethods.length === 0) return true
  const { data } = await shippingOptions(deps, caller, draft.cartId)
  // A single method is preselected; one that does not reach the new address is replaced.
  const code = data.length === 1 ? data[0]?.code : data.find((option) => option.code === shippingMethod)?.code
  if (code !== undefined) await changeCart(deps, caller, draft.cartId, { shippingMethod: code })
  return true
}

/** @returns false for a form of another version of the page */
async function pay(deps: DraftDeps, known: Found, fields: Fields, { address, once }: Sender): Promise<boolean> {
  const { draft, caller } = known
  const before = await wholeDraft(deps, draft)
  // An order that ended unpaid reopens its cart, which is shown as it is now.
  if (before.status === 'OPEN' && before.cart.status !== 'OPEN') return false
  const { ways } = await toPayOf(deps, known, before.view.totals.amountDue.amount)
  const way = ways.find(({ method, processor }) => method === fields.get('method') && processor === fields.get('processor'))
  const page = shownIn(fields)
  const key = fields.get('key') ?? ''
  if (!page || key === '' || (!way && before.view.totals.amountDue.amount > 0)) return false
  const outcome = fields.get('outcome') ?? ''
  await once(key, (attempt) =>
    checkOut(deps, {
      caller,
      cartId: draft.cartId,
      method: way?.method ?? 'card',
      processor: way?.processor,
      paymentToken: way?.isTrial && outcomes.includes(outcome) ? outcome : undefined,
      returnUrl: deps.orderLinks.now()?.payUrlOf(draft.id),
      address,
      attempt,
      expected: page,
    }),
  )
  return true
}
