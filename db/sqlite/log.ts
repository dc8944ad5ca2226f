/** The format of SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat), as far as reading it takes. */
import type { LogHeader, LogSum as Sum } from '../engine.ts'

export const logHeaderBytes = 32
export const frameHeaderBytes = 24

/** A log whose words are in the order of this machine: another one would have to be read on a machine of the other kind. */
const magic = 0x377f0682
const formatVersion = 3_007_000
const sumAt = 24

/** The header of a log; undefined where there is none that is whole, as while it is written. */
export function headerOf(bytes: Uint8Array): LogHeader | undefined {
  if (bytes.length < logHeaderBytes) return undefined
  const view = viewOf(bytes)
  if (view.getUint32(0) !== magic || view.getUint32(4) !== formatVersion) return undefined
  const sum: Sum = [view.getUint32(sumAt), view.getUint32(sumAt + 4)]
  if (!isSame(sumOf(bytes.subarray(0, sumAt), [0, 0]), sum)) return undefined
  return { pageSize: view.getUint32(8), salt1: view.getUint32(16), salt2: view.getUint32(20), sum }
}

export type Frame = {
  /** From 1. */
  readonly page: number
  /** Of the frame that ends a commit: how many pages the database has then. Otherwise 0. */
  readonly pagesAfter: number
  readonly sum: Sum
}

/**
 * One frame of a log; undefined where the bytes are not the frame that follows.
 * @param bytes its header and its page
 * @param before what the checksums have come to
 */
export function frameOf(bytes: Uint8Array, { salt1, salt2 }: Pick<LogHeader, 'salt1' | 'salt2'>, before: Sum): Frame | undefined {
  const view = viewOf(bytes)
  if (view.getUint32(8) !== salt1 || view.getUint32(12) !== salt2) return undefined
  const sum = sumOf(bytes.subarray(frameHeaderBytes), sumOf(bytes.subarray(0, 8), before))
  if (!isSame(sum, sumOfFrame(bytes))) return undefined
  const page = view.getUint32(0)
  return page === 0 ? undefined : { page, pagesAfter: pagesAfterOf(bytes), sum }
}

/** Of the frame that ends a commit: how many pages the database has then. Otherwise 0. */
export const pagesAfterOf = (bytes: Uint8Array): number => viewOf(bytes).getUint32(4)

/** What a frame says that the checksums come to after it. */
export function sumOfFrame(bytes: Uint8Array): Sum {
  const view = viewOf(bytes)
  return [view.getUint32(16), view.getUint32(20)]
}

export const isSame = (one: Sum, other: Sum): boolean => one[0] === other[0] && one[1] === other[1]

/** The salts of the life that follows, as SQLite makes them: one more, and another one drawn. */
export const follows = (next: Pick<LogHeader, 'salt1'>, before: Pick<LogHeader, 'salt1'>): boolean =>
  next.salt1 === (before.salt1 + 1) >>> 0

/** SQLite's checksum: of pairs of words, each sum fed to the other. */
export function sumOf(given: Uint8Array, [first, second]: Sum): Sum {
  const bytes = given.byteOffset % 4 === 0 ? given : new Uint8Array(given)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  let [a, b] = [first | 0, second | 0]
  for (let at = 0; at < words.length; at += 2) {
    a = (a + (words[at] as number) + b) | 0
    b = (b + (words[at + 1] as number) + a) | 0
  }
  return [a >>> 0, b >>> 0]
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
