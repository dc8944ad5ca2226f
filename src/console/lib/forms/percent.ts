/** Percentages as they are typed, in hundredths of a percent as the API has them. No fraction is rounded. */
import { latinOf } from './number-input.ts'

/** 1250 of `12.5`; undefined where it is no percentage from 0 to 100 with two decimals at most. A comma counts as a point. */
export function parsePercent(text: string): number | undefined {
  const match = /^(\d{1,3})(?:[.,](\d{1,2}))?$/.exec(latinOf(text))
  if (!match) return undefined
  const bps = Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
  return bps <= 10_000 ? bps : undefined
}

/** `12.5` of 1250. */
export function percentText(bps: number): string {
  const part = String(bps % 100)
    .padStart(2, '0')
    .replace(/0+$/, '')
  return `${Math.trunc(bps / 100)}${part && `.${part}`}`
}
