/** Carts of platforms: contents and prices without a payment. A checkout session can be made from one. */
import type { AgentCall } from '../../../core/agent-call.ts'
import { locking } from '../../../core/command-context.ts'
import { saveCart } from '../../selling/cart/index.ts'
import { notFoundOf, renderSession } from './answer.ts'
import { contentsIn } from './contents.ts'
import type { CheckoutInput } from './domain.ts'
import { loadSession } from './load.ts'
import type { AgentSessionDeps } from './providers.ts'
import { createRecord, readRecord, replaceRecord } from './service.ts'

/**
 * Creates a cart.
 * @returns the cart; without a line that can be bought an answer without a resource
 * @throws UcpError `invalid_request`, `rate_limited`
 */
export const createAgentCart = async (deps: AgentSessionDeps, call: AgentCall, { body }: { body: CheckoutInput }): Promise<object> =>
  createRecord(deps, call, 'CART', contentsIn(call, body))

/** Reads a cart at current prices. @returns an answer without a resource for an unknown cart or another platform's */
export const readAgentCart = (deps: AgentSessionDeps, call: AgentCall, { id }: { id: string }): Promise<object> =>
  readRecord(deps, call, 'CART', id)

/** Replaces the contents of a cart. @throws UcpError `invalid_request`, `rate_limited` */
export const replaceAgentCart = (
  deps: AgentSessionDeps,
  call: AgentCall,
  { id, body }: { id: string; body: CheckoutInput },
): Promise<object> => replaceRecord(deps, call, 'CART', { id, body })

/** Cancels a cart, and returns it a last time. @returns an answer without a resource as `readAgentCart` */
export async function cancelAgentCart(deps: AgentSessionDeps, call: AgentCall, { id }: { id: string }): Promise<object> {
  const loaded = await loadSession(deps, call, id)
  if (loaded?.session.kind !== 'CART') return notFoundOf(call)
  const { session, snapshot } = loaded
  const now = deps.clock.now()
  const answer = await renderSession(deps, call, loaded)
  await deps.db.write(async (tx) => {
    // The job that expires carts removes its personal data.
    await saveCart(tx, deps, { ...snapshot, cart: { ...snapshot.cart, expiresAt: now } }, snapshot)
    await deps.agentSessionStore.change(tx, session, { canceledAt: now, expiresAt: now })
    await call.attempt.storeAnswer(tx, answer)
  }, locking)
  return answer
}
