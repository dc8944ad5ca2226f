/** What there is to pay by, and what the answer of a checkout asks of the page: docs/storefronts.md has the whole of it. */
import type { Asked, Schema } from './api.ts'
import { canFinish } from './libraries.ts'
import type { Words } from './words.ts'

export type Choice = Asked<'POST /cart/{id}/checkout'>['body']
export type Way = { readonly label: string; readonly choice: Choice }
export type Payment = Schema<'Checkout'>['payment']

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
    return { kind: 'banks', image: `data:image/png;base64,${qrImage}`, banks: banks.flatMap(bankOf) }
  }
  // The sandbox has no page: its payment waits until somebody says at the sandbox what became of it.
  return processor === null || processor === 'sandbox' ? { kind: 'deciding' } : { kind: 'library', processor, parameters }
}

const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '')

/** Links into banks' apps have schemes of their own; those that a browser runs or shows by itself are none. */
function bankOf({ name, link }: { name?: unknown; link?: unknown }): { name: string; link: string }[] {
  const scheme = URL.parse(String(link))?.protocol
  return scheme === undefined || /^(javascript|data|vbscript|blob|file):$/.test(scheme) ? [] : [{ name: String(name), link: String(link) }]
}
