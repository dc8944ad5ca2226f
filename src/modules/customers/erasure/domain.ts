import type { erasures } from '../../../../db/schema/erasures.ts'
import type { Address } from '../../../../db/schema/selling.ts'
import { noProvinces, type Provinces, provinceCodes } from '../../shop/countries/domain.ts'

export type Erasure = typeof erasures.$inferSelect

/** What the list beside the database says of an erasure: ids and a time. */
export type Listed = Pick<Erasure, 'customerId' | 'shopId' | 'at' | 'orderIds'>

/** A name that never resolves (RFC 2606): nothing is sent there, and nobody signs up with it. */
const nowhere = '@erased.invalid'

/** What stands in place of an e-mail address, where there must be one: unique in its shop, and of nobody. */
export const erasedEmail = (customerId: string): string => `${customerId}${nowhere}`
export const isErasedEmail = (email: string): boolean => email.endsWith(nowhere)

/**
 * What is kept of an address: what the tax went by. The country, and the province by its ISO code where the text names one of that country: as it
 * was typed it could be anything.
 */
export function erasedAddress({ countryCode, province }: Address, provinces: Provinces = noProvinces): Address {
  const code = provinces.has(countryCode) && province !== null ? provinceCodes(provinces, countryCode, province)[0] : undefined
  return { name: '', company: null, line1: '', line2: null, city: '', province: code ?? null, postalCode: null, countryCode, phone: null }
}

/** What an event of an order tells besides ids, amounts and codes: what somebody wrote, and what leads to the parcel's address. */
const writtenOfEvents: ReadonlySet<string> = new Set(['reason', 'trackingNumber', 'settledReference'])

/** What is kept of the detail of an event; undefined where all of it is. */
export function erasedDetail<Detail extends Readonly<Record<string, string | number>>>(detail: Detail): Detail | undefined {
  const kept = Object.fromEntries(Object.entries(detail).filter(([name]) => !writtenOfEvents.has(name)))
  return Object.keys(kept).length === Object.keys(detail).length ? undefined : (kept as Detail)
}

/** In messages to a shop's webhook endpoints, at any depth: what is of the person, what somebody wrote, what leads to the person. */
const personalOfMessages: ReadonlySet<string> = new Set(['email', 'reason', 'trackingNumber', 'claimUrl'])

/** The body of a message that was written for a shop's webhook endpoints, without what is of a person. */
export const erasedMessage = (body: string): string =>
  JSON.stringify(JSON.parse(body, (name, value) => (personalOfMessages.has(name) && typeof value === 'string' ? null : value)))

/** As an order or what hangs on it keeps an erasure waiting. */
export type StillOpen = { readonly what: string; readonly status: string }

const toldMax = 10

/** Says what keeps an erasure waiting. */
export const openText = (open: readonly StillOpen[]): string => {
  const told = open.slice(0, toldMax).map(({ what, status }) => `${what} (${status})`)
  const more = open.length > toldMax ? ` and ${open.length - toldMax} more` : ''
  return `Nothing is erased while an order, a payment, a refund or a dispute of theirs is open: ${told.join(', ')}${more}`
}

/** A line of the list beside the database. */
export const lineOf = ({ customerId, shopId, at, orderIds }: Listed): string =>
  `${JSON.stringify({ customerId, shopId, at: new Date(at).toISOString(), orderIds })}\n`

/** What a line of the list says; undefined where it is none. */
export function listedOf(line: string): Listed | undefined {
  try {
    const { customerId, shopId, at, orderIds } = JSON.parse(line) as Record<string, unknown>
    const isWhole = typeof customerId === 'string' && typeof shopId === 'string' && typeof at === 'string' && Array.isArray(orderIds)
    const ms = isWhole ? Date.parse(at) : Number.NaN
    if (!isWhole || Number.isNaN(ms) || !orderIds.every((id) => typeof id === 'string')) return undefined
    return { customerId, shopId, at: ms, orderIds }
  } catch {
    return undefined
  }
}

/** Where lists lie in a place for backups, a file each: nothing there is ever written over by another. */
export const listedFolder = 'erased/'
export const listedName = (customerId: string): string => `${listedFolder}${customerId}.json`
/** How long after it an erasure is looked at once more: whatever request was under way has ended by then. */
export const settlesMs = 2 * 60_000
