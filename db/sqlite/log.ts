/** The format of SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat). */
import type { LogHeader, LogSum as Sum } from '../engine.ts'

/** Length of the header of a log. */
export const logHeaderBytes = 32
/** Length of a frame's header, which one page follows. */
export const frameHeaderBytes = 24

/** A log with little-endian checksums; other logs are not supported. */
const magic = 0x377f0682
const formatVersion = 3_007_000
const sumAt = 24

/** Parses the log's header; undefined if it is incomplete. */
export function headerOf(bytes: Uint8Array): LogHeader | undefined {
  if (bytes.length < logHeaderBytes) return undefined
  const view = viewOf(bytes)
  if (view.getUint32(0) !== magic || view.getUint32(4) !== formatVersion) return undefined
  const sum: Sum = [view.getUint32(sumAt), view.getUint32(sumAt + 4)]
  if (!isSameSum(sumOf(bytes.subarray(0, sumAt), [0, 0]), sum)) return undefined
  return { pageSize: view.getUint32(8), salt1: view.getUint32(16), salt2: view.getUint32(20), sum }
}

/** A page that a commit wrote. */
export type Frame = {
  /** From 1. */
  readonly page: number
  /** Size of the database in pages, in a frame that ends a commit; otherwise 0. */
  readonly pagesAfter: number
  readonly sum: Sum
}

/**
 * Parses a frame; undefined if it does not follow.
 * @param bytes header and page
 * @param before checksum so far
 */
export function frameOf(bytes: Uint8Array, { salt1, salt2 }: Pick<LogHeader, 'salt1' | 'salt2'>, before: Sum): Frame | undefined {
  const view = viewOf(bytes)
  if (view.getUint32(8) !== salt1 || view.getUint32(12) !== salt2) return undefined
  const sum = sumOf(bytes.subarray(frameHeaderBytes), sumOf(bytes.subarray(0, 8), before))
  if (!isSameSum(sum, sumOfFrame(bytes))) return undefined
  const page = view.getUint32(0)
  return page === 0 ? undefined : { page, pagesAfter: pagesAfterOf(bytes), sum }
}

/** Returns the database size of a commit frame; otherwise 0. */
export const pagesAfterOf = (bytes: Uint8Array): number => viewOf(bytes).getUint32(4)

/** Returns the checksum in a frame. */
export function sumOfFrame(bytes: Uint8Array): Sum {
  const view = viewOf(bytes)
  return [view.getUint32(16), view.getUint32(20)]
}

/** Compares two checksums. */
export const isSameSum = (one: Sum, other: Sum): boolean => one[0] === other[0] && one[1] === other[1]

/** Returns whether a log generation directly follows another: SQLite increments the first salt. */
export const follows = (next: Pick<LogHeader, 'salt1'>, before: Pick<LogHeader, 'salt1'>): boolean =>
  next.salt1 === (before.salt1 + 1) >>> 0

/** Computes SQLite's checksum over pairs of words. */
function sumOf(input: Uint8Array, [first, second]: Sum): Sum {
  const bytes = input.byteOffset % 4 === 0 ? input : new Uint8Array(input)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  let [a, b] = [first | 0, second | 0]
  for (let at = 0; at < words.length; at += 2) {
    a = (a + (words[at] as number) + b) | 0
    b = (b + (words[at + 1] as number) + a) | 0
  }
  return [a >>> 0, b >>> 0]
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
