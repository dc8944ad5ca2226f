/** Events and notes of an order in one list. */

import type { Schema } from '../../lib/api/api.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import type { Money } from '../../lib/forms/amounts.ts'

type Order = Schema<'Order'>

export type TimelineEntry =
  | { readonly kind: 'note'; readonly id: string; readonly at: string; readonly text: string; readonly actor: string }
  | {
      readonly kind: 'event'
      readonly id: string
      readonly at: string
      readonly type: string
      readonly amount?: Money
      /** Further details, as the API sends them. */
      readonly details: readonly string[]
    }

/** The details to show; others are ids that the page shows elsewhere. */
const shownDetails = [
  'processor',
  'carrier',
  'trackingNumber',
  'code',
  'reason',
  'reference',
  'last4',
  'email',
  'shippingAddress',
  'billingAddress',
  'tags',
] as const

const isMoney = (value: unknown): value is Money => typeof value === 'object' && value !== null && 'amount' in value && 'currency' in value

/** Returns the entries, newest first; entries of the same time in reverse order of writing. */
export function timelineOf({
  events,
  notes = [],
  fulfilments,
  fromAbandonedCart,
  agent,
}: Pick<Order, 'events' | 'notes' | 'fulfilments' | 'fromAbandonedCart' | 'agent'>): readonly TimelineEntry[] {
  const eventEntries = events.map(({ type, at, detail }, index): TimelineEntry => {
    const money = [detail['amount'], detail['total']].find(isMoney)
    const details = shownDetails.flatMap((name) => {
      const value = detail[name]
      if (typeof value !== 'string' || value === '') return []
      return [name === 'processor' ? processorName(value) : value]
    })
    // Refunded before anything was sent.
    const isMailed = events.some((event) => event.type === 'GIFT_CARD_ISSUED')
    const wasNothingSent = type === 'FULFILLED' && fulfilments?.length === 0 && !isMailed
    const isPlaced = type === 'PLACED'
    const placedType = agent ? 'PLACED_BY_AGENT' : fromAbandonedCart ? 'PLACED_FROM_CART' : type
    const shownType = wasNothingSent ? 'NOTHING_LEFT' : isPlaced ? placedType : type
    if (isPlaced && agent?.profile) details.push(agent.profile)
    return { kind: 'event', id: `${index}`, at, type: shownType, details, ...(money ? { amount: money } : {}) }
  })
  const noteEntries = notes.map(({ id, at, text, actor }): TimelineEntry => ({ kind: 'note', id, at, text, actor }))
  return [...eventEntries, ...noteEntries]
    .map((entry, index) => ({ entry, index }))
    .sort((a, b) => Date.parse(b.entry.at) - Date.parse(a.entry.at) || b.index - a.index)
    .map(({ entry }) => entry)
}
