/** Builds the answers about sessions: messages, status and links. Stores what the platform was shown. */
import type { AgentCall } from '../../../core/agent-call.ts'
import { locking } from '../../../core/command-context.ts'
import { publicUrlOf } from '../../../core/public-url.ts'
import { paymentHandlersOf } from '../../../lib/ucp/handlers.ts'
import { type UcpMessage, ucpMessage } from '../../../lib/ucp/messages.ts'
import { availableCount } from '../../catalog/products/domain.ts'
import { hostedPageUrl } from '../../payments/payment/index.ts'
import { isStillSellable, needsShipping, offersFor, strictlyUnknown } from '../../selling/cart/index.ts'
import { codeKeyOf } from '../../selling/discount/domain.ts'
import { offerOfCode } from '../../selling/discount/index.ts'
import { continueUrlOf } from '../hand-off/index.ts'
import { answerView, type SessionAnswer, shownDigestOf } from './answer-view.ts'
import { deliveryProblems, isAgentPayment, isFinished, type SessionStatus, statusOf } from './domain.ts'
import { type LoadedSession, loadSession } from './load.ts'
import type { AgentSessionDeps } from './providers.ts'

/** Lists what a session lacks before it can be completed. A converted cart lacks nothing. */
export function problemsOf({ session, cart, snapshot }: LoadedSession, now: number): UcpMessage[] {
  if (cart.status !== 'OPEN') return []
  const { request, kind } = session
  const { items, shop } = snapshot
  const itemProblems = items.flatMap((item, at) => {
    if (!isStillSellable(item, cart, now)) return [ucpMessage('item_unavailable', `$.line_items[${at}]`)]
    return availableCount(item.sellable.variant) < item.line.quantity ? [ucpMessage('out_of_stock', `$.line_items[${at}]`)] : []
  })
  const unavailable = (request.unavailable ?? []).map((at) => ucpMessage('item_unavailable', `$.line_items[${at}]`))
  const missing = items.length + unavailable.length === 0 ? [ucpMessage('missing', '$.line_items')] : []
  const lineProblems = [...missing, ...unavailable, ...itemProblems]
  if (kind === 'CART') return lineProblems
  const delivery =
    items.length === 0 || !needsShipping(snapshot)
      ? []
      : deliveryProblems(request, {
          address: cart.shippingAddress,
          shippingMethod: cart.shippingMethod,
          isDeliverable: cart.shippingAddress !== null && offersFor(snapshot, now).length > 0,
          isProvinceUnknown: strictlyUnknown(snapshot, cart) !== undefined,
          hasMethods: shop.shippingMethods.length > 0,
        })
  return [...lineProblems, ...(cart.email === null ? [ucpMessage('missing', '$.buyer.email')] : []), ...delivery]
}

/** Returns warnings about codes without effect on the price. */
async function codeWarnings(
  deps: AgentSessionDeps,
  { platform }: AgentCall,
  { session, cart, snapshot, view }: LoadedSession,
): Promise<UcpMessage[]> {
  if (cart.status !== 'OPEN' || !platform.capabilities.has('discount')) return []
  const isReduced = view.discounts.some(({ kind }) => kind !== 'FREE_SHIPPING')
  const warnings = session.request.codes.map(async (code, at) => {
    const key = codeKeyOf(code)
    if (view.discounts.some((discount) => discount.code !== null && codeKeyOf(discount.code) === key)) return []
    const { currency, shopId, customerId, email } = cart
    const isUsable =
      key === cart.discountCode
        ? isReduced
        : await offerOfCode(deps, { code, currency, shopper: { shopId, customerId, email }, mode: snapshot.shop.mode })
    return [ucpMessage(isUsable ? 'discount_code_combination_disallowed' : 'discount_code_invalid', `$.discounts.codes[${at}]`)]
  })
  return (await Promise.all(warnings)).flat()
}

/** Returns the processor's page on which the payer must act, if the platform can open it. */
function actionUrlOf({ payment }: LoadedSession): string | undefined {
  const isActionRequired = payment?.status === 'REQUIRES_ACTION' && isAgentPayment(payment)
  const url = isActionRequired ? hostedPageUrl(payment.clientParameters) : undefined
  return url?.startsWith('https:') ? url : undefined
}

/** Returns where a person continues a session; undefined if there is no such page. */
export const handOffUrlOf = (deps: AgentSessionDeps, { session, snapshot, view }: LoadedSession): Promise<string | undefined> =>
  continueUrlOf(deps, snapshot.shop, { id: session.id, amountDue: view.totals.amountDue.amount })

/** Returns the payment handlers of a call's shop. */
export const handlersOf = (deps: AgentSessionDeps, { shop, platform }: AgentCall) =>
  paymentHandlersOf(shop.mode, publicUrlOf(deps), platform.release)

/** Returns the status of a session, without the messages of one request. */
export const sessionStatusOf = (
  { clock }: AgentSessionDeps,
  loaded: LoadedSession,
  facts: { hasErrors: boolean; hasHandler: boolean },
): SessionStatus => statusOf(loaded, { ...facts, hasActionUrl: actionUrlOf(loaded) !== undefined }, clock.now())

/** Returns whether a session has ended. Missing fields do not matter for this. */
export const hasEnded = (deps: AgentSessionDeps, loaded: LoadedSession): boolean =>
  isFinished(sessionStatusOf(deps, loaded, { hasErrors: false, hasHandler: false }))

/**
 * Renders a session or cart. The caller stores the `shownDigestOf` its view, in the write that changes the session.
 * @param messages of this request alone, such as a failed payment; they do not change the status
 * @param isEscalated whether a person must continue, even if the platform could complete the session
 */
export async function renderSession(
  deps: AgentSessionDeps,
  call: AgentCall,
  loaded: LoadedSession,
  messages: readonly UcpMessage[] = [],
  isEscalated = false,
): Promise<SessionAnswer> {
  const { session, view, order } = loaded
  const now = deps.clock.now()
  const problems = problemsOf(loaded, now)
  const handlers = handlersOf(deps, call)
  const currentStatus = sessionStatusOf(deps, loaded, { hasErrors: problems.length > 0, hasHandler: Object.keys(handlers).length > 0 })
  const status = isEscalated && currentStatus === 'ready_for_complete' ? 'requires_escalation' : currentStatus
  const isOver = isFinished(status)
  const lastingMessages = isOver ? [] : [...problems, ...(await codeWarnings(deps, call, loaded))]
  return answerView(call, loaded, {
    messages: [...messages, ...lastingMessages, ...(view.totals.taxIncluded.amount > 0 ? [ucpMessage('tax_included')] : [])],
    status,
    continueUrl: isOver || session.kind === 'CART' ? undefined : (actionUrlOf(loaded) ?? (await handOffUrlOf(deps, loaded))),
    permalinkUrl: status === 'completed' && order ? (await deps.orderLinks.ready()).urlOf(order.id) : undefined,
    handlers,
    now,
  })
}

/** Renders a session or cart, and stores what the platform was shown: only that can be charged. */
export async function answerOf(deps: AgentSessionDeps, call: AgentCall, loaded: LoadedSession): Promise<SessionAnswer> {
  const answer = await renderSession(deps, call, loaded)
  const { session, view } = loaded
  const shown = shownDigestOf(view)
  if (shown !== session.shown)
    // If storing it fails, the next completion answers `price_changed`, and nothing is charged.
    await deps.db
      .write((tx) => deps.agentSessionStore.change(tx, session, { shown }), locking)
      .catch((error: unknown) => deps.log.warn('agent_session.shown_not_noted', { error }))
  return answer
}

/** Stored in place of the digest if the last answer repeated an outdated one. It equals no digest. */
const outdated = 'outdated'

type Offer = Partial<Pick<SessionAnswer, 'id' | 'currency' | 'line_items' | 'totals' | 'buyer' | 'fulfillment' | 'discounts'>>
const offerOf = ({ currency, line_items, totals, buyer, fulfillment, discounts }: Offer): string =>
  JSON.stringify([currency, line_items, totals, buyer, fulfillment, discounts])

/**
 * Records that an earlier answer is repeated. If the session has changed since, it cannot be charged until read again.
 */
export async function noteRepeated(deps: AgentSessionDeps, call: AgentCall, answer: Offer): Promise<void> {
  const loaded = answer.id === undefined ? undefined : await loadSession(deps, call, answer.id)
  if (!loaded || hasEnded(deps, loaded)) return
  const { session, view } = loaded
  const isCurrent = offerOf(answer) === offerOf(await renderSession(deps, call, loaded))
  const shown = isCurrent ? shownDigestOf(view) : outdated
  if (shown !== session.shown) await deps.db.write((tx) => deps.agentSessionStore.change(tx, session, { shown }), locking)
}
