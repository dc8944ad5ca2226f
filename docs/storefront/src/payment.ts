/**
 * Paying a cart: what there is to choose from, the request that may be sent again, and what its answer asks of the page.
 * docs/storefronts.md has the whole of it.
 */
import { type Asked, Refused, type Schema } from './api.ts'
import type { Cart } from './cart.ts'
import { canFinish } from './libraries.ts'
import { askAsShopper } from './session.ts'
import type { Words } from './words.ts'

export type Choice = Asked<'POST /cart/{id}/checkout'>['body']
export type Way = { readonly label: string; readonly choice: Choice }
type Checkout = Schema<'Checkout'>
export type Payment = Checkout['payment']

/**
 * The ways to pay, as the resolver has them.
 * @param publishableKey of a shop in mode TEST it opens the sandbox, which the resolver offers to no page
 * @param returnUrl where a processor's own page sends the shopper back
 */
export function waysToPay(
  { card, paypal, crypto }: Schema<'ResolvedPaymentMethods'>,
  publishableKey: string | null,
  returnUrl: string,
  words: Words,
): Way[] {
  const ways: Way[] = []
  if (card && canFinish(card.processor)) ways.push({ label: words.card, choice: { method: 'card', returnUrl } })
  if (paypal.enabled) ways.push({ label: words.paypal, choice: { method: 'paypal', returnUrl } })
  if (crypto.enabled) ways.push({ label: words.crypto, choice: { method: 'crypto', returnUrl } })
  if (publishableKey?.startsWith('pk_test_')) {
    const sandbox = { method: 'card', processor: 'sandbox' } as const
    ways.push({ label: words.testCard, choice: { ...sandbox, paymentToken: 'tok_success' } })
    ways.push({ label: words.testCardDeclined, choice: { ...sandbox, paymentToken: 'tok_decline' } })
  }
  return ways
}

/**
 * A checkout that was sent and not answered yet. It stays in sessionStorage until it is: a page that is loaded anew in the middle goes on
 * with the very same request, under the key that makes sure it is done once.
 */
type Attempt = { readonly cartId: string; readonly key: string; readonly choice: Choice }
const place = 'souk.attempt'

const attempt = (): Attempt | undefined => {
  const kept = sessionStorage.getItem(place)
  return kept === null ? undefined : (JSON.parse(kept) as Attempt)
}

/** What was about to be paid when the page was left; undefined when nothing was. */
export function unfinished(cartId: string): Choice | undefined {
  const kept = attempt()
  return kept?.cartId === cartId ? kept.choice : undefined
}

const pauseMs = 1_000
const triesMax = 30
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Buys a cart. Whatever gets lost on its way may be asked for again by calling this again, also from a page that was loaded anew.
 * @throws Refused: with 409, souk's message says what has changed, and the cart shows it
 */
export async function buy(cart: Pick<Cart, 'id'>, choice: Choice): Promise<Checkout> {
  const kept = attempt()
  const isSame = kept?.cartId === cart.id && JSON.stringify(kept.choice) === JSON.stringify(choice)
  const key = isSame ? kept.key : crypto.randomUUID()
  sessionStorage.setItem(place, JSON.stringify({ cartId: cart.id, key, choice } satisfies Attempt))
  for (let tries = 1; ; tries++) {
    try {
      const answer = await askAsShopper('POST /cart/{id}/checkout', { path: { id: cart.id }, body: choice }, { 'idempotency-key': key })
      sessionStorage.removeItem(place)
      return answer
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      // The one that a page sent before it was left is still at work.
      const isAtWork = error.status === 409 && error.retryAfter !== null
      if (!isAtWork || tries === triesMax) {
        if (isDecided(error)) sessionStorage.removeItem(place)
        throw error
      }
      await pause(pauseMs)
    }
  }
}

/** Whether a refusal is the last word about its request. Otherwise it may have been done, or will be when it is sent again. */
const isDecided = ({ status, retryAfter }: Refused): boolean => status >= 400 && status < 500 && retryAfter === null && status !== 401

/** What the page does with the answer of a checkout. */
export type Next =
  | { readonly kind: 'paid' | 'declined' | 'deciding' | 'over' }
  /** The shopper goes on at the processor's own page. */
  | { readonly kind: 'elsewhere'; readonly url: string }
  /** The shopper goes on in an app of their bank. */
  | { readonly kind: 'banks'; readonly image: string; readonly banks: readonly { readonly name: string; readonly link: string }[] }
  /** The processor's library goes on. */
  | { readonly kind: 'library'; readonly processor: string; readonly parameters: Payment['clientParameters'] }

const paid = new Set(['PAID', 'CONFIRMED', 'FULFILLED', 'COMPLETED'])
const over = new Set(['EXPIRED', 'CANCELLED', 'COMPENSATING'])

export function nextOf({ order, payment }: { order: Pick<Schema<'OrderStanding'>, 'status'>; payment: Payment }): Next {
  if (paid.has(order.status)) return { kind: 'paid' }
  if (over.has(order.status)) return { kind: 'over' }
  if (payment.status === 'FAILED' || payment.status === 'VOIDED') return { kind: 'declined' }
  if (payment.status === 'REQUIRES_ACTION') return actionOf(payment)
  return { kind: 'deciding' }
}

function actionOf({ processor, clientParameters: parameters }: Payment): Next {
  const { redirectUrl, approveUrl, checkoutLink, qrImage, urls } = parameters
  const url = [redirectUrl, approveUrl, checkoutLink].find((one): one is string => typeof one === 'string' && isWebAddress(one))
  if (url !== undefined) return { kind: 'elsewhere', url }
  if (typeof qrImage === 'string') {
    const banks = (Array.isArray(urls) ? urls : []) as { name?: unknown; link?: unknown }[]
    return {
      kind: 'banks',
      image: `data:image/png;base64,${qrImage}`,
      banks: banks.map(({ name, link }) => ({ name: String(name), link: String(link) })),
    }
  }
  // The sandbox has no page: its payment waits until somebody says at the sandbox what became of it.
  return processor === null || processor === 'sandbox' ? { kind: 'deciding' } : { kind: 'library', processor, parameters }
}

const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '')

/** How the cart's order stands now: what is asked when the shopper is back from somewhere. */
export const standing = (id: string): Promise<Schema<'Returned'>> => askAsShopper('POST /cart/{id}/complete', { path: { id } })

/** Gives up an order that was not paid: its cart can be changed again. @throws Refused 409 while a payment may still succeed */
export const takeBack = (id: string): Promise<Cart> => askAsShopper('DELETE /cart/{id}/checkout', { path: { id } })

/** The link of the last order, for when the shopper comes back from a processor's page. */
const orderPlace = 'souk.order'
export const keepOrder = (publicUrl: string | undefined): void => sessionStorage.setItem(orderPlace, publicUrl?.split('/').at(-1) ?? '')
export const lastOrder = (): string => sessionStorage.getItem(orderPlace) ?? ''
