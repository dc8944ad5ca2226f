/** Structured fields of HTTP headers (RFC 9651). */
import { type Dictionary, parseDictionary } from 'structured-headers'

/** Parses a dictionary; undefined for other text. */
export function dictionaryOf(text: string): Dictionary | undefined {
  try {
    return parseDictionary(text)
  } catch {
    return undefined
  }
}

/** A member of a dictionary: text between commas, of which strings may contain some. */
const member = /(?:"(?:\\.|[^"\\])*"|[^",])+/g

/** Splits a valid dictionary into keys and values as they were written. A key may repeat: the last one counts. */
export function rawMembersOf(text: string): [key: string, value: string][] {
  return [...text.matchAll(member)].map(([raw]) => {
    const [key = '', ...value] = raw.trim().split('=')
    return [key, value.join('=')]
  })
}
