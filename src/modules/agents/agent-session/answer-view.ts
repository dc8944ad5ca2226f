/** Renders sessions and carts as the protocol shows them. Pure; texts of the shop enter as plain text. */
import type { AgentDestination } from '../../../../db/schema/agents.ts'
import type { AgentCall } from '../../../core/agent-call.ts'
import { plainText } from '../../../lib/plain-text.ts'
import { sha256 } from '../../../lib/seal.ts'
import { envelopeOf } from '../../../lib/ucp/call.ts'
import type { UcpMessage } from '../../../lib/ucp/messages.ts'
import { releaseRules } from '../../../lib/ucp/releases.ts'
import { lineTotalsOf, type Total, totalsOf } from '../../../lib/ucp/totals.ts'
import { type CartView, needsShipping, offersFor } from '../../selling/cart/index.ts'
import { lineTitleOf, type SessionStatus, titleMax } from './domain.ts'
import type { LoadedSession } from './load.ts'

/** The option of a shop without shipping methods. */
const freeOption = { id: 'free', title: 'Free shipping', amount: 0 }
/** Ids of the only shipping method and its only group. */
const methodId = 'shipping'

/** What an answer needs besides the session. */
type AnswerFacts = {
  readonly messages: readonly UcpMessage[]
  readonly status: SessionStatus
  readonly continueUrl: string | undefined
  readonly permalinkUrl: string | undefined
  readonly handlers: Record<string, object[]>
  readonly now: number
}

/** Returns the amount of discounts that make shipping free. The cart's discount total does not contain it. */
const freeShippingOf = ({ discounts }: CartView): number =>
  discounts.filter(({ kind }) => kind === 'FREE_SHIPPING').reduce((sum, { amount }) => sum + amount.amount, 0)

/** Returns the totals of a cart. @param isShippingChosen shows a price of 0 too */
function cartTotalsOf(view: CartView, isShippingChosen: boolean): Total[] {
  const { subtotal, discount, shipping, tax, total } = view.totals
  const amounts = { itemsDiscount: discount.amount, freeShipping: freeShippingOf(view), shipping: shipping.amount, tax: tax.amount }
  return totalsOf({ ...amounts, subtotal: subtotal.amount, total: total.amount }, isShippingChosen)
}

type LineView = CartView['lines'][number]

function lineItemView({ id, variantId, title, variantTitle, imageUrl, quantity, unitPrice, total, discount }: LineView) {
  return {
    id,
    item: {
      id: variantId,
      title: lineTitleOf(title ?? '', variantTitle ?? ''),
      price: unitPrice.amount,
      ...(imageUrl !== null && /^https?:/.test(imageUrl) && URL.canParse(imageUrl) ? { image_url: new URL(imageUrl).href } : {}),
    },
    quantity,
    totals: lineTotalsOf(total.amount, discount.amount),
  }
}

function discountsView({ session }: LoadedSession, { discounts, lines }: CartView) {
  const allocations = lines.flatMap(({ discount }, at) =>
    discount.amount > 0 ? [{ path: `$.line_items[${at}]`, amount: discount.amount }] : [],
  )
  return {
    codes: session.request.codes,
    applied: discounts.map(({ code, title, amount, kind }) => ({
      title: plainText(title, titleMax),
      amount: amount.amount,
      ...(code === null ? { automatic: true } : { code: plainText(code, titleMax) }),
      ...(kind === 'FREE_SHIPPING' ? {} : { method: 'across', allocations }),
    })),
  }
}

type Option = { id: string; title: string; amount: number }

/** Returns the shipping options of a session, and the chosen one. An order has only its own. */
function optionsOf({ snapshot, order, view }: LoadedSession, now: number): { options: Option[]; chosen: string | null } {
  if (snapshot.shop.shippingMethods.length === 0 && !order?.shippingMethod) return { options: [freeOption], chosen: freeOption.id }
  if (order) {
    if (!order.shippingMethod) return { options: [], chosen: null }
    const { code, title } = order.shippingMethod
    return { options: [{ id: code, title, amount: view.totals.shipping.amount + freeShippingOf(view) }], chosen: code }
  }
  const offers = snapshot.cart.shippingAddress && snapshot.items.length > 0 ? offersFor(snapshot, now) : []
  return { options: offers.map(({ code, title, price }) => ({ id: code, title, amount: price.amount })), chosen: view.shippingMethod }
}

/** Returns destinations as the platform sent them, or only the country of an address that a person entered. */
function destinationsOf({ session, order }: LoadedSession): { destinations: AgentDestination[]; selected: string | null } {
  const { destinations = [], selectedDestination = null } = session.request
  if (destinations.length > 0 || !order?.shippingAddress) {
    const isSent = destinations.some(({ id }) => id === selectedDestination)
    return { destinations, selected: isSent ? selectedDestination : null }
  }
  return { destinations: [{ id: 'dest_1', address_country: order.shippingAddress.countryCode }], selected: 'dest_1' }
}

function fulfillmentView(loaded: LoadedSession, { options, chosen }: ReturnType<typeof optionsOf>, { release }: AgentCall['platform']) {
  const { typesDestinations } = releaseRules[release]
  const { destinations, selected } = destinationsOf(loaded)
  const lineIds = loaded.snapshot.items.filter(({ sellable }) => sellable?.variant.requiresShipping !== false).map(({ line }) => line.id)
  const group = {
    id: methodId,
    line_item_ids: lineIds,
    options: options.map(({ id, title, amount }) => ({ id, title: plainText(title, titleMax), totals: [{ type: 'total', amount }] })),
    selected_option_id: chosen,
  }
  return {
    methods: [
      {
        id: methodId,
        type: 'shipping',
        line_item_ids: lineIds,
        ...(destinations.length > 0
          ? { destinations: destinations.map((sent) => (typesDestinations ? { ...sent, type: 'shipping_address' } : sent)) }
          : {}),
        selected_destination_id: selected,
        groups: [group],
      },
    ],
  }
}

/** Returns whether a session ships something, so that its answer has a fulfilment. */
const isShipped = ({ snapshot, order }: LoadedSession): boolean =>
  (snapshot.items.length > 0 && needsShipping(snapshot)) || (order?.shippingMethod ?? null) !== null

/** Renders a checkout session, or a cart without status and payment. */
export function answerView(call: AgentCall, loaded: LoadedSession, facts: AnswerFacts) {
  const { session, view, order } = loaded
  const { platform } = call
  const isCheckout = session.kind === 'CHECKOUT'
  const { messages, status, continueUrl, permalinkUrl, now } = facts
  const shipping = isCheckout && isShipped(loaded) ? optionsOf(loaded, now) : undefined
  const active = (name: 'fulfillment' | 'discount') => platform.capabilities.has(name)
  const envelope = envelopeOf(platform, isCheckout ? 'checkout' : 'cart')
  return {
    ucp: isCheckout ? { ...envelope, payment_handlers: facts.handlers } : envelope,
    id: session.id,
    ...(isCheckout ? { status } : {}),
    currency: view.currency,
    line_items: view.lines.map(lineItemView),
    totals: cartTotalsOf(view, (shipping?.chosen ?? null) !== null),
    ...(session.request.buyer ? { buyer: session.request.buyer } : {}),
    ...(shipping && active('fulfillment') ? { fulfillment: fulfillmentView(loaded, shipping, platform) } : {}),
    ...(active('discount') ? { discounts: discountsView(loaded, view) } : {}),
    ...(session.request.attribution ? { attribution: session.request.attribution } : {}),
    messages: [...messages],
    // Clients send the instruments of an answer back. The answer contains none.
    ...(isCheckout ? { links: call.policies.map(({ type, url }) => ({ type, url })), payment: { instruments: [] } } : {}),
    expires_at: new Date(session.expiresAt).toISOString(),
    ...(continueUrl === undefined ? {} : { continue_url: continueUrl }),
    ...(status === 'completed' && order && permalinkUrl !== undefined
      ? { order: { id: order.id, label: String(order.number), permalink_url: permalinkUrl } }
      : {}),
  }
}
export type SessionAnswer = ReturnType<typeof answerView>

/**
 * Returns a digest of everything that a payment depends on: lines, prices, quantities, totals, currency, discounts,
 * shipping option, buyer and destination. A different digest means a different price, or a change that a person made on
 * a page.
 */
export const shownDigestOf = ({ lines, totals, currency, discounts, shippingMethod, email, shippingAddress }: CartView): string =>
  sha256(
    JSON.stringify([
      ...[currency, shippingMethod, totals, email, shippingAddress],
      lines.map(({ variantId, quantity, unitPrice, discount }) => [variantId, quantity, unitPrice.amount, discount.amount]),
      discounts.map(({ id, amount }) => [id, amount.amount]),
    ]),
  )
