/** Payment methods, and the next step after a checkout: see docs/storefronts.md. */
import type { Asked, Schema } from './api.ts'
import type { Words } from './i18n.ts'
import { canFinish } from './libraries.ts'

export type Choice = Asked<'POST /cart/{id}/checkout'>['body']
export type Way = { readonly label: string; readonly choice: Choice }
export type Payment = Schema<'Checkout'>['payment']

/**
 * Returns the payment methods of the resolver.
 * @param publishableKey in mode TEST, adds the sandbox, which the resolver never returns
 * @param returnUrl where a processor's page returns the shopper
 */
export function waysToPay(
  { card, paypal, crypto, manual }: Schema<'ResolvedPaymentMethods'>,
  publishableKey: string | null,
  returnUrl: string,
  words: Words,
): Way[] {
  const ways: Way[] = []
  if (card && canFinish(card.processor)) ways.push({ label: words.card, choice: { method: 'card', returnUrl } })
  if (paypal.enabled) ways.push({ label: words.paypal, choice: { method: 'paypal', returnUrl } })
  if (crypto.enabled) ways.push({ label: words.crypto, choice: { method: 'crypto', returnUrl } })
  // The shop names them in its own language.
  for (const { code, title } of manual) ways.push({ label: title, choice: { method: 'manual', manualCode: code } })
  if (publishableKey?.startsWith('pk_test_')) {
    const sandbox = { method: 'card', processor: 'sandbox' } as const
    ways.push({ label: words.testCard, choice: { ...sandbox, paymentToken: 'tok_success' } })
    ways.push({ label: words.testCardDeclined, choice: { ...sandbox, paymentToken: 'tok_decline' } })
  }
  return ways
}

/** The next step of the page after a checkout. */
export type Next =
  | { readonly kind: 'paid' | 'declined' | 'deciding' | 'over' }
  /** Show how to pay outside souk. */
  | { readonly kind: 'manual'; readonly title: string; readonly instructions: string }
  /** Redirect to the processor's page. */
  | { readonly kind: 'elsewhere'; readonly url: string }
  /** Open the app of the shopper's bank. */
  | { readonly kind: 'banks'; readonly image: string; readonly banks: readonly { readonly name: string; readonly link: string }[] }
  /** Continue with the processor's library. */
  | { readonly kind: 'library'; readonly processor: string; readonly parameters: Payment['clientParameters'] }

const paid = new Set(['PAID', 'CONFIRMED', 'FULFILLED', 'COMPLETED'])
const over = new Set(['EXPIRED', 'CANCELLED', 'COMPENSATING'])

export function nextOf({ order, payment }: { order: Pick<Schema<'OrderStanding'>, 'status'>; payment: Payment }): Next {
  if (paid.has(order.status)) return { kind: 'paid' }
  if (over.has(order.status)) return { kind: 'over' }
  if (payment.status === 'FAILED' || payment.status === 'VOIDED') return { kind: 'declined' }
  if (payment.processor === 'manual') {
    const { title, instructions } = payment.clientParameters
    return { kind: 'manual', title: String(title ?? ''), instructions: String(instructions ?? '') }
  }
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
  // The sandbox has no page: its payment waits for a result from the sandbox.
  return processor === null || processor === 'sandbox' ? { kind: 'deciding' } : { kind: 'library', processor, parameters }
}

const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '')

/** Links to banks' apps have their own schemes. Schemes that a browser runs itself are rejected. */
function bankOf({ name, link }: { name?: unknown; link?: unknown }): { name: string; link: string }[] {
  const scheme = URL.parse(String(link))?.protocol
  return scheme === undefined || /^(javascript|data|vbscript|blob|file):$/.test(scheme) ? [] : [{ name: String(name), link: String(link) }]
}
