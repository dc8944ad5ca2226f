/** The page on which whoever has the link of a draft pays it: the ordinary cart and checkout behind forms. */
import { AppError } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { escaped } from '../../../lib/markup.ts'
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

/** How the trial payments of a shop in TEST may end on the page. */
const outcomes = ['tok_success', 'tok_decline']
/** Of the key of a try to pay. */
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

/** The same whatever a link is not good for any more. */
async function gonePage(deps: DraftDeps): Promise<WebPage> {
  const { look } = await readAppearance(deps, null)
  const { say } = look.words
  return webPage(look, { title: say.linkOver, body: `<p>${escaped(say.linkOverText)}</p>` })
}

/**
 * The page of a link: what there is to pay, that it is being paid, or that it was. A payment under way is asked about, as when a shopper comes
 * back from its processor.
 */
export async function openPayPage(deps: DraftDeps, token: string): Promise<WebPage> {
  const known = await found(deps, token)
  return known ? shown(deps, known) : gonePage(deps)
}

async function shown(deps: DraftDeps, known: Found, told: Told = {}): Promise<WebPage> {
  const { draft, caller, look, shop } = known
  const { cartId } = draft
  const before = await wholeDraft(deps, draft)
  // What has become of the payment is known after this.
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

/** Nothing of an order changes any more: whoever was refused to pay it was not the first to, in another tab or by a second press. */
const unchanged = (notice: Told['notice']): Told['notice'] => (notice === 'changed' ? undefined : notice)

async function openPage(deps: DraftDeps, known: Found, told: Told): Promise<WebPage> {
  const { draft, caller, look, shop } = known
  const { sent } = told
  let { notice } = told
  let whole: Awaited<ReturnType<typeof openDraft>>
  try {
    whole = await openDraft(deps, shop.id, draft.id, { actor: shopperOfLink })
    // A gift card that is spent, or a way to send it that has ended, would else stand in the way for good: nothing on the page takes it off.
    if (holdsLost(whole.snapshot, deps.clock.now())) {
      await refreshPrices(deps, draft.cartId, async () => undefined)
      whole = await openDraft(deps, shop.id, draft.id, { actor: shopperOfLink })
      notice ??= 'changed'
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
    // The payment of an order that came to nothing is not given up yet, or somebody pays just now.
    return waitingPage(look, (await wholeDraft(deps, draft)).view, { link: undefined, notice: 'busy' })
  }
  // By this it is noted what is shown: the checkout refuses whatever else it may come to by then.
  const view = await readCart(deps, caller, draft.cartId)
  // Somebody has begun to pay between these looks.
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

/** What is the same of every order that is to be paid. @param due 0: nothing has to be paid */
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

/** What the shop has left open, and what of that it has to know before it can be paid. */
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

/** How a try to pay is made once, whatever a browser sends twice. @throws what the work does, and CONFLICT while it is at work */
export type IdempotentRun = (key: string, work: (attempt: Attempt) => Promise<unknown>) => Promise<unknown>
/** @param address of whoever sends it: unpaid orders are bounded by it */
type Sender = { readonly address: string; readonly once: IdempotentRun }

/**
 * Does what a form of the page says.
 * @returns 'look' where the page is to be looked at anew; else what it shows instead
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

/** What whoever pays is told of a refusal: what the shop has to do about it is not theirs to read. */
function noticeOf({ code, retryAfterSeconds }: AppError): ToPay['notice'] {
  switch (code) {
    case 'CONFLICT':
      // What is worth trying again is only the same press that is still at work.
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

/** @returns false for what is not taken */
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
  // The only way is nobody's to choose; one that does not go to a new address is chosen anew.
  const code = data.length === 1 ? data[0]?.code : data.find((option) => option.code === shippingMethod)?.code
  if (code !== undefined) await changeCart(deps, caller, draft.cartId, { shippingMethod: code })
  return true
}

/** @returns false where the form is not of the page as it is now */
async function pay(deps: DraftDeps, known: Found, fields: Fields, { address, once }: Sender): Promise<boolean> {
  const { draft, caller } = known
  const before = await wholeDraft(deps, draft)
  // An order that came to nothing gives its cart back, which is shown as it is now.
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
