/** Carts of platforms: contents and prices without a payment. A checkout session can be made from one. */
import type { AgentCall } from '../../../core/agent-call.ts'
import { contentsIn } from './contents.ts'
import type { CheckoutInput } from './domain.ts'
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
