/** The form values of manual payment methods, such as bank transfer and cash on delivery. */
import type { Schema } from '../../lib/api/api.ts'
import { handleOf } from '../new-shop/new-shop.domain.ts'

export type ManualMethod = NonNullable<Schema<'PaymentMethods'>['manual']>[number]
type ManualTexts = { [Name in keyof ManualMethod]: string }
/** The limit of the API. */
export const manualMax = 5

const daysMax = 90
const newManual: ManualTexts = { code: '', title: '', instructions: '', expiresAfterDays: '7' }
/** Returns the form's values of a method; without one those of a new method. */
export const textsOfManual = (method: ManualMethod | undefined): ManualTexts =>
  method ? { ...method, expiresAfterDays: String(method.expiresAfterDays) } : newManual

const codeMax = 40
const codeOf = (title: string): string => handleOf(title).slice(0, codeMax).replace(/-+$/, '') || 'manual'

/** Parses a number of days; undefined unless it is one that the API takes. */
export function parseDays(text: string): number | undefined {
  const days = /^\d{1,2}$/.test(text.trim()) ? Number(text) : 0
  return days >= 1 && days <= daysMax ? days : undefined
}

/** Parses the form; undefined if the days are wrong. The API checks the texts. */
export function parseManual({ code, title, instructions, expiresAfterDays }: ManualTexts): ManualMethod | undefined {
  const days = parseDays(expiresAfterDays)
  return days === undefined
    ? undefined
    : { code: code.trim() || codeOf(title), title: title.trim(), instructions: instructions.trim(), expiresAfterDays: days }
}

/** Replaces the method with a code, or adds one at the end. */
export const replaceManual = (
  methods: readonly ManualMethod[],
  code: string | undefined,
  method: ManualMethod | undefined,
): ManualMethod[] => {
  const isExisting = methods.some((method) => method.code === code)
  const added = method ? [method] : []
  return isExisting ? methods.flatMap((method) => (method.code === code ? added : [method])) : [...methods, ...added]
}

/** Lists the methods that differ, by code. */
export function manualDifferences(
  mine: readonly ManualMethod[],
  theirs: readonly ManualMethod[],
): readonly (readonly [name: string, yours: string, theirs: string])[] {
  const codes = [...new Set([...mine, ...theirs].map(({ code }) => code))]
  const describe = (list: readonly ManualMethod[], code: string) => {
    const { title, instructions, expiresAfterDays } = list.find((method) => method.code === code) ?? {}
    return title === undefined ? '–' : `${title} (${expiresAfterDays}): ${instructions}`
  }
  return codes
    .map((code) => [code, describe(mine, code), describe(theirs, code)] as const)
    .filter(([, yours, theirText]) => yours !== theirText)
}
