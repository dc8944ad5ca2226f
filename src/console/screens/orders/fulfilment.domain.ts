/** What is typed about a parcel, as the API takes it. */
import type { Schema } from '../../lib/api/api.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'

type Order = Schema<'Order'>

/** A whole number from 0 to `most`, or undefined where something else was typed. */
export function unitsIn(text: string, most: number): number | undefined {
  if (text.trim() === '') return 0
  const units = wholeNumber(text, 4)
  return units !== undefined && units <= most ? units : undefined
}

/** What is typed, or null for nothing. */
export const textOrNull = (text: string): string | null => text.trim() || null

/**
 * A parcel of so many of some lines. They are named also where that is all that is left: whoever packs beside somebody else is refused, and
 * does not send twice.
 * @param units by line
 * @returns undefined where no unit is in it
 */
export function parcelOf(
  { lines }: Order,
  units: Readonly<Record<string, number>>,
  tracking: { readonly trackingNumber: string; readonly carrier: string },
) {
  const packed = lines
    .map(({ id, unfulfilledQuantity = 0 }) => ({ lineId: id, quantity: units[id] ?? 0, left: unfulfilledQuantity }))
    .filter(({ left }) => left > 0)
  const sent = packed.filter(({ quantity }) => quantity > 0)
  if (sent.length === 0) return undefined
  const trackingNumber = textOrNull(tracking.trackingNumber)
  const carrier = textOrNull(tracking.carrier)
  return {
    lines: sent.map(({ lineId, quantity }) => ({ lineId, quantity })),
    ...(trackingNumber === null ? {} : { trackingNumber }),
    ...(carrier === null ? {} : { carrier }),
  }
}
