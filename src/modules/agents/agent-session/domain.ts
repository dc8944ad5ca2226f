/** Checkout sessions and carts of platforms. Pure functions. */
import type { AgentDestination, AgentRequest, agentSessions } from '../../../../db/schema/agents.ts'
import type { Address } from '../../../../db/schema/selling.ts'
import { alpha3Of, countryCodes } from '../../../lib/country-code.ts'
import { plainText } from '../../../lib/plain-text.ts'
import { type UcpMessage, ucpMessage } from '../../../lib/ucp/messages.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import { isOpenPayment, type Payment } from '../../payments/payment/domain.ts'
import { type Cart, cartLifeMs } from '../../selling/cart/domain.ts'
import { endedWithoutSale, type Order } from '../../selling/order/domain.ts'

export type AgentSession = typeof agentSessions.$inferSelect
export type SessionKind = AgentSession['kind']

/** Maximum number of lines in a request. */
export const sentLinesMax = 100
export const codesMax = 5
export const destinationsMax = 20
const hourMs = 60 * 60_000
const sessionIdleMs = 6 * hourMs
/** Sessions end before their idempotency keys are forgotten. */
const sessionLifeMs = 20 * hourMs
/** Maximum characters of a title in answers. */
export const titleMax = 300
export const openPerAddressMax = 50
export const openPerPlatformMax = 1_000

/** Returns when a session or cart ends after a change. */
export const expiryOf = ({ kind, createdAt }: Pick<AgentSession, 'kind' | 'createdAt'>, now: number): number =>
  kind === 'CART' ? now + cartLifeMs : Math.min(now + sessionIdleMs, createdAt + sessionLifeMs)

/** Returns the kind of record that an id names by its prefix; undefined for other text. */
export const kindOfId = (id: string): SessionKind | undefined => {
  const [, prefix] = /^(chk|ucart)_[0-9a-z]{26}$/.exec(id) ?? []
  return prefix === undefined ? undefined : prefix === 'chk' ? 'CHECKOUT' : 'CART'
}

export type SessionStatus = 'incomplete' | 'ready_for_complete' | 'requires_escalation' | 'complete_in_progress' | 'completed' | 'canceled'
/** What the status of a session depends on. `order`: the last one of its cart, if that is converted. */
type SessionState = {
  readonly session: Pick<AgentSession, 'canceledAt' | 'expiresAt'>
  readonly cart: Pick<Cart, 'status'>
  readonly order: Pick<Order, 'status' | 'confirmedAt' | 'capturedTotal'> | undefined
  /** The latest payment of the order. */
  readonly payment: Pick<Payment, 'status'> | undefined
}

/** Returns whether an order was paid, so that its platform sees it. */
export const isPlaced = (order: Pick<Order, 'status' | 'confirmedAt'>): boolean =>
  order.confirmedAt !== null || (order.status !== 'PENDING_PAYMENT' && !endedWithoutSale(order))

/** Returns whether an order ended, or is about to end, without a payment. Its cart must be reopened to be bought. */
export const hasEndedUnpaid = ({ status, expiresAt }: Pick<Order, 'status' | 'expiresAt'>, now: number): boolean =>
  status === 'CANCELLED' || status === 'EXPIRED' || (status === 'PENDING_PAYMENT' && expiresAt <= now)

/**
 * Returns the status of a session.
 * @param hasErrors whether its answer has an error that the platform can solve
 * @param hasHandler whether the platform can pay itself
 * @param hasActionUrl whether the platform can open the page of the payment's processor
 */
export function statusOf(
  { session, cart, order, payment }: SessionState,
  { hasErrors, hasHandler, hasActionUrl }: { hasErrors: boolean; hasHandler: boolean; hasActionUrl: boolean },
  now: number,
): SessionStatus {
  if (order) {
    if (isPlaced(order)) return 'completed'
    if (order.status === 'COMPENSATING') return 'complete_in_progress'
    if (payment?.status === 'REQUIRES_ACTION' && hasActionUrl) return 'requires_escalation'
    if (order.status === 'PENDING_PAYMENT' && payment && (isOpenPayment(payment) || payment.status === 'CAPTURED'))
      return 'complete_in_progress'
    // It was paid, but could not be confirmed: the money goes back.
    if (order.status !== 'PENDING_PAYMENT' && order.capturedTotal > 0) return 'canceled'
  }
  if (session.canceledAt !== null || session.expiresAt <= now || cart.status === 'EXPIRED') return 'canceled'
  if (hasErrors) return 'incomplete'
  return hasHandler ? 'ready_for_complete' : 'requires_escalation'
}

/** Returns whether a session is over: nothing changes it any more. */
export const isFinished = (status: SessionStatus): boolean => status === 'completed' || status === 'canceled'

/** Returns the title of a line as plain text, with that of its variant. */
export function lineTitleOf(title: string, variantTitle: string): string {
  const variant = visibleVariantTitle(variantTitle)
  return plainText(variant === '' ? title : `${title} (${variant})`, titleMax)
}

type SentLine = { readonly item: { readonly id: string }; readonly quantity: number }

/** Returns quantities by variant. Lines of one variant add up. */
export function quantitiesOf(lines: readonly SentLine[]): Map<string, number> {
  const quantities = new Map<string, number>()
  for (const { item, quantity } of lines)
    quantities.set(item.id, Math.min((quantities.get(item.id) ?? 0) + quantity, Number.MAX_SAFE_INTEGER))
  return quantities
}

/** The request that a session stores after its personal data was removed. */
export const emptyRequest: AgentRequest = { buyer: null, codes: [], attribution: null }

/** The body of a create or replace, without unknown fields and those of answers. */
export type CheckoutInput = {
  readonly line_items?: readonly SentLine[]
  /** Cart to convert; only of a create. */
  readonly cart_id?: string
  readonly buyer?: NonNullable<AgentRequest['buyer']>
  readonly discounts?: { readonly codes?: readonly string[] }
  readonly attribution?: Readonly<Record<string, string>>
  readonly fulfillment?: { readonly methods?: readonly SentMethod[] }
}
type SentMethod = {
  readonly type?: string
  readonly destinations?: readonly Partial<AgentDestination>[]
  readonly selected_destination_id?: string | null
  readonly groups?: readonly { readonly selected_option_id?: string | null | undefined }[]
}
type SentInstrument = { readonly handler_id: string; readonly selected?: boolean; readonly credential?: { readonly token?: string } }
/** The body of a completion. */
export type CompleteInput = { readonly payment: { readonly instruments?: readonly SentInstrument[] } }
/** Maximum number of failed payments of a session. */
export const failuresMax = 10

const agentAttempts = 'agent/'
/** Returns the key of a platform's attempt to pay. Its prefix marks the payments of platforms. */
export const agentAttemptKey = (key: string): string => `${agentAttempts}${key}`
/** Returns whether a platform started a payment, and not a person on a page. */
export const isAgentPayment = ({ attemptKey }: Pick<Payment, 'attemptKey'>): boolean => attemptKey.startsWith(agentAttempts)

/** Which extensions the platform uses. */
type ActiveExtensions = { readonly fulfillment: boolean; readonly discount: boolean }

/** Fields of a buyer, with their maximum lengths in characters. */
export const buyerFields = { first_name: 99, last_name: 99, email: 254, phone_number: 40 } as const
/** Fields of a destination besides its id, with their maximum lengths in characters. */
export const addressFields = {
  ...{ first_name: 99, last_name: 99, street_address: 200, extended_address: 200, address_locality: 100 },
  ...{ address_region: 100, address_country: 100, postal_code: 20, phone_number: 40 },
} as const
/** Longer than any field of a request. */
const textMax = 500

/** Returns the fields that have visible text, as plain text. */
function plainFields<Name extends string>(
  sent: { readonly [Field in NoInfer<Name>]?: string | undefined },
  lengths: Readonly<Record<Name, number>>,
): { [Field in Name]?: string } {
  const fields: { [Field in Name]?: string } = {}
  for (const name of Object.keys(lengths) as Name[]) {
    const text = plainText(sent[name] ?? '', textMax)
    if (text !== '') fields[name] = text
  }
  return fields
}

/** Returns the parts of a request that a session stores. Fields of inactive extensions are ignored. */
export function requestOf({ buyer, discounts, attribution, fulfillment }: CheckoutInput, active: ActiveExtensions): AgentRequest {
  const sentBuyer = buyer ? plainFields(buyer, buyerFields) : {}
  const codes = active.discount ? (discounts?.codes ?? []).map((code) => plainText(code, textMax)).filter((code) => code !== '') : []
  return {
    buyer: Object.keys(sentBuyer).length > 0 ? sentBuyer : null,
    codes: [...new Set(codes)],
    attribution: attribution
      ? Object.fromEntries(Object.entries(attribution).map(([name, value]) => [plainText(name, textMax), plainText(value, textMax)]))
      : null,
    ...(active.fulfillment ? fulfillmentOf(fulfillment) : {}),
  }
}

type SentFulfillment = Pick<AgentRequest, 'destinations' | 'selectedDestination' | 'selectedOption'>

function fulfillmentOf(fulfillment: CheckoutInput['fulfillment']): SentFulfillment {
  const [method] = fulfillment?.methods ?? []
  if (!method || (method.type !== undefined && method.type !== 'shipping')) return {}
  const destinations: AgentDestination[] = []
  for (const sent of method.destinations ?? []) {
    const id = plainText(sent.id ?? '', textMax) || `dest_${destinations.length + 1}`
    if (!destinations.some((one) => one.id === id)) destinations.push({ id, ...plainFields(sent, addressFields) })
  }
  const { selected_destination_id: selected } = method
  return {
    destinations,
    // The only destination needs no choice.
    selectedDestination:
      selected === undefined && destinations.length === 1 ? (destinations[0]?.id ?? null) : plainText(selected ?? '', textMax) || null,
    selectedOption: method.groups?.[0]?.selected_option_id ?? null,
  }
}

/** Returns the destination that the platform selected; undefined without a selection. */
export const selectedDestinationOf = ({ destinations, selectedDestination }: AgentRequest): AgentDestination | undefined =>
  destinations?.find(({ id }) => id === selectedDestination)

const nameOf = (person: { first_name?: string; last_name?: string } | null | undefined): string =>
  [person?.first_name, person?.last_name].filter((name) => name !== undefined).join(' ')

const countryOf = ({ address_country }: AgentDestination): string | undefined => {
  const code = address_country?.toUpperCase()
  return countryCodes.find((one) => one === code || alpha3Of(one) === code)
}

/**
 * Returns the selected destination as a cart stores it; null without a valid country. The country and province are
 * enough for prices: other fields may be empty.
 */
export function shippingAddressOf(request: AgentRequest): Address | null {
  const destination = selectedDestinationOf(request)
  const countryCode = destination && countryOf(destination)
  if (!destination || countryCode === undefined) return null
  return {
    name: nameOf(destination) || nameOf(request.buyer),
    company: null,
    line1: destination.street_address ?? '',
    line2: destination.extended_address ?? null,
    city: destination.address_locality ?? '',
    province: destination.address_region ?? null,
    postalCode: destination.postal_code ?? null,
    countryCode,
    phone: destination.phone_number ?? request.buyer?.phone_number ?? null,
  }
}

const methodPath = '$.fulfillment.methods[0]'

/** What the messages about the delivery depend on. */
type DeliveryState = {
  readonly address: Address | null
  readonly shippingMethod: string | null
  /** Whether any of the shop's methods is offered for the cart and its address. */
  readonly isDeliverable: boolean
  /** Whether the shop requires a province of its list, and the address has another one. */
  readonly isProvinceUnknown: boolean
  /** Whether the shop has shipping methods. */
  readonly hasMethods: boolean
}

/** Lists what the delivery of a session lacks. */
export function deliveryProblems(request: AgentRequest, { address, hasMethods, ...state }: DeliveryState): UcpMessage[] {
  const at = request.destinations?.findIndex(({ id }) => id === request.selectedDestination) ?? -1
  const path = (field: string) => (at < 0 ? undefined : `${methodPath}.destinations[${at}]${field}`)
  if (!address) {
    const sent = request.destinations?.[at]
    if (!hasMethods && !sent) return []
    if (!sent) {
      const isChoice = (request.destinations?.length ?? 0) > 0
      return [ucpMessage('missing', `${methodPath}.${isChoice ? 'selected_destination_id' : 'destinations'}`)]
    }
    return [ucpMessage(sent.address_country === undefined ? 'missing' : 'address_undeliverable', path('.address_country'))]
  }
  const problems = [
    ...(address.name === '' ? ['.first_name'] : []),
    ...(address.line1 === '' ? ['.street_address'] : []),
    ...(address.city === '' ? ['.address_locality'] : []),
  ].map((field) => ucpMessage('missing', path(field)))
  if (state.isProvinceUnknown) problems.push(ucpMessage('address_undeliverable', path('.address_region')))
  else if (hasMethods && !state.isDeliverable) problems.push(ucpMessage('address_undeliverable', path('')))
  else if (hasMethods && state.shippingMethod === null) problems.push(ucpMessage('missing', `${methodPath}.groups[0].selected_option_id`))
  return problems
}
