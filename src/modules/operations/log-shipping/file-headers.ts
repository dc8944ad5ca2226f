/** What a segment and a snapshot say of themselves, in a line before what they hold. */
import type { LogHeader, LogKept, LogRange, LogSum } from '../../../../db/engine.ts'
import type { Segment } from './domain.ts'

/** What stands at the beginning of a segment. `end`: of those from before, some have none. */
export type SegmentHead = { readonly format: 1; readonly end?: LogSum } & Omit<Segment, 'kind'> & Omit<LogRange, 'end'>
/** What a snapshot says of its pages, as they are kept. */
export type SnapshotHead = { readonly format: 1; readonly bytes: number; readonly sha256: string; readonly version: string }

/** A line of JSON, and then what comes. */
export async function* withHead(head: object, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(head)}\n`)
  yield* chunks
}

const headMaxBytes = 4_096

/** The first line of what comes, and all that is behind it, which is to be read; undefined where there is no such line. */
export async function headAndRest(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ head: unknown; rest: AsyncGenerator<Uint8Array> } | undefined> {
  const iterator = chunks[Symbol.asyncIterator]()
  let held = Buffer.alloc(0)
  for (;;) {
    const { done, value } = await iterator.next()
    if (done) return undefined
    held = Buffer.concat([held, value])
    const end = held.indexOf(0x0a)
    if (end < 0 && held.length <= headMaxBytes) continue
    const head = end < 0 ? undefined : parsed(held.toString('utf8', 0, end))
    if (head === undefined) {
      await iterator.return?.()
      return undefined
    }
    return { head, rest: restOf(held.subarray(end + 1), iterator) }
  }
}

async function* restOf(first: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isSum = (value: unknown): value is LogSum => Array.isArray(value) && value.length === 2 && value.every(Number.isInteger)

/** Of SQLite: a power of two. */
const isPageSize = (size: unknown): boolean =>
  typeof size === 'number' && size >= 512 && size <= 65_536 && Number.isInteger(Math.log2(size))

/** The head of the segment that a name says it is; undefined where it is another's, or of a version that this one does not know. */
export function segmentHeadOf(head: unknown, { generation, index, at }: Omit<Segment, 'kind'>): SegmentHead | undefined {
  const found = head as Partial<SegmentHead> | undefined
  const header = found?.header as Partial<LogHeader> | undefined
  const isOurs = found?.format === 1 && found.generation === generation && found.index === index && found.at === at
  const isWhole =
    isSum(found?.sum) &&
    isSum(header?.sum) &&
    [found.from, found.to, header.salt1, header.salt2].every(Number.isInteger) &&
    isPageSize(header.pageSize)
  return isOurs && isWhole ? (found as SegmentHead) : undefined
}

/** Where the log ended when a segment was shipped; undefined where its head does not say. */
export const endOf = ({ header, to, end }: SegmentHead): LogKept | undefined => (isSum(end) ? { header, frame: to, sum: end } : undefined)

/** Whether a segment goes on where the one before ended: in the same life of the log, or in the one that followed. */
export function goesOn(next: SegmentHead, before: { header: LogHeader; frame: number; sum: LogSum } | undefined): boolean {
  if (!before || next.header.salt1 !== before.header.salt1 || next.header.salt2 !== before.header.salt2)
    return next.from === 0 && isSameSum(next.sum, next.header.sum)
  return next.from === before.frame && isSameSum(next.sum, before.sum)
}

const isSameSum = (one: LogSum, other: LogSum) => one[0] === other[0] && one[1] === other[1]
