/** Parses percentages as basis points, without rounding. */
import { toLatinDigits } from './number-input.ts'

/**
 * Parses `12.5` as 1250. Undefined unless it is from 0 to 100 with at most `decimals`; a comma counts as a point.
 * @param decimals at most 4
 */
export function parsePercent(text: string, decimals = 2): number | undefined {
  const [, integer, decimalPart = ''] = /^(\d{1,3})(?:[.,](\d{1,4}))?$/.exec(toLatinDigits(text)) ?? []
  if (integer === undefined || decimalPart.length > decimals) return undefined
  const bps = Number(`${integer}${decimalPart.padEnd(4, '0')}`) / 100
  return bps <= 10_000 ? bps : undefined
}

/** Formats 1250 as `12.5`, and 887.5 as `8.875`. */
export function percentText(bps: number): string {
  const digits = String(Math.round(bps * 100)).padStart(5, '0')
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, '')
}
