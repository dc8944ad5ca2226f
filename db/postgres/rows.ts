/** Rows, made of the bytes that a Postgres server sends. */
import pg from 'pg'

// Every bigint that we store fits a JavaScript number; without this the driver answers text.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** What every Buffer has besides what its types say: reading a text by `toString` costs twice as much. */
export type Bytes = Buffer & { utf8Slice(from: number, end: number): string; latin1Slice(from: number, end: number): string }

type Row = Record<string, unknown>
/** What makes a value of the text that the server has for it. */
export type Types = { getTypeParser(oid: number, format: 'text'): (text: string) => unknown }
type ReadValue = (bytes: Bytes, from: number, end: number) => unknown

/** How the rows of a statement are made of messages; `from` is where the number of its values stands. */
export type Shape = { row(bytes: Bytes, from: number): Row; list(bytes: Bytes, from: number): unknown[] }

const { BOOL, INT2, INT4, INT8, TEXT, VARCHAR } = pg.types.builtins
const texts = new Set<number>([TEXT, VARCHAR])
const integers = new Set<number>([INT2, INT4, INT8])
/** Every number of so many digits is exact. */
const digitsMax = 15
const [minus, zero, t] = [0x2d, 0x30, 0x74]

const text: ReadValue = (bytes, from, end) => bytes.utf8Slice(from, end)
const readBoolean: ReadValue = (bytes, from) => bytes[from] === t

const integer: ReadValue = (bytes, from, end) => {
  if (end - from > digitsMax) return Number(bytes.latin1Slice(from, end))
  const isNegative = bytes[from] === minus
  let value = 0
  for (let at = isNegative ? from + 1 : from; at < end; at++) value = value * 10 + (bytes[at] as number) - zero
  return isNegative ? -value : value
}

function readerOf(oid: number, types: Types | undefined): ReadValue {
  if (types === undefined) {
    if (texts.has(oid)) return text
    if (integers.has(oid)) return integer
    if (oid === BOOL) return readBoolean
  }
  const parse = (types ?? pg.types).getTypeParser(oid, 'text')
  return (bytes, from, end) => parse(bytes.utf8Slice(from, end))
}

/** What stands at a place, as four bytes: `readInt32BE` of a Buffer looks at its arguments first. */
export const int32At = (bytes: Buffer, at: number): number =>
  ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)

/** Calls `found` with each value of a row, or with null. */
function walk(reads: readonly ReadValue[], bytes: Bytes, from: number, found: (nth: number, value: unknown) => void): void {
  let at = from + 2
  for (let nth = 0; nth < reads.length; nth++) {
    const length = int32At(bytes, at)
    at += 4
    if (length < 0) {
      found(nth, null)
      continue
    }
    found(nth, (reads[nth] as ReadValue)(bytes, at, at + length))
    at += length
  }
}

/**
 * @param bytes with a description of rows, whose number of fields stands at `from`; without any there are none
 * @param types what makes values, in place of the driver's
 */
export function shapeOf(bytes?: Bytes, from = 0, types?: Types): Shape {
  const names: string[] = []
  const reads: ReadValue[] = []
  let at = from + 2
  const count = bytes ? bytes.readInt16BE(from) : 0
  for (let nth = 0; bytes && nth < count; nth++) {
    const close = bytes.indexOf(0, at)
    names.push(bytes.utf8Slice(at, close))
    // Behind the name: its table (4 bytes) and column (2), its type (4), and three more numbers (2, 4, 2).
    reads.push(readerOf(int32At(bytes, close + 7), types))
    at = close + 19
  }
  return {
    row(given, start) {
      const row: Row = {}
      walk(reads, given, start, (nth, value) => {
        row[names[nth] as string] = value
      })
      return row
    },
    list(given, start) {
      const list: unknown[] = []
      walk(reads, given, start, (_, value) => void list.push(value))
      return list
    },
  }
}
