/**
 * Mongolian dates, durations and amounts, for browsers whose `Intl` lacks the language, such as Chromium.
 * Follows CLDR (mn, gregorian, medium and short); a test compares it with a full `Intl`.
 */

import type { WallTime } from './zoned-time.ts'

const padTwo = (value: number) => String(value).padStart(2, '0')
/** Formats month and day, such as `11-р сарын 30`. */
export const shortDayText = ({ month, day }: WallTime): string => `${month}-р сарын ${day}`
/** Formats a date with its year. */
export const dayText = (wall: WallTime): string => `${wall.year} оны ${shortDayText(wall)}`
/** Formats a date with its time, in 24 hours without seconds. */
export const momentText = (wall: WallTime): string => `${dayText(wall)} ${padTwo(wall.hour)}:${padTwo(wall.minute)}`

const relativeNames = {
  day: { '-2': 'уржигдар', '-1': 'өчигдөр', 0: 'өнөөдөр', 1: 'маргааш', 2: 'нөгөөдөр' },
  hour: { 0: 'энэ цаг' },
  minute: { 0: 'энэ минут' },
  second: { 0: 'одоо' },
} as const
const genitive = { day: 'өдрийн', hour: 'цагийн', minute: 'минутын', second: 'секундын' } as const
/**
 * Formats a relative time; positive values are in the future.
 * @param format formats the count
 */
export function agoText(value: number, unit: keyof typeof genitive, format: (count: number) => string): string {
  const names: Readonly<Record<string, string>> = relativeNames[unit]
  return names[value] ?? `${format(Math.abs(value))} ${genitive[unit]} ${value < 0 ? 'өмнө' : 'дараа'}`
}

/** Unit names of sizes and durations. */
export const units: Readonly<Record<string, string>> = {
  ...{ millisecond: 'мс', second: 'сек', minute: 'мин', hour: 'цаг' },
  ...{ byte: 'байт', kilobyte: 'кБ', megabyte: 'МБ', gigabyte: 'ГБ', terabyte: 'ТБ' },
}

/** Formats an amount like English, with the tugrik sign and a space after the sign. */
export const moneyInParts = (parts: readonly Intl.NumberFormatPart[], currency: string): string =>
  parts
    .filter(({ type }) => type !== 'literal')
    .map(({ type, value }) => (type === 'currency' ? `${currency === 'MNT' ? '₮' : value}\u00a0` : value))
    .join('')
