/** Completes checkout sessions: the platform pays what it was last shown, through the checkout that shoppers use. */
import type { AgentCall } from '../../../core/agent-call.ts'
import { locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import { notFoundAnswer } from '../../../lib/ucp/call.ts'
import { type MessageCode, type UcpMessage, ucpMessage } from '../../../lib/ucp/messages.ts'
import { hostedPageUrl } from '../../payments/payment/index.ts'
import { viewSoldCart } from '../../selling/cart/index.ts'
import { checkOutAs } from '../../selling/checkout/index.ts'
import { paymentOf } from '../../selling/order/domain.ts'
import { type FullOrder, orderOfAttempt } from '../../selling/order/index.ts'
import { handlersOf, handOffUrlOf, problemsOf, renderSession, sessionStatusOf } from './answer.ts'
import { shownDigestOf } from './answer-view.ts'
import { assertNoCardNumber } from './contents.ts'
import { type AgentSession, agentAttemptKey, type CompleteInput, failuresMax, hasEndedUnpaid, isPlaced } from './domain.ts'
import { callerOf, type LoadedSession, loadSession } from './load.ts'
import type { AgentSessionDeps } from './providers.ts'
import { assertUnfinished, loadCurrentSession, openSession } from './service.ts'

const instrumentsPath = '$.payment.instruments'

/** A completion: its call, and the attempt that places the order. */
type Completion = { readonly call: AgentCall; readonly attempt: Attempt; readonly isStored: () => boolean }

/**
 * Completes a session: pays with the platform's instrument. An answer that is not final is stored as null: a retry with
 * its key gets the current one.
 * @returns the session; an answer without a resource for an unknown session or another platform's
 * @throws UcpError `raw_card_refused`; `session_closed` if it is finished; `rate_limited`, `unavailable`
 */
export async function completeSession(
  deps: AgentSessionDeps,
  call: AgentCall,
  { id, body }: { id: string; body: CompleteInput },
): Promise<object> {
  assertNoCardNumber(body)
  const current = await loadCurrentSession(deps, call, id)
  if (current?.session.kind !== 'CHECKOUT') return notFoundAnswer(call.platform)
  const completion = completionOf(call)
  const placed = call.attempt.isResumed ? await orderOfAttempt(deps, current.cart.id, completion.attempt.key) : undefined
  if (placed) return pay(deps, completion, current, selectedInstrument(body)?.credential?.token)
  assertUnfinished(deps, current)
  if (isBeingPaid(deps, call, current)) return respond(deps, completion, current)
  const loaded = await reopenUnpaidSession(deps, call, current)
  if (problemsOf(loaded, deps.clock.now()).length > 0) return respond(deps, completion, loaded)
  const instrument = selectedInstrument(body)
  const offered = Object.values(handlersOf(deps, call)).flat() as { id: string }[]
  if (!instrument || !offered.some((handler) => handler.id === instrument.handler_id))
    return respond(deps, completion, loaded, [ucpMessage('handler_unavailable', instrumentsPath)])
  const token = instrument.credential?.token ?? ''
  const at = body.payment.instruments?.indexOf(instrument)
  if (token === '') return respond(deps, completion, loaded, [ucpMessage('missing', `${instrumentsPath}[${at}].credential.token`)])
  if (shownDigestOf(loaded.view) !== loaded.session.shown) return respond(deps, completion, loaded, [ucpMessage('price_changed')])
  if (loaded.session.failures >= failuresMax) return respond(deps, completion, loaded, [ucpMessage('payment_failed')])
  return pay(deps, completion, loaded, token)
}

/** Returns a session at current prices. Reopens its cart for a new order if the order ended unpaid. */
async function reopenUnpaidSession(deps: AgentSessionDeps, call: AgentCall, loaded: LoadedSession): Promise<LoadedSession> {
  if (!loaded.order || !hasEndedUnpaid(loaded.order, deps.clock.now())) return loaded
  const { session } = await openSession(deps, call, loaded)
  return requireSession(await loadCurrentSession(deps, call, session.id))
}

/** Returns the selected instrument. The only one needs no mark. */
function selectedInstrument({ payment: { instruments = [] } }: CompleteInput) {
  const [instrument, another] = instruments.filter(({ selected }) => selected ?? instruments.length === 1)
  return another ? undefined : instrument
}

function completionOf(call: AgentCall): Completion {
  const { attempt } = call
  let isStored = false
  return {
    call,
    isStored: () => isStored,
    attempt: {
      ...attempt,
      key: agentAttemptKey(attempt.key),
      // The platform gets the session, not the response of the checkout.
      async storeAnswer(tx, _, isSure) {
        await attempt.storeAnswer(tx, null, isSure)
        tx.afterCommit(() => {
          isStored = true
        })
      },
      // The platform gets the session with a message instead.
      storeRefusal: async () => undefined,
    },
  }
}

function isBeingPaid(deps: AgentSessionDeps, call: AgentCall, loaded: LoadedSession): boolean {
  if (!loaded.order) return false
  // The cart of an order lacks nothing.
  const status = sessionStatusOf(deps, loaded, { hasErrors: false, hasHandler: Object.keys(handlersOf(deps, call)).length > 0 })
  return status === 'complete_in_progress' || status === 'requires_escalation'
}

/** Pays, and answers with the result. @param token undefined only where an earlier attempt placed the order */
async function pay(deps: AgentSessionDeps, completion: Completion, loaded: LoadedSession, token: string | undefined): Promise<object> {
  const { call, attempt } = completion
  const { session, cart, view } = loaded
  const { buyUrlOf } = await deps.orderLinks.ready()
  let full: FullOrder
  try {
    const request = {
      caller: callerOf(call.shop),
      cartId: cart.id,
      loadedCart: loaded,
      method: 'card',
      // The only handler of this release.
      processor: 'sandbox',
      paymentToken: token,
      returnUrl: buyUrlOf(session.id),
      address: call.address,
      attempt,
      expected: { updatedAt: cart.updatedAt, amountDue: view.totals.amountDue.amount, total: view.totals.total.amount },
    } as const
    full = await checkOutAs(deps, request, (order) => order)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return respondToRefusal(deps, completion, session, error)
  }
  const { order } = full
  const payment = paymentOf(full)
  // The cart was bought as it was read, so it need not be read again.
  if (cart.status === 'OPEN' && !attempt.isResumed && isPlaced(order))
    return respond(deps, completion, { session, ...viewSoldCart(deps, loaded, full), payment })
  const after = requireSession(await loadSession(deps, call, session.id))
  const isUnpaid = order.status === 'PENDING_PAYMENT' || order.status === 'CANCELLED' || order.status === 'EXPIRED'
  if (!isUnpaid) return respond(deps, completion, after)
  if (payment?.status === 'FAILED' || order.status === 'EXPIRED')
    return respond(deps, completion, after, [ucpMessage('payment_failed')], { failures: session.failures + 1 })
  const needsPage = payment?.status === 'REQUIRES_ACTION' && !hostedPageUrl(payment.clientParameters)?.startsWith('https:')
  if (needsPage || payment?.status === 'VOIDED') return respondWithHandOff(deps, completion, after)
  return respond(deps, completion, after)
}

function requireSession(loaded: LoadedSession | undefined): LoadedSession {
  if (!loaded) throw new Error('a session is gone')
  return loaded
}

/** Voids a payment that needs a confirmation for which the platform has no page. A person pays by the link instead. */
async function respondWithHandOff(deps: AgentSessionDeps, completion: Completion, loaded: LoadedSession): Promise<object> {
  const open = await openSession(deps, completion.call, loaded)
  return (await handOffUrlOf(deps, open)) === undefined
    ? respond(deps, completion, open, [ucpMessage('payment_failed')])
    : respond(deps, completion, open, [], { isEscalated: true })
}

/** Returns the message for a checkout that was refused because of the instrument. */
const failureOf = ({ kind, code }: AppError): MessageCode | undefined => {
  if (code === 'processor_not_available' || code === 'amount_too_small') return 'handler_unavailable'
  return kind === 'INVALID' || code === 'limit_reached' ? 'payment_failed' : undefined
}

/** Answers a checkout that was refused before any money moved. */
async function respondToRefusal(
  deps: AgentSessionDeps,
  completion: Completion,
  { id, failures }: Pick<AgentSession, 'id' | 'failures'>,
  error: AppError,
): Promise<object> {
  if (error.kind !== 'CONFLICT' && error.kind !== 'INVALID') throw error
  const { call } = completion
  const loaded = requireSession(await loadCurrentSession(deps, call, id))
  assertUnfinished(deps, loaded)
  if (isBeingPaid(deps, call, loaded)) return respond(deps, completion, loaded)
  const code = failureOf(error)
  if (code === 'handler_unavailable') return respond(deps, completion, loaded, [ucpMessage(code, instrumentsPath)])
  if (code === 'payment_failed') return respond(deps, completion, loaded, [ucpMessage(code)], { failures: failures + 1 })
  const isLacking = problemsOf(loaded, deps.clock.now()).length > 0
  return respond(deps, completion, loaded, isLacking ? [] : [ucpMessage('price_changed')])
}

/**
 * Renders a session, and stores the answer and what it showed in one write. So a retry of a lost answer charges only
 * what the platform was shown.
 * @param messages of this answer alone
 * @param isEscalated whether a person must continue, even if the platform could complete the session
 */
async function respond(
  deps: AgentSessionDeps,
  { call, isStored }: Completion,
  loaded: LoadedSession,
  messages: readonly UcpMessage[] = [],
  { failures = loaded.session.failures, isEscalated = false }: { failures?: number; isEscalated?: boolean } = {},
): Promise<object> {
  const answer = await renderSession(deps, call, loaded, messages, isEscalated)
  if (isStored()) return answer
  const { session, view } = loaded
  const isFinal = messages.length > 0 || isEscalated || answer.status === 'incomplete'
  await deps.db.write(async (tx) => {
    await deps.agentSessionStore.change(tx, session, { shown: shownDigestOf(view), failures })
    await call.attempt.storeAnswer(tx, isFinal ? answer : null)
  }, locking)
  return answer
}
