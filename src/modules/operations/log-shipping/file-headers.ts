/** The header line of segments and snapshots. */
import type { LogHeader, LogRange, LogSum, ShippedLog } from '../../../../db/engine.ts'
import { parseJson } from '../../../lib/json.ts'
import type { Segment } from './domain.ts'

/** The header of a segment. Older ones have no `end`. */
export type SegmentHead = { readonly format: 1; readonly end?: LogSum } & Omit<Segment, 'kind'> & Omit<LogRange, 'end'>
/** The header of a snapshot's pages. */
export type SnapshotHead = { readonly format: 1; readonly bytes: number; readonly sha256: string; readonly version: string }

/** Writes the header as a line of JSON before the content. */
export async function* withHeader(head: object, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(head)}\n`)
  yield* chunks
}

/** Returns the content of a file that is only a header. */
export async function* emptyFile(): AsyncGenerator<Uint8Array> {}

const headMaxBytes = 4_096

/** Splits the header from the content, which must be read or closed; undefined without a header. */
export async function splitHeader(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ head: unknown; rest: AsyncGenerator<Uint8Array> } | undefined> {
  const iterator = chunks[Symbol.asyncIterator]()
  let buffered = Buffer.alloc(0)
  for (;;) {
    const { done, value } = await iterator.next()
    if (done) return undefined
    buffered = Buffer.concat([buffered, value])
    const end = buffered.indexOf(0x0a)
    if (end < 0 && buffered.length <= headMaxBytes) continue
    const head = end < 0 ? undefined : parseJson(buffered.toString('utf8', 0, end))
    if (head === undefined) {
      await iterator.return?.()
      return undefined
    }
    return { head, rest: remainingChunks(buffered.subarray(end + 1), iterator) }
  }
}

async function* remainingChunks(first: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (first.length > 0) yield first
    for (;;) {
      const { done, value } = await iterator.next()
      if (done) return
      yield value
    }
  } finally {
    await iterator.return?.()
  }
}

const isSum = (value: unknown): value is LogSum => Array.isArray(value) && value.length === 2 && value.every(Number.isInteger)

/** SQLite page sizes are powers of two. */
const isPageSize = (size: unknown): boolean =>
  typeof size === 'number' && size >= 512 && size <= 65_536 && Number.isInteger(Math.log2(size))

/** Validates a header against the name; undefined for another file or version. */
export function segmentHeadOf(head: unknown, { generation, index, at }: Omit<Segment, 'kind'>): SegmentHead | undefined {
  const candidate = head as Partial<SegmentHead> | undefined
  const header = candidate?.header as Partial<LogHeader> | undefined
  const isOurs = candidate?.format === 1 && candidate.generation === generation && candidate.index === index && candidate.at === at
  const isWhole =
    isSum(candidate?.sum) &&
    isSum(header?.sum) &&
    [candidate.from, candidate.to, header.salt1, header.salt2].every(Number.isInteger) &&
    isPageSize(header.pageSize)
  return isOurs && isWhole ? (candidate as SegmentHead) : undefined
}

/** Returns where the log ended; undefined if the header does not say. */
export const endOf = ({ header, to, end }: SegmentHead): ShippedLog | undefined =>
  isSum(end) ? { header, frame: to, sum: end } : undefined

/** Returns whether a segment continues the previous one, in the same or in the next life of the log. */
export function continuesSegment(next: SegmentHead, before: { header: LogHeader; frame: number; sum: LogSum } | undefined): boolean {
  if (!before || next.header.salt1 !== before.header.salt1 || next.header.salt2 !== before.header.salt2)
    return next.from === 0 && isSameSum(next.sum, next.header.sum)
  return next.from === before.frame && isSameSum(next.sum, before.sum)
}

const isSameSum = (a: LogSum, b: LogSum) => a[0] === b[0] && a[1] === b[1]
