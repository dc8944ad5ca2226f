/** The pay page of a linked cart, such as a draft's: the cart and the checkout behind HTML forms. */
import { DatabaseFull, DatabaseOutcomeUnknown, DatabaseUnavailable } from '../../../../db/engine.ts'
import { AppError } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { escapeHtml } from '../../../lib/markup.ts'
import { pick } from '../../../lib/objects.ts'
import { createLinks, type Look, readAppearance, type WebPage, webPage } from '../../messaging/mail/index.ts'
import { isOpenPayment, manualTermsOf } from '../../payments/payment/domain.ts'
import { hostedPageOptions, hostedPageUrl, paymentsOf } from '../../payments/payment/index.ts'
import { manualMethodsOf } from '../../payments/payment-method/index.ts'
import { listServedCountries } from '../../shop/shipping/index.ts'
import { isOpen, type Shop } from '../../shop/shop/domain.ts'
import { readShop } from '../../shop/shop/index.ts'
import { unseenDue } from '../cart/domain.ts'
import {
  type CartCaller,
  changeCart,
  changeDiscountCode,
  changedSince,
  holdsUnusable,
  needsShipping,
  readCart,
  refreshPrices,
  shippingOptions,
  strictlyUnknown,
} from '../cart/index.ts'
import { isWholeAddress } from '../checkout/domain.ts'
import { cancelCheckout, checkOut, returnFromProcessor } from '../checkout/index.ts'
import { codeMax } from '../discount/domain.ts'
import { detailsIn, type Fields, shownIn } from './form.ts'
import { laterPage, overPage, type PageRequest, type ToPay, toPayPage, waitingPage } from './page.ts'
import type { DraftDeps } from './providers.ts'
import { type LinkedCart, linkCaller, loadLinkedCart, openLinkedCart } from './service.ts'

/** A linked cart and the URL of its page. */
export type CartLink = LinkedCart & { readonly url: string }
type OpenedLink = {
  readonly link: CartLink
  readonly shop: Readonly<Shop>
  readonly caller: CartCaller & { readonly shop: ShopContext }
  readonly look: Look
}
/** What a page shows besides its record. */
type PageMessage = { readonly notice?: ToPay['notice']; readonly sent?: Fields | undefined; readonly isReturn?: boolean }

/** Results of test payments that the page offers in TEST. */
const outcomes = ['tok_success', 'tok_decline']
/** Of the idempotency key of an attempt. */
const keyBytes = 16
const shopperOfLink = 'shopper'

/** Finds the draft of a link; undefined for a token that we did not make. */
export async function findLinkedDraft(deps: DraftDeps, token: string): Promise<CartLink | undefined> {
  const links = await deps.orderLinks.ready()
  const id = links.draftIdOf(token)
  const draft = id === undefined ? undefined : await deps.draftStore.find(id)
  return draft && { ...pick(draft, 'shopId', 'cartId'), url: links.payUrlOf(draft.id) }
}

async function loadLink(deps: DraftDeps, link: CartLink | undefined): Promise<OpenedLink | undefined> {
  if (!link) return undefined
  const [shop, { look }] = await Promise.all([readShop(deps, link.shopId), readAppearance(deps, link.shopId)])
  const context = pick(shop, 'id', 'merchantId', 'currency', 'mode', 'origins', 'timeZone')
  return isOpen(shop) ? { link, shop, look, caller: { ...linkCaller(shop.id), shop: context } } : undefined
}

/** The same page for every invalid link. */
async function gonePage(deps: DraftDeps): Promise<WebPage> {
  const { look } = await readAppearance(deps, null)
  const { say } = look.words
  return webPage(look, { title: say.linkOver, body: `<p>${escapeHtml(say.linkOverText)}</p>` })
}

/** After a return from a processor's page, the payment is queried until it is decided, for about five seconds. */
const returnQueriesMax = 10
const returnPauseMs = 500

/**
 * Opens the page of a link: to pay, being paid, or over. An open payment is queried, as when a shopper returns.
 * @param isReturn whether a processor's page sent the shopper back: then the page waits for a decision
 */
export async function openPayPage(deps: DraftDeps, link: CartLink | undefined, isReturn: boolean): Promise<WebPage> {
  const opened = await loadLink(deps, link)
  return opened ? renderPage(deps, opened, { isReturn }) : gonePage(deps)
}

const isUndecided = ({ order, payment }: Awaited<ReturnType<typeof returnFromProcessor>>): boolean =>
  order.status === 'PENDING_PAYMENT' && payment.status !== 'FAILED'

/** Queries the payment. A message of the processor may be deciding it at the same moment. */
async function queryReturned(deps: DraftDeps, { caller, link }: OpenedLink, isReturn: boolean | undefined) {
  let returned = await returnFromProcessor(deps, caller, link.cartId)
  for (let nth = 0; isReturn && nth < returnQueriesMax && isUndecided(returned); nth++) {
    await deps.sleep(returnPauseMs)
    returned = await returnFromProcessor(deps, caller, link.cartId)
  }
  return returned
}

const isDatabaseError = (error: unknown): boolean =>
  error instanceof DatabaseFull || error instanceof DatabaseUnavailable || error instanceof DatabaseOutcomeUnknown

/** Renders the page; while the database cannot store what it shows, only a notice to try again. */
async function renderPage(deps: DraftDeps, opened: OpenedLink, message: PageMessage = {}): Promise<WebPage> {
  try {
    return await currentPage(deps, opened, message)
  } catch (error) {
    if (!isDatabaseError(error)) throw error
    return laterPage(opened.look)
  }
}

async function currentPage(deps: DraftDeps, opened: OpenedLink, message: PageMessage): Promise<WebPage> {
  const { link, look, shop } = opened
  const before = await loadLinkedCart(deps, link)
  const returned = before.status === 'PENDING_PAYMENT' ? await queryReturned(deps, opened, message.isReturn) : undefined
  const linkedCart = returned ? await loadLinkedCart(deps, link) : before
  const { status, order, view } = linkedCart
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
          ...(await toPayOf(deps, opened)),
          view,
          seen: linkedCart.cart.updatedAt,
          notice: withoutChanged(message.notice) ?? 'failed',
        })
      const processorPage = returned?.payment.status === 'REQUIRES_ACTION' ? hostedPageUrl(returned.payment.clientParameters) : undefined
      const payments = order?.status === 'PENDING_PAYMENT' ? await paymentsOf(deps, order.id) : []
      const manual = payments.filter(isOpenPayment).map(manualTermsOf)[0]
      return waitingPage(look, view, {
        link: processorPage,
        manual,
        notice: withoutChanged(message.notice) ?? (processorPage === undefined && message.notice ? 'busy' : undefined),
      })
    }
    case 'OPEN':
      return openPage(deps, opened, message)
  }
}

/** The page is stale: another tab or a second click was first. */
const withoutChanged = (notice: PageMessage['notice']): PageMessage['notice'] => (notice === 'changed' ? undefined : notice)

async function openPage(deps: DraftDeps, opened: OpenedLink, message: PageMessage): Promise<WebPage> {
  const { link, caller, look } = opened
  const { sent } = message
  let { notice } = message
  let linkedCart: Awaited<ReturnType<typeof openLinkedCart>>
  try {
    linkedCart = await openLinkedCart(deps, link, shopperOfLink)
    // Removes unusable gift cards and methods and stores new prices: the page cannot do so. A draft's prices are fixed.
    const now = deps.clock.now()
    if (holdsUnusable(linkedCart.snapshot, now) || (linkedCart.cart.draft === null && changedSince(linkedCart.snapshot, now).length > 0)) {
      // The page never showed what an agent has changed.
      if (linkedCart.cart.shownDue !== unseenDue) notice ??= 'changed'
      await refreshPrices(deps, link.cartId)
      linkedCart = await openLinkedCart(deps, link, shopperOfLink)
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'CONFLICT') throw error
    // The last order's payment is not voided yet, or another request pays now.
    return waitingPage(look, (await loadLinkedCart(deps, link)).view, { notice: 'busy' })
  }
  // Records the shown price: the checkout refuses any other.
  const view = await readCart(deps, caller, link.cartId)
  // Another request started to pay in between.
  if (view.status !== 'OPEN') return waitingPage(look, view, { notice: 'busy' })
  const { snapshot } = linkedCart
  const choices = await askedOf(deps, opened, linkedCart)
  const asShown = { ...snapshot.cart, shownTotal: view.totals.total.amount, shownDue: view.totals.amountDue.amount }
  const isUnchanged = changedSince({ ...snapshot, cart: asShown }, deps.clock.now()).length === 0
  const unknown = strictlyUnknown(snapshot, snapshot.cart)
  const isStuck =
    !isUnchanged ||
    (choices.isNeeded && !choices.email && !choices.address && choices.methods.length === 0) ||
    (unknown !== undefined && !(unknown === 'shippingAddress' && choices.address))
  return toPayPage(look, {
    ...(await toPayOf(deps, opened, view.totals.amountDue.amount)),
    view,
    asked: choices,
    canBePaid: isUnchanged && !choices.isNeeded && unknown === undefined,
    takesCode: linkedCart.cart.draft === null,
    seen: linkedCart.cart.updatedAt,
    notice: notice ?? (isStuck ? 'notNow' : unknown && 'refused'),
    sent,
  })
}

const nothingAsked: PageRequest = { email: false, address: false, methods: [], isNeeded: false, countries: [], country: '' }

/**
 * Returns what every page of an order to pay shows.
 * @param due 0 if nothing is due
 */
async function toPayOf(deps: DraftDeps, { link, caller }: OpenedLink, due?: number): Promise<Omit<ToPay, 'view' | 'seen' | 'notice'>> {
  const { shop } = caller
  const amount = due ?? (await loadLinkedCart(deps, link)).view.totals.amountDue.amount
  return {
    asked: nothingAsked,
    ways: amount === 0 ? [] : await hostedPageOptions(deps, shop, { amount, currency: shop.currency }),
    manual: amount === 0 ? [] : await manualMethodsOf(deps, shop.id),
    canBePaid: true,
    takesCode: false,
    isTrial: shop.mode === 'TEST',
    key: Buffer.from(deps.randomBytes(keyBytes)).toString('base64url'),
    sent: undefined,
  }
}

/** Returns the details that the shop left open, and which of them are required. */
async function askedOf(
  deps: DraftDeps,
  { link, caller, shop }: OpenedLink,
  { snapshot, cart }: Pick<Awaited<ReturnType<typeof openLinkedCart>>, 'snapshot' | 'cart'>,
): Promise<PageRequest> {
  const isLeftOpen = (field: NonNullable<typeof cart.draft>['settled'][number]) => !cart.draft?.settled.includes(field)
  const isSent = needsShipping(snapshot)
  const byMethod = isSent && shop.shippingMethods.length > 0
  const address = isSent && isLeftOpen('shippingAddress')
  const choosing = byMethod && isLeftOpen('shippingMethod') && cart.shippingAddress !== null
  return {
    email: isLeftOpen('email'),
    address,
    methods: choosing ? (await shippingOptions(deps, caller, link.cartId)).data : [],
    isNeeded:
      cart.email === null ||
      (byMethod && (cart.shippingAddress === null || cart.shippingMethod === null)) ||
      (isSent && cart.shippingAddress !== null && !isWholeAddress(cart.shippingAddress)),
    countries: address ? (await listServedCountries(shop.shippingMethods)).map(({ code }) => code) : [],
    country: shop.country,
  }
}

/**
 * Runs an attempt once, however often a browser sends it.
 * @throws errors of the work; CONFLICT while it is running
 */
type IdempotentRun = (key: string, work: (attempt: Attempt) => Promise<unknown>) => Promise<unknown>
/** @param address the sender's; it limits unpaid orders */
type Sender = { readonly address: string; readonly once: IdempotentRun }

/**
 * Handles a form of the page.
 * @returns 'look' to reload the page, else what to show
 */
export async function sendPayPage(deps: DraftDeps, link: CartLink | undefined, fields: Fields, sender: Sender): Promise<WebPage | 'look'> {
  const opened = await loadLink(deps, link)
  if (!opened) return gonePage(deps)
  try {
    switch (fields.get('step')) {
      case 'details':
        return (await saveDetails(deps, opened, fields)) ? 'look' : renderPage(deps, opened, { notice: 'refused', sent: fields })
      case 'code':
        return (await saveCode(deps, opened, fields, sender)) ? 'look' : renderPage(deps, opened, { notice: 'codeUnused' })
      case 'pay':
        return (await pay(deps, opened, fields, sender)) ? 'look' : renderPage(deps, opened, { notice: 'changed' })
      case 'back':
        await cancelCheckout(deps, opened.caller, opened.link.cartId)
        return 'look'
      default:
        return 'look'
    }
  } catch (error) {
    const notice = noticeOf(error)
    if (!notice) throw error
    return renderPage(deps, opened, { notice })
  }
}

/** Returns the notice for a refusal, without what only the shop may read; undefined for a fault of the program. */
function noticeOf(error: unknown): ToPay['notice'] {
  if (isDatabaseError(error)) return 'later'
  if (!(error instanceof AppError)) return undefined
  const { kind, retryAfterSeconds } = error
  switch (kind) {
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
async function saveDetails(deps: DraftDeps, { link, caller, shop }: OpenedLink, fields: Fields): Promise<boolean> {
  const details = detailsIn(fields)
  if (details === 'refused') return false
  const { cart } = await openLinkedCart(deps, link, shopperOfLink)
  const isLeftOpen = (field: 'email' | 'shippingAddress' | 'shippingMethod') => !cart.draft?.settled.includes(field)
  const { email, shippingAddress, shippingMethod } = details
  const change = {
    ...(email !== undefined && isLeftOpen('email') ? { email } : {}),
    ...(shippingAddress && isLeftOpen('shippingAddress') ? { shippingAddress } : {}),
  }
  if (Object.keys(change).length > 0) await changeCart(deps, caller, link.cartId, change)
  if (!isLeftOpen('shippingMethod') || shop.shippingMethods.length === 0) return true
  const { data } = await shippingOptions(deps, caller, link.cartId)
  // A single method is preselected; one that does not reach the new address is replaced.
  const code = data.length === 1 ? data[0]?.code : data.find((option) => option.code === shippingMethod)?.code
  if (code !== undefined) await changeCart(deps, caller, link.cartId, { shippingMethod: code })
  return true
}

/**
 * Puts a discount code on the cart; an empty one takes it off.
 * @returns false for a code that cannot be used
 */
async function saveCode(deps: DraftDeps, { link, caller }: OpenedLink, fields: Fields, { address }: Sender): Promise<boolean> {
  const code = fields.get('code')?.trim() ?? ''
  if (code.length > codeMax) return false
  try {
    await changeDiscountCode(deps, caller, link.cartId, { code: code === '' ? null : code, address })
    return true
  } catch (error) {
    if (error instanceof AppError && error.kind === 'NOT_FOUND') return false
    throw error
  }
}

/** @returns false for a form of another version of the page */
async function pay(deps: DraftDeps, opened: OpenedLink, fields: Fields, { address, once }: Sender): Promise<boolean> {
  const { link, caller } = opened
  const before = await loadLinkedCart(deps, link)
  // An order that ended unpaid reopens its cart, which is shown as it is now.
  if (before.status === 'OPEN' && before.cart.status !== 'OPEN') return false
  const { ways, manual } = await toPayOf(deps, opened, before.view.totals.amountDue.amount)
  const way = ways.find(({ method, processor }) => method === fields.get('method') && processor === fields.get('processor'))
  const byHand = fields.get('method') === 'manual' ? manual.find(({ code }) => code === fields.get('processor')) : undefined
  const page = shownIn(fields)
  const key = fields.get('key') ?? ''
  if (!page || key === '' || (!way && !byHand && before.view.totals.amountDue.amount > 0)) return false
  const outcome = fields.get('outcome') ?? ''
  await once(key, (attempt) =>
    checkOut(deps, {
      caller,
      cartId: link.cartId,
      method: byHand ? 'manual' : (way?.method ?? 'card'),
      manualCode: byHand?.code,
      processor: way?.processor,
      paymentToken: way?.isTrial && outcomes.includes(outcome) ? outcome : undefined,
      returnUrl: link.url,
      address,
      attempt,
      expected: page,
    }),
  )
  return true
}
