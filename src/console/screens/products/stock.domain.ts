import type { Schema } from '../../lib/api/api.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'

type StockVariant = Pick<Schema<'Variant'>, 'trackInventory' | 'onHand' | 'reserved'>

/** Returns the number of tracked variants, their stock and their unreserved stock. */
export function stockOf(variants: readonly StockVariant[]): { tracked: number; onHand: number; available: number } {
  const tracked = variants.filter(({ trackInventory }) => trackInventory)
  const sum = (unitsOf: (variant: StockVariant) => number) => tracked.reduce((total, variant) => total + unitsOf(variant), 0)
  return { tracked: tracked.length, onHand: sum(({ onHand }) => onHand), available: sum(({ onHand, reserved }) => onHand - reserved) }
}

export type StockText = { readonly kind: 'counted' | 'more' | 'fewer'; readonly quantity: string; readonly reason: string }
export type StockBody = { delta?: number; counted?: number; reason?: string }

/** Builds the body; undefined if the number is invalid. */
export function stockBody({ kind, quantity, reason }: StockText): StockBody | undefined {
  const value = wholeNumber(quantity)
  if (value === undefined || (kind !== 'counted' && value === 0)) return undefined
  const withReason = reason.trim() === '' ? {} : { reason: reason.trim() }
  if (kind === 'counted') return { counted: value, ...withReason }
  return { delta: kind === 'more' ? value : -value, ...withReason }
}
