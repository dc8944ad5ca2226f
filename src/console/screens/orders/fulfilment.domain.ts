/** The form values of a fulfilment and its body. */
import type { Schema } from '../../lib/api/api.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'

type Order = Schema<'Order'>

/** Parses a whole number from 0 to `most`; undefined if invalid. */
export function parseUnits(text: string, most: number): number | undefined {
  if (text.trim() === '') return 0
  const units = wholeNumber(text, 4)
  return units !== undefined && units <= most ? units : undefined
}

export const textOrNull = (text: string): string | null => text.trim() || null

/**
 * Builds a fulfilment. It names the lines even for all remaining units, so that two people cannot send the same
 * units.
 * @param units by line
 * @returns undefined without units
 */
export function fulfilmentBody(
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
