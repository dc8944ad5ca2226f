import { NothingChanged, type Writer } from '../../../../db/engine.ts'
import type { AgentCall } from '../../../core/agent-call.ts'
import { locking } from '../../../core/command-context.ts'
import { retryOnConflict } from '../../../core/conflict.ts'
import { AppError } from '../../../core/errors.ts'
import { inBatches } from '../../../lib/batches.ts'
import { newSecretId } from '../../../lib/ids.ts'
import { pick } from '../../../lib/objects.ts'
import { hmac } from '../../../lib/seal.ts'
import { notFoundAnswer, refusalOf } from '../../../lib/ucp/call.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { nextUpdatedAt } from '../../selling/cart/domain.ts'
import { type CartSnapshot, emptyCart, insertCart, isOutdated, lockCart, refreshPrices, saveCart } from '../../selling/cart/index.ts'
import { cancelUnpaidOrder, requestSagaContext } from '../../selling/order/index.ts'
import { answerOf, hasEnded, renderSession } from './answer.ts'
import { shownDigestOf } from './answer-view.ts'
import { type Contents, contentsIn, refusedLines, type SessionUpdate, updatedSession } from './contents.ts'
import { type AgentSession, type CheckoutInput, expiryOf, openPerAddressMax, openPerPlatformMax, type SessionKind } from './domain.ts'
import { type LoadedSession, loadSession, withCart } from './load.ts'
import type { AgentSessionDeps } from './providers.ts'
import type { SessionOwner } from './store.ts'

/** The actor in events of orders that a change cancels. */
const shopperActor = 'shopper'
const forgetBatchSize = 200
const retrySoonSeconds = 5
const retryLaterSeconds = 600

/**
 * Creates a checkout session from lines or from a cart of the platform. The same cart gives the same open session.
 * @returns the session; without a line that can be bought an answer without a resource
 * @throws UcpError `invalid_request`, `rate_limited`
 */
export async function createSession(deps: AgentSessionDeps, call: AgentCall, { body }: { body: CheckoutInput }): Promise<object> {
  const sent = contentsIn(call, body)
  if (body.cart_id === undefined || !call.platform.capabilities.has('cart')) return createRecord(deps, call, 'CHECKOUT', sent)
  const source = await loadSession(deps, call, body.cart_id)
  if (source?.session.kind !== 'CART') return notFoundAnswer(call.platform)
  const earlier = await deps.agentSessionStore.convertedFrom(source.session.id, deps.clock.now())
  for (const session of earlier) {
    const loaded = await withCart(deps, call.shop, session)
    if (!hasEnded(deps, loaded)) return answerOf(deps, call, loaded)
  }
  const { request } = source.session
  const contents: Contents = {
    lines: new Map(source.snapshot.items.map(({ line }) => [line.variantId, line.quantity])),
    sentIds: source.snapshot.items.map(({ line }) => line.variantId),
    // The cart's content wins.
    request: {
      ...sent.request,
      buyer: request.buyer ?? sent.request.buyer,
      codes: request.codes.length > 0 ? request.codes : sent.request.codes,
      attribution: request.attribution ?? sent.request.attribution,
    },
  }
  return createRecord(deps, call, 'CHECKOUT', contents, { source, earlierIds: earlier.map(({ id }) => id) })
}

/**
 * Creates a cart: contents and prices without a payment. A checkout session can be made from one.
 * @returns the cart; without a line that can be bought an answer without a resource
 * @throws UcpError `invalid_request`, `rate_limited`
 */
export const createAgentCart = async (deps: AgentSessionDeps, call: AgentCall, { body }: { body: CheckoutInput }): Promise<object> =>
  createRecord(deps, call, 'CART', contentsIn(call, body))

/** Creates a session or cart. @param conversion the cart that is converted, and its earlier sessions */
async function createRecord(
  deps: AgentSessionDeps,
  call: AgentCall,
  kind: SessionKind,
  contents: Contents,
  conversion?: { readonly source: LoadedSession; readonly earlierIds: readonly string[] },
): Promise<object> {
  const { shop, platform, attempt } = call
  const now = deps.clock.now()
  const before = await emptyCart(deps, shop.id)
  const isLimitedByAddress = kind === 'CHECKOUT' && !platform.isProven
  const session: AgentSession = {
    id: newSecretId(kind === 'CHECKOUT' ? 'checkoutSession' : 'agentCart', deps.randomBytes),
    shopId: shop.id,
    kind,
    cartId: before.cart.id,
    profile: platform.profile,
    isProven: platform.isProven,
    openedFrom: isLimitedByAddress ? hmac({ bytes: await deps.instanceKeys.of('CLIENT_ADDRESSES') }, call.address) : null,
    request: contents.request,
    shown: '',
    sourceId: conversion?.source.session.id ?? null,
    failures: 0,
    canceledAt: null,
    expiresAt: now,
    createdAt: now,
    updatedAt: now,
  }
  const updated = await updatedSession(deps, call, { session, before, contents })
  if (!updated.isAnyPossible) return refusalOf(platform.release, ...refusedLines(contents, updated))
  const { answer, stored } = await renderUpdate(deps, call, updated)
  const existing = await deps.db.write(async (tx) => {
    if (conversion) {
      // Conversions of one cart wait for each other here.
      await lockCart(tx, deps, conversion.source.cart.id)
      const sessions = await deps.agentSessionStore.convertedFrom(conversion.source.session.id, now, tx)
      const concurrent = sessions.find(({ id }) => !conversion.earlierIds.includes(id))
      if (concurrent) return concurrent
    }
    if (kind === 'CHECKOUT') await assertFewOpen(tx, deps, stored)
    await insertCart(tx, deps, updated.result.snapshot)
    await deps.agentSessionStore.insert(tx, stored)
    await attempt.storeAnswer(tx, answer)
    return undefined
  }, locking)
  return existing ? answerOf(deps, call, await withCart(deps, shop, existing)) : answer
}

/** Limits open sessions against floods. Two concurrent creates do not see each other and may exceed it by one. */
async function assertFewOpen(tx: Writer, { agentSessionStore, clock }: AgentSessionDeps, session: AgentSession): Promise<void> {
  const { openedFrom, shopId, profile } = session
  const owner: SessionOwner | undefined = openedFrom !== null ? { openedFrom } : profile !== null ? { shopId, profile } : undefined
  if (!owner) return
  const sessionsMax = openedFrom !== null ? openPerAddressMax : openPerPlatformMax
  const now = clock.now()
  const until = expiryOf({ kind: 'CHECKOUT', createdAt: now }, now)
  if ((await agentSessionStore.countOpen(tx, owner, { now, until }, sessionsMax)) >= sessionsMax)
    throw new UcpError('rate_limited', 'Too many open checkout sessions. Complete or cancel some first.', {
      retryAfterSeconds: retryLaterSeconds,
    })
}

/** Renders a session that is about to be stored, and records what the answer shows. */
async function renderUpdate(deps: AgentSessionDeps, call: AgentCall, { session, result, messages }: SessionUpdate) {
  const { snapshot, view } = result
  const loaded: LoadedSession = { session, cart: snapshot.cart, snapshot, view, order: undefined, payment: undefined }
  const answer = await renderSession(deps, call, loaded, messages)
  return { answer, stored: { ...session, shown: shownDigestOf(view) } }
}

/**
 * Reads a session or cart at current prices.
 * @returns an answer without a resource for an unknown one and for another platform's
 */
export const readSession =
  (kind: SessionKind) =>
  async (deps: AgentSessionDeps, call: AgentCall, { id }: { id: string }): Promise<object> => {
    const loaded = await loadCurrentSession(deps, call, id)
    return loaded?.session.kind === kind ? answerOf(deps, call, loaded) : notFoundAnswer(call.platform)
  }

/**
 * Loads a session as `loadSession` does, and stores current prices in its open cart, so that an answer shows them and
 * the checkout accepts them. `shownDigestOf` its view differs from `session.shown` if the platform saw other prices.
 */
export async function loadCurrentSession(deps: AgentSessionDeps, call: AgentCall, id: string): Promise<LoadedSession | undefined> {
  const loaded = await loadSession(deps, call, id)
  if (!loaded) return undefined
  const { cart, session, snapshot } = loaded
  if (cart.status !== 'OPEN' || session.canceledAt !== null || !isOutdated(snapshot, deps.clock.now())) return loaded
  await refreshPrices(deps, cart.id, undefined, false)
  return withCart(deps, call.shop, session)
}

/**
 * Replaces the contents of a session or cart. An unpaid checkout is cancelled first.
 * @returns the session or cart; an answer without a resource as `readSession`
 * @throws UcpError `invalid_request`, `rate_limited`; `session_closed` if it is finished; `unavailable` in a payment
 */
export const replaceSession =
  (kind: SessionKind) =>
  async (deps: AgentSessionDeps, call: AgentCall, { id, body }: { id: string; body: CheckoutInput }): Promise<object> => {
    const contents = contentsIn(call, body)
    return changeRecord(deps, call, kind, id, async ({ session, snapshot }) => {
      const updated = await updatedSession(deps, call, { session, before: snapshot, contents })
      const { answer, stored } = await renderUpdate(deps, call, updated)
      return { snapshot: updated.result.snapshot, fields: pick(stored, 'request', 'shown', 'expiresAt', 'updatedAt'), answer }
    })
  }

/** A change of a session: its cart, its fields and the answer. */
type SessionChange = { readonly snapshot: CartSnapshot; readonly fields: Partial<AgentSession>; readonly answer: object }

/**
 * Changes an open session or cart as `decide` says. An unpaid checkout is cancelled first.
 * @returns the answer; one without a resource for an unknown session or another platform's
 * @throws UcpError `session_closed` if it is finished; `unavailable` while a payment may succeed
 */
function changeRecord(
  deps: AgentSessionDeps,
  call: AgentCall,
  kind: SessionKind,
  id: string,
  decide: (open: LoadedSession) => Promise<SessionChange>,
): Promise<object> {
  const change = async (): Promise<object> => {
    const loaded = await loadSession(deps, call, id)
    if (loaded?.session.kind !== kind) return notFoundAnswer(call.platform)
    const open = await openSession(deps, call, loaded)
    const { snapshot, fields, answer } = await decide(open)
    return deps.db.write(async (tx) => {
      await saveCart(tx, deps, snapshot, open.snapshot)
      if (!(await deps.agentSessionStore.change(tx, open.session, fields))) throw new NothingChanged()
      await call.attempt.storeAnswer(tx, answer)
      return answer
    }, locking)
  }
  const conflictText = 'Other requests changed this checkout or cart at the same time. Send the request again.'
  return retryOnConflict(change, () => new UcpError('unavailable', conflictText, { retryAfterSeconds: retrySoonSeconds }))
}

/**
 * Cancels a session or cart; an unpaid checkout is cancelled first. It cannot be paid after that, not even on a page
 * that is already open.
 * @returns the session or cart, a last time; an answer without a resource for an unknown session or another platform's
 * @throws UcpError `session_closed` if it is finished; `unavailable` while a payment may succeed
 */
export const cancelSession =
  (kind: SessionKind) =>
  (deps: AgentSessionDeps, call: AgentCall, { id }: { id: string }): Promise<object> =>
    changeRecord(deps, call, kind, id, async (open) => {
      const { session, snapshot } = open
      const now = deps.clock.now()
      // An expired cart is neither changed nor bought. The job that expires carts removes its personal data.
      const cart = { ...snapshot.cart, expiresAt: now, updatedAt: nextUpdatedAt(snapshot.cart, now) }
      // A canceled cart cannot be read again.
      const expiresAt = kind === 'CART' ? now : session.expiresAt
      const fields = { canceledAt: now, expiresAt, updatedAt: nextUpdatedAt(session, now) }
      const shown = kind === 'CART' ? open : { ...open, session: { ...session, canceledAt: now } }
      return { snapshot: { ...snapshot, cart }, fields, answer: await renderSession(deps, call, shown) }
    })

/**
 * Returns a session whose cart is open. An unpaid checkout is cancelled.
 * @throws UcpError `session_closed` for a finished one; `unavailable` while a payment may succeed
 */
export async function openSession(deps: AgentSessionDeps, call: AgentCall, loaded: LoadedSession): Promise<LoadedSession> {
  assertUnfinished(deps, loaded)
  if (!loaded.order) return loaded
  // The order may be newer than the answer of a concurrent request with the key.
  await call.attempt.assertUnused()
  try {
    await cancelUnpaidOrder(deps, loaded.order.id, requestSagaContext(deps, deps.newId('attempt')), shopperActor)
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'CONFLICT') throw error
  }
  const reopened = await withCart(deps, call.shop, loaded.session)
  assertUnfinished(deps, reopened)
  if (reopened.cart.status !== 'OPEN')
    throw new UcpError('unavailable', 'A payment of this checkout is in progress.', { retryAfterSeconds: retrySoonSeconds })
  return reopened
}

/** Refuses a finished session. @throws UcpError `session_closed` */
export function assertUnfinished(deps: AgentSessionDeps, loaded: LoadedSession): void {
  if (hasEnded(deps, loaded)) throw new UcpError('session_closed', 'This checkout is completed or canceled.')
}

/** Removes what platforms sent from sessions that have ended, in small writes. Orders hold what is still needed. */
export async function forgetSessions({ db, clock, agentSessionStore }: Pick<AgentSessionDeps, 'db' | 'clock' | 'agentSessionStore'>) {
  const now = clock.now()
  const reader = db.backgroundReader()
  try {
    await inBatches(forgetBatchSize, async () => {
      const ids = await agentSessionStore.ended(reader, now, forgetBatchSize)
      if (ids.length > 0) await db.write((tx) => agentSessionStore.forget(tx, ids))
      return ids.length
    })
  } finally {
    reader.close()
  }
}
