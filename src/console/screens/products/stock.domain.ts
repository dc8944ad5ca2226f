import type { Schema } from '../../lib/api/api.ts'
import { wholeNumber } from '../../lib/forms/number-input.ts'

type Counted = Pick<Schema<'Variant'>, 'trackInventory' | 'onHand' | 'reserved'>

/** Returns the number of tracked variants, their stock and their unreserved stock. */
export function stockOf(variants: readonly Counted[]): { counted: number; onHand: number; free: number } {
  const counted = variants.filter(({ trackInventory }) => trackInventory)
  const sum = (of: (variant: Counted) => number) => counted.reduce((total, variant) => total + of(variant), 0)
  return { counted: counted.length, onHand: sum(({ onHand }) => onHand), free: sum(({ onHand, reserved }) => onHand - reserved) }
}

export type StockText = { readonly way: 'counted' | 'more' | 'fewer'; readonly quantity: string; readonly reason: string }
export type StockBody = { delta?: number; counted?: number; reason?: string }

/** Builds the body; undefined if the number is invalid. */
export function stockBody({ way, quantity, reason }: StockText): StockBody | undefined {
  const value = wholeNumber(quantity)
  if (value === undefined || (way !== 'counted' && value === 0)) return undefined
  const withReason = reason.trim() === '' ? {} : { reason: reason.trim() }
  if (way === 'counted') return { counted: value, ...withReason }
  return { delta: way === 'more' ? value : -value, ...withReason }
}
