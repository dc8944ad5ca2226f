/**
 * Formats rows for COPY in PostgreSQL's text format, byte for byte as PostgreSQL does. Sent and stored rows are
 * compared this way.
 */

export type Kind = 'text' | 'integer' | 'truth' | 'bytes'

const kinds: Readonly<Record<string, Kind>> = { text: 'text', bigint: 'integer', integer: 'integer', boolean: 'truth', bytea: 'bytes' }

/** Returns the kind of a PostgreSQL type; undefined if unsupported. */
export const kindOf = (type: string): Kind | undefined => kinds[type]

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
}
const escaped = /[\\\b\t\n\v\f\r]/g

/**
 * Formats a value of SQLite.
 * @param value text, bytes, null, or a bigint for integers
 * @throws Error if the kind does not match
 */
export function fieldOf(kind: Kind, value: unknown): string {
  if (value === null) return '\\N'
  if (kind === 'text' && typeof value === 'string') return value.replace(escaped, (one) => escapes[one] ?? one)
  if (kind === 'integer' && typeof value === 'bigint') return value.toString()
  if (kind === 'truth' && (value === 0n || value === 1n)) return value === 1n ? 't' : 'f'
  if (kind === 'bytes' && value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString('hex')}`
  throw new Error(`a value is no ${kind}`)
}

/**
 * Formats a row without line end.
 * @param row the rowid and the values
 */
export const lineOf = (kinds: readonly Kind[], row: readonly unknown[]): string =>
  kinds.map((kind, nth) => fieldOf(kind, row[nth + 1])).join('\t')

/** Adds the hash of a line to a sum that ignores the order (64 bits). */
export const addToSum = (sum: bigint, line: string | Uint8Array): bigint => BigInt.asUintN(64, sum + Bun.hash.xxHash64(line))
