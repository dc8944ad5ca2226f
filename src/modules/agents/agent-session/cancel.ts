/** Cancels sessions and carts of platforms. */
import type { AgentCall } from '../../../core/agent-call.ts'
import { nextUpdatedAt } from '../../selling/cart/domain.ts'
import { renderSession } from './answer.ts'
import type { SessionKind } from './domain.ts'
import type { AgentSessionDeps } from './providers.ts'
import { changeRecord } from './service.ts'

/**
 * Cancels a session; an unpaid checkout is cancelled first. Its cart cannot be paid after that, not even on a page that
 * is already open.
 * @returns the session; an answer without a resource for an unknown session or another platform's
 * @throws UcpError `session_closed` if it is finished; `unavailable` while a payment may succeed
 */
export const cancelSession = (deps: AgentSessionDeps, call: AgentCall, { id }: { id: string }): Promise<object> =>
  cancelRecord(deps, call, 'CHECKOUT', id)

/** Cancels a cart, and returns it a last time. @returns an answer without a resource as `cancelSession` */
export const cancelAgentCart = (deps: AgentSessionDeps, call: AgentCall, { id }: { id: string }): Promise<object> =>
  cancelRecord(deps, call, 'CART', id)

const cancelRecord = (deps: AgentSessionDeps, call: AgentCall, kind: SessionKind, id: string): Promise<object> =>
  changeRecord(deps, call, kind, id, async (open) => {
    const { session, snapshot } = open
    const now = deps.clock.now()
    // An expired cart is neither changed nor bought. The job that expires carts removes its personal data.
    const cart = { ...snapshot.cart, expiresAt: now, updatedAt: nextUpdatedAt(snapshot.cart, now) }
    const fields = { canceledAt: now, updatedAt: nextUpdatedAt(session, now) }
    const change = { snapshot: { ...snapshot, cart } }
    // The answer for a cart has no status. An expired cart cannot be read again.
    if (kind === 'CART') return { ...change, fields: { ...fields, expiresAt: now }, answer: await renderSession(deps, call, open) }
    return { ...change, fields, answer: await renderSession(deps, call, { ...open, session: { ...session, canceledAt: now } }) }
  })
