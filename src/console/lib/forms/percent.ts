/** Parses percentages as basis points, without rounding. */
import { latinOf } from './number-input.ts'

/** Parses `12.5` as 1250. Undefined unless it is from 0 to 100 with at most two decimals; a comma counts as a point. */
export function parsePercent(text: string): number | undefined {
  const match = /^(\d{1,3})(?:[.,](\d{1,2}))?$/.exec(latinOf(text))
  if (!match) return undefined
  const bps = Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
  return bps <= 10_000 ? bps : undefined
}

/** Formats 1250 as `12.5`. */
export function percentText(bps: number): string {
  const part = String(bps % 100)
    .padStart(2, '0')
    .replace(/0+$/, '')
  return `${Math.trunc(bps / 100)}${part && `.${part}`}`
}
