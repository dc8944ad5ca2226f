/** What happened to an order and what was noted of it, as one story. */

import type { Schema } from '../../lib/api/api.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import type { Money } from '../../lib/forms/amounts.ts'

type Order = Schema<'Order'>

export type Happening =
  | { readonly kind: 'note'; readonly id: string; readonly at: string; readonly text: string; readonly actor: string }
  | {
      readonly kind: 'event'
      readonly id: string
      readonly at: string
      readonly type: string
      /** What it was of money. */
      readonly amount?: Money
      /** What else is told of it, in the words of the API. */
      readonly told: readonly string[]
    }

/** Of these details the story tells: the others are ids of what stands elsewhere on the page. */
const toldOf = ['processor', 'carrier', 'trackingNumber', 'code', 'reason', 'reference'] as const

const isMoney = (value: unknown): value is Money => typeof value === 'object' && value !== null && 'amount' in value && 'currency' in value

/** The newest first; what happened at the same moment in the order in which it was written. */
export function timelineOf({ events, notes = [], fulfilments }: Pick<Order, 'events' | 'notes' | 'fulfilments'>): readonly Happening[] {
  const happened = events.map(({ type, at, detail }, place): Happening => {
    const money = [detail['amount'], detail['total']].find(isMoney)
    const told = toldOf.flatMap((name) => {
      const value = detail[name]
      if (typeof value !== 'string' || value === '') return []
      return [name === 'processor' ? processorName(value) : value]
    })
    // Refunded before anything was sent.
    const shown = type === 'FULFILLED' && fulfilments?.length === 0 ? 'NOTHING_LEFT' : type
    return { kind: 'event', id: `${place}`, at, type: shown, told, ...(money ? { amount: money } : {}) }
  })
  const noted = notes.map(({ id, at, text, actor }): Happening => ({ kind: 'note', id, at, text, actor }))
  return [...happened, ...noted]
    .map((one, place) => ({ one, place }))
    .sort((a, b) => Date.parse(b.one.at) - Date.parse(a.one.at) || b.place - a.place)
    .map(({ one }) => one)
}
