/**
 * Moments, spans and amounts in Mongolian, for browsers that do not know the language: Chromium leaves it out of its `Intl`. As CLDR has them
 * (mn, gregorian, medium and short); a test holds each against a whole `Intl`.
 */

import type { WallTime } from './zoned-time.ts'

const two = (value: number) => String(value).padStart(2, '0')
/** A day without its year. */
export const shortDayText = ({ month, day }: WallTime): string => `${month}-р сарын ${day}`
/** A day. */
export const dayText = (wall: WallTime): string => `${wall.year} оны ${shortDayText(wall)}`
/** A moment, to the minute. */
export const momentText = (wall: WallTime): string => `${dayText(wall)} ${two(wall.hour)}:${two(wall.minute)}`

const relativeNames = {
  day: { '-2': 'уржигдар', '-1': 'өчигдөр', 0: 'өнөөдөр', 1: 'маргааш', 2: 'нөгөөдөр' },
  hour: { 0: 'энэ цаг' },
  minute: { 0: 'энэ минут' },
  second: { 0: 'одоо' },
} as const
const genitive = { day: 'өдрийн', hour: 'цагийн', minute: 'минутын', second: 'секундын' } as const
/** How far a moment is from now, ahead where that is positive. @param format of the count */
export function agoText(value: number, unit: keyof typeof genitive, format: (count: number) => string): string {
  const names: Readonly<Record<string, string>> = relativeNames[unit]
  return names[value] ?? `${format(Math.abs(value))} ${genitive[unit]} ${value < 0 ? 'өмнө' : 'дараа'}`
}

/** Words of sizes and spans, behind their number. */
export const units: Readonly<Record<string, string>> = {
  ...{ millisecond: 'мс', second: 'сек', minute: 'мин', hour: 'цаг' },
  ...{ byte: 'байт', kilobyte: 'кБ', megabyte: 'МБ', gigabyte: 'ГБ', terabyte: 'ТБ' },
}

/** An amount as English has it, with the sign of the tugrik, and a space behind each sign. */
export const moneyInParts = (parts: readonly Intl.NumberFormatPart[], currency: string): string =>
  parts
    .filter(({ type }) => type !== 'literal')
    .map(({ type, value }) => (type === 'currency' ? `${currency === 'MNT' ? '₮' : value}\u00a0` : value))
    .join('')
