import type { erasures } from '../../../../db/schema/erasures.ts'
import type { Address } from '../../../../db/schema/selling.ts'
import { formerValueFields } from '../../selling/order/domain.ts'
import { noProvinces, type Provinces, provinceCodes } from '../../shop/countries/domain.ts'

export type Erasure = typeof erasures.$inferSelect

/** An erasure in the list outside the database: ids and a time. */
export type ListedErasure = Pick<Erasure, 'customerId' | 'shopId' | 'at' | 'orderIds'>

/** A domain that never resolves (RFC 2606), so nothing can be sent to it. */
const erasedDomain = '@erased.invalid'

/** Returns the placeholder for an erased e-mail address, unique in its shop. */
export const erasedEmail = (customerId: string): string => `${customerId}${erasedDomain}`
/** Returns whether an address is a placeholder of `erasedEmail`. */
export const isErasedEmail = (email: string): boolean => email.endsWith(erasedDomain)

/**
 * Keeps what tax depends on: the country, and the province as ISO code if it is known. Typed text could be anything.
 */
export function eraseAddress({ countryCode, province }: Address, provinces: Provinces = noProvinces): Address {
  const code = provinces.has(countryCode) && province !== null ? provinceCodes(provinces, countryCode, province)[0] : undefined
  return { name: '', company: null, line1: '', line2: null, city: '', province: code ?? null, postalCode: null, countryCode, phone: null }
}

/** Fields of order events with typed text or with data that leads to an address. */
const personalEventFields: ReadonlySet<string> = new Set(['reason', 'trackingNumber', 'settledReference', ...formerValueFields])

/** Returns the detail of an event without personal fields; undefined if it has none. */
export function eraseDetail<Detail extends Readonly<Record<string, string | number>>>(detail: Detail): Detail | undefined {
  const remaining = Object.fromEntries(Object.entries(detail).filter(([name]) => !personalEventFields.has(name)))
  return Object.keys(remaining).length === Object.keys(detail).length ? undefined : (remaining as Detail)
}

/** Fields of webhook messages, at any depth, with personal data or typed text. */
const personalMessageFields: ReadonlySet<string> = new Set(['email', 'reason', 'trackingNumber', 'claimUrl'])

/** Returns a webhook message whose personal fields are null. */
export const eraseMessage = (body: string): string =>
  JSON.stringify(JSON.parse(body, (name, value) => (personalMessageFields.has(name) && typeof value === 'string' ? null : value)))

/** An order, payment, refund or dispute that blocks an erasure. */
export type BlockingRecord = { readonly what: string; readonly status: string }

const listedMax = 10

/** Describes what blocks an erasure. */
export const blockingText = (open: readonly BlockingRecord[]): string => {
  const blocking = open.slice(0, listedMax).map(({ what, status }) => `${what} (${status})`)
  const more = open.length > listedMax ? ` and ${open.length - listedMax} more` : ''
  return `The customer cannot be erased while an order, payment, refund or dispute of theirs is open: ${blocking.join(', ')}${more}`
}

/** Encodes a line of the list. */
export const encodeErasure = ({ customerId, shopId, at, orderIds }: ListedErasure): string =>
  `${JSON.stringify({ customerId, shopId, at: new Date(at).toISOString(), orderIds })}\n`

/** Decodes a line of the list; undefined if invalid. */
export function decodeErasure(line: string): ListedErasure | undefined {
  try {
    const { customerId, shopId, at, orderIds } = JSON.parse(line) as Record<string, unknown>
    const isComplete = typeof customerId === 'string' && typeof shopId === 'string' && typeof at === 'string' && Array.isArray(orderIds)
    const ms = isComplete ? Date.parse(at) : Number.NaN
    if (!isComplete || Number.isNaN(ms) || !orderIds.every((id) => typeof id === 'string')) return undefined
    return { customerId, shopId, at: ms, orderIds }
  } catch {
    return undefined
  }
}

/** Folder of the list in backup storage: one file per erasure, so that none overwrites another. */
export const listedFolder = 'erased/'
/** Returns the name of a customer's file in the list. */
export const listedName = (customerId: string): string => `${listedFolder}${customerId}.json`
/** Time until an erasure is swept again: requests in progress have ended by then. */
export const sweepAgainAfterMs = 2 * 60_000
