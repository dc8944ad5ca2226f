/** Reads a processor's answer. Its form is not trusted: a malformed answer says nothing about the payment. */
import { UnknownAnswer } from './processor.ts'

/** Returns the value at a path of unknown JSON, by own properties only; undefined if the path ends before. */
export function valueAt(json: unknown, ...path: readonly (string | number)[]): unknown {
  let value = json
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string | number, unknown>)[step]
  }
  return value
}

/** Returns a text that is not empty. */
export function textAt(json: unknown, ...path: readonly (string | number)[]): string | undefined {
  const value = valueAt(json, ...path)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Reads an id, which becomes part of a URL. */
export function idAt(json: unknown, ...path: readonly string[]): string | undefined {
  const id = textAt(json, ...path)
  return id !== undefined && /^\w{1,100}$/.test(id) ? id : undefined
}

/** Reads a URL to which shoppers or messages may be sent. */
export function linkAt(json: unknown, ...path: readonly string[]): string | undefined {
  const link = textAt(json, ...path)
  const protocol = link === undefined ? undefined : URL.parse(link)?.protocol
  return protocol === 'https:' || protocol === 'http:' ? link : undefined
}

/** Returns a safe integer that is not negative. */
export function countAt(json: unknown, ...path: readonly (string | number)[]): number | undefined {
  const value = valueAt(json, ...path)
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Returns the items of a list; none if it is no list. */
export function listAt(json: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = valueAt(json, ...path)
  return Array.isArray(value) ? value : []
}

/**
 * Returns a required value.
 * @param what a noun, such as `payment id`
 * @throws UnknownAnswer that names the missing value, and nothing of the response
 */
export function requireValue<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new UnknownAnswer(`no usable ${what}`)
  return value
}

/**
 * Translates a processor's status. Processors add new ones: an unknown status leaves the payment as it is.
 * @throws UnknownAnswer that names the status
 */
export function meaningOf<Value>(meanings: Readonly<Record<string, Value>>, word: string): Value {
  const meaning = Object.hasOwn(meanings, word) ? meanings[word] : undefined
  if (meaning === undefined) throw unknownStatus(word)
  return meaning
}

/** Creates the error for a status whose meaning is unknown. It shows the status only if it looks like a code. */
export const unknownStatus = (word: string | undefined): UnknownAnswer =>
  new UnknownAnswer(word ? `unknown status ${wordOf(word) ?? 'that is no word'}` : 'no status')

/** Returns the first code that looks like one: it is stored, logged and shown. */
export const wordOf = (...candidates: readonly (string | undefined)[]): string | undefined =>
  candidates.find((word) => word !== undefined && /^[\w.-]{1,64}$/.test(word))

/** Parses a message's body; undefined for invalid JSON. */
export function parsedMessage(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** Converts a wallet's JSON to the form of a token request; undefined for a processor's own token. */
export function walletTokenOf(token: string): { type: 'applepay' | 'googlepay'; token_data: unknown } | undefined {
  const data = parsedMessage(Buffer.from(token))
  if (typeof valueAt(data, 'signedMessage') === 'string') return { type: 'googlepay', token_data: data }
  if (typeof valueAt(data, 'header') === 'object') return { type: 'applepay', token_data: data }
  return undefined
}
