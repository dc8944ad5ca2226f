/** The form values of a fulfilment and its body. */
import type { Schema } from '../../lib/api/api.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'

type Order = Schema<'Order'>

/** Parses a whole number from 0 to `max`; undefined if invalid. */
export function parseUnits(text: string, max: number): number | undefined {
  if (text.trim() === '') return 0
  const units = wholeNumber(text, 4)
  return units !== undefined && units <= max ? units : undefined
}

/** Trims an optional text; null if nothing is left. */
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
  const openLines = lines
    .map(({ id, unfulfilledQuantity = 0 }) => ({ lineId: id, quantity: units[id] ?? 0, left: unfulfilledQuantity }))
    .filter(({ left }) => left > 0)
  const sentLines = openLines.filter(({ quantity }) => quantity > 0)
  if (sentLines.length === 0) return undefined
  const trackingNumber = textOrNull(tracking.trackingNumber)
  const carrier = textOrNull(tracking.carrier)
  return {
    lines: sentLines.map(({ lineId, quantity }) => ({ lineId, quantity })),
    ...(trackingNumber === null ? {} : { trackingNumber }),
    ...(carrier === null ? {} : { carrier }),
  }
}
