/** Detects what JSON.parse changes silently: rounded numbers and duplicate fields. */
import { fractionOf } from './decimal.ts'

/** Decimals with fewer digits are exact, unless their exponent is large. */
const mayBeRounded = /\d[\d.]{15}|\d[eE][+-]?\d{3}/
const isZero = (text: string) => !/[1-9]/.test(text.replace(/e.*$/i, ''))

/**
 * Returns the path of the first number that parsing rounds; undefined if none.
 * @param json valid JSON
 */
export function findRoundedNumber(json: string): string[] | undefined {
  if (!mayBeRounded.test(json)) return undefined
  return pathToRounded(
    JSON.parse(json, (_name: string, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && context?.source !== undefined && isRounded(context.source, value) ? rounded : value,
    ),
  )
}

/** Marks a rounded number. */
const rounded = Symbol('rounded')

function isRounded(source: string, value: number): boolean {
  if (isZero(source)) return false
  const [original, parsed] = [source, String(value)].map((text) => fractionOf(text.replace(/^-/, '')))
  return !original || !parsed || original.numerator * parsed.denominator !== parsed.numerator * original.denominator
}

function pathToRounded(value: unknown): string[] | undefined {
  if (value === rounded) return []
  if (typeof value !== 'object' || value === null) return undefined
  for (const name in value) {
    const path = pathToRounded((value as Record<string, unknown>)[name])
    if (path) return [name, ...path]
  }
  return undefined
}

const space = 0x20

/**
 * Returns the path of the first duplicate field of an object; undefined if none. Slower than parsing.
 * @param text valid JSON
 */
export function findDuplicateField(text: string): string[] | undefined {
  const levels: { at: string | number; readonly names: Set<string> }[] = []
  for (let at = 0; at < text.length; at++) {
    const [sign, level] = [text[at], levels.at(-1)]
    if (sign === '{' || sign === '[') levels.push({ at: sign === '[' ? 0 : '', names: new Set() })
    else if (sign === '}' || sign === ']') levels.pop()
    else if (sign === ',' && typeof level?.at === 'number') level.at++
    else if (sign === '"') {
      const from = at++
      for (; text[at] !== '"'; at++) if (text[at] === '\\') at++
      let next = at + 1
      while (text.charCodeAt(next) <= space) next++
      if (!level || text[next] !== ':') continue
      level.at = JSON.parse(text.slice(from, at + 1)) as string
      if (level.names.size === level.names.add(level.at).size) return levels.map((one) => String(one.at))
    }
  }
  return undefined
}
