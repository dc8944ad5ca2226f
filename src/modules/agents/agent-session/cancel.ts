/** Cancels sessions and carts of platforms. */
import { NothingChanged } from '../../../../db/engine.ts'
import type { AgentCall } from '../../../core/agent-call.ts'
import { locking } from '../../../core/command-context.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { nextUpdatedAt } from '../../selling/cart/domain.ts'
import { saveCart } from '../../selling/cart/index.ts'
import { notFoundOf, renderSession } from './answer.ts'
import type { SessionKind } from './domain.ts'
import { loadSession } from './load.ts'
import type { AgentSessionDeps } from './providers.ts'
import { openSession, retrySoonSeconds, triesMax } from './service.ts'

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

async function cancelRecord(deps: AgentSessionDeps, call: AgentCall, kind: SessionKind, id: string): Promise<object> {
  for (let tries = 0; tries < triesMax; tries++) {
    const found = await loadSession(deps, call, id)
    if (found?.session.kind !== kind) return notFoundOf(call)
    const open = await openSession(deps, call, found)
    const { session, snapshot } = open
    const now = deps.clock.now()
    const updatedAt = Math.max(now, session.updatedAt + 1)
    // The answer for a cart has no status. An expired cart cannot be read again.
    const ended = kind === 'CART' ? { expiresAt: now } : {}
    const answer = await renderSession(deps, call, kind === 'CART' ? open : { ...open, session: { ...session, canceledAt: now } })
    try {
      return await deps.db.write(async (tx) => {
        // An expired cart is neither changed nor bought. The job that expires carts removes its personal data.
        const cart = { ...snapshot.cart, expiresAt: now, updatedAt: nextUpdatedAt(snapshot.cart, now) }
        await saveCart(tx, deps, { ...snapshot, cart }, snapshot)
        if (!(await deps.agentSessionStore.change(tx, session, { canceledAt: now, updatedAt, ...ended }))) throw new NothingChanged()
        await call.attempt.storeAnswer(tx, answer)
        return answer
      }, locking)
    } catch (error) {
      // Another change or a checkout was first: try again.
      if (!(error instanceof NothingChanged)) throw error
    }
  }
  throw new UcpError('unavailable', 'Other requests changed this checkout or cart at the same time. Send the request again.', {
    retryAfterSeconds: retrySoonSeconds,
  })
}
