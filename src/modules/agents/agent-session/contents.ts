/** Turns what a platform sends into the contents of its cart. */
import type { AgentRequest } from '../../../../db/schema/agents.ts'
import type { AgentCall } from '../../../core/agent-call.ts'
import { AppError } from '../../../core/errors.ts'
import { holdsCardNumberWithin } from '../../../lib/card-numbers.ts'
import { isMailAddress, storedMailAddress } from '../../../lib/mail-address.ts'
import { pick } from '../../../lib/objects.ts'
import { UcpError } from '../../../lib/ucp/errors.ts'
import { type UcpMessage, ucpMessage } from '../../../lib/ucp/messages.ts'
import { type AgentCartResult, type CartSnapshot, updatedAgentCart } from '../../selling/cart/index.ts'
import { type AgentSession, type CheckoutInput, expiryOf, quantitiesOf, requestOf, shippingAddressOf } from './domain.ts'
import type { AgentSessionDeps } from './providers.ts'

/** The contents of a request. */
export type Contents = { readonly lines: ReadonlyMap<string, number>; readonly sentIds: readonly string[]; readonly request: AgentRequest }

/** Parses a request. @throws UcpError `invalid_request` for an invalid e-mail address; `raw_card_refused` */
export function contentsIn({ platform }: AgentCall, body: CheckoutInput): Contents {
  // Every field is stored or shown, so none may contain a card number.
  assertNoCardNumber(body)
  const { capabilities } = platform
  const active = { fulfillment: capabilities.has('fulfillment'), discount: capabilities.has('discount') }
  const request = requestOf(body, active)
  const email = request.buyer?.email
  if (email !== undefined && !isMailAddress(email)) throw new UcpError('invalid_request', 'buyer.email: must be an e-mail address')
  const lines = body.line_items ?? []
  return { lines: quantitiesOf(lines), sentIds: lines.map(({ item }) => item.id), request }
}

/** Refuses a JSON value that contains a card number. @throws UcpError `raw_card_refused` */
export function assertNoCardNumber(body: object): void {
  if (holdsCardNumberWithin(body))
    throw new UcpError('raw_card_refused', 'The request contains a card number. Send the token of a payment handler.')
}

/** A session and its cart after a request. */
export type SessionUpdate = {
  readonly session: AgentSession
  readonly result: AgentCartResult
  /** Warnings about reduced quantities. Only the answer to this request has them. */
  readonly messages: readonly UcpMessage[]
  /** Whether any line can be bought. */
  readonly isAnyPossible: boolean
}

/**
 * Returns a session and its cart with new contents.
 * @param before as it was read; an empty cart for a new one
 * @throws UcpError `rate_limited` after too many unknown discount codes; `invalid_request` for more than an order holds
 */
export async function updatedSession(
  deps: AgentSessionDeps,
  call: AgentCall,
  { session, before, contents }: { session: AgentSession; before: CartSnapshot; contents: Contents },
): Promise<SessionUpdate> {
  const now = deps.clock.now()
  const { lines, request, sentIds } = contents
  const expiresAt = expiryOf(session, now)
  const email = request.buyer?.email
  const tried = new Set(session.shown === '' ? [] : session.request.codes)
  const result = await updatedAgentCart(deps, before, {
    lines,
    email: email === undefined ? null : storedMailAddress(email),
    shippingAddress: shippingAddressOf(request),
    shippingMethod: request.selectedOption ?? null,
    agent: { profile: session.profile, attribution: request.attribution, session: pick(session, 'id', 'isProven') },
    expiresAt,
    codes: request.codes.map((code) => ({ code, isTried: tried.has(code) })),
    address: call.address,
  }).catch(asUcpError)
  const unavailable = sentIds.flatMap((id, at) => (result.unavailable.includes(id) && sentIds.indexOf(id) === at ? [at] : []))
  const { items } = result.snapshot
  return {
    session: {
      ...session,
      request: { ...request, ...(unavailable.length > 0 ? { unavailable } : {}) },
      expiresAt,
      updatedAt: Math.max(now, session.updatedAt + 1),
    },
    result,
    messages: items.flatMap(({ line: { variantId } }, at) =>
      result.lowered.includes(variantId) ? [ucpMessage('quantity_adjusted', `$.line_items[${at}].quantity`)] : [],
    ),
    isAnyPossible: items.length > result.soldOut.length,
  }
}

function asUcpError(error: unknown): never {
  if (error instanceof AppError && error.kind === 'RATE_LIMITED')
    throw new UcpError('rate_limited', 'Too many unknown discount codes. Try again later.', { retryAfterSeconds: error.retryAfterSeconds })
  if (error instanceof AppError && error.kind === 'CONFLICT')
    throw new UcpError('invalid_request', 'line_items: the total would exceed the largest total of an order')
  throw error
}

/** Returns the messages of a request none of whose lines can be bought. Paths are those of the request. */
export function refusedLines({ sentIds }: Contents, { result }: SessionUpdate): UcpMessage[] {
  if (sentIds.length === 0) return [ucpMessage('missing', '$.line_items')]
  return [...new Set(sentIds)].map((id) =>
    ucpMessage(result.unavailable.includes(id) ? 'item_unavailable' : 'out_of_stock', `$.line_items[${sentIds.indexOf(id)}]`),
  )
}
