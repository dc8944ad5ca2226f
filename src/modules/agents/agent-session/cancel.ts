/** Cancels sessions and carts of platforms. */
import type { AgentCall } from '../../../core/agent-call.ts'
import { nextUpdatedAt } from '../../selling/cart/domain.ts'
import { renderSession } from './answer.ts'
import type { SessionKind } from './domain.ts'
import type { AgentSessionDeps } from './providers.ts'
import { changeRecord } from './service.ts'

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
