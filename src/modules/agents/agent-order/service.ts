/** Orders that platforms placed. */
import type { AgentOrigin } from '../../../../db/schema/selling.ts'
import type { AgentCall } from '../../../core/agent-call.ts'
import { notFoundAnswer, type UcpRefusal } from '../../../lib/ucp/call.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { readFullOrder } from '../../selling/order/index.ts'
import { emptyRequest, isPlaced } from '../agent-session/domain.ts'
import { type AgentSessionDeps, findSessionOfCart } from '../agent-session/index.ts'
import { type AgentOrderFacts, type OrderAnswer, orderAnswer } from './order-answer.ts'

/**
 * Returns an order that the platform placed.
 * @throws UcpError `signature_missing` for a platform that is not proven, in every mode of access
 */
export async function readAgentOrder(
  deps: AgentSessionDeps,
  { shop, platform }: AgentCall,
  { id = '' }: { readonly id?: string },
): Promise<OrderAnswer | UcpRefusal> {
  if (!platform.isProven) throw new UcpError('signature_missing', 'Sign the request with a key of your profile (RFC 9421).')
  const found = await findAgentOrder(deps, id)
  const isOwn = found?.full.order.shopId === shop.id && found.session.profile === platform.profile && found.session.isProven
  return found && isOwn ? orderAnswer(found, platform) : notFoundAnswer(platform)
}

/** Finds a paid order that was placed from an agent's session; undefined for others. */
export async function findAgentOrder(deps: AgentSessionDeps, orderId: string): Promise<AgentOrderFacts | undefined> {
  const full = await readFullOrder(deps, orderId)
  const agent = full?.order.agent
  if (!agent || !isPlaced(full.order)) return undefined
  const session = (await findSessionOfCart(deps, full.order.cartId)) ?? removedSessionOf(agent)
  return session && { full, session, permalinkUrl: (await deps.orderLinks.ready()).urlOf(orderId) }
}

/** Returns the session as the order stores it, for a session that was removed with its cart. */
const removedSessionOf = ({ profile, session }: AgentOrigin) => session && { ...session, profile, request: emptyRequest }
