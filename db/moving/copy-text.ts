/** Rows as lines of PostgreSQL's COPY in text, byte for byte as it writes them itself: what was sent and what is there are compared so. */

export type Kind = 'text' | 'integer' | 'truth' | 'bytes'

const kinds: Readonly<Record<string, Kind>> = { text: 'text', bigint: 'integer', integer: 'integer', boolean: 'truth', bytea: 'bytes' }

/** What a column of this type of PostgreSQL's holds; undefined for a type that nobody has taught us. */
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
 * A value of SQLite as it stands in a line.
 * @param value text, bytes, null, or an integer (a bigint, so that none is rounded)
 * @throws Error where it is not of the kind
 */
export function fieldOf(kind: Kind, value: unknown): string {
  if (value === null) return '\\N'
  if (kind === 'text' && typeof value === 'string') return value.replace(escaped, (one) => escapes[one] ?? one)
  if (kind === 'integer' && typeof value === 'bigint') return value.toString()
  if (kind === 'truth' && (value === 0n || value === 1n)) return value === 1n ? 't' : 'f'
  if (kind === 'bytes' && value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString('hex')}`
  throw new Error(`a value is no ${kind}`)
}

/** A row, without the end of its line. @param row its values, behind its rowid */
export const lineOf = (kinds: readonly Kind[], row: readonly unknown[]): string =>
  kinds.map((kind, nth) => fieldOf(kind, row[nth + 1])).join('\t')

/** A sum of the hashes of lines, whatever their order: of 64 bits. */
export const added = (sum: bigint, line: string | Uint8Array): bigint => BigInt.asUintN(64, sum + Bun.hash.xxHash64(line))
