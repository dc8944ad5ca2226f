/** Stores unshipped log frames in files beside the database, so that a crash loses none. */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { LogHeader, LogRange, LogSum } from '../engine.ts'
import { makeDirectory, syncPath } from './copy.ts'
import { isSameSum } from './log.ts'

/** The end of a range: its number of frames and their checksum. */
export type LogEnd = Pick<LogHeader, 'salt1' | 'salt2'> & { readonly frame: number; readonly sum: LogSum }

/** A range that was read, as compressed length-prefixed pieces. */
export type Segment = {
  readonly range: LogRange
  /** The end of the range before; null for the first. */
  readonly after: LogEnd | null
  readonly pieces: readonly (() => Uint8Array)[]
  /** Bytes of its pieces. */
  readonly bytes: number
  /** Deletes its file; undefined while it is only in memory. */
  readonly drop?: () => void
}

const lengthBytes = 4
const newline = 0x0a
const headMaxBytes = 4_096

const endOf = ({ range: { header, to, end } }: Pick<Segment, 'range'>): LogEnd => ({
  salt1: header.salt1,
  salt2: header.salt2,
  frame: to,
  sum: end,
})

/** Joins two adjacent ranges of one generation; undefined if they are not adjacent or not on disk. */
export function joinedOf(one: Segment, next: Segment): Segment | undefined {
  if (!one.drop || !next.drop || one.range.header.salt1 !== next.range.header.salt1 || one.range.to !== next.range.from) return undefined
  return {
    range: { ...one.range, to: next.range.to, end: next.range.end },
    after: one.after,
    pieces: [...one.pieces, ...next.pieces],
    bytes: one.bytes + next.bytes,
    drop() {
      one.drop?.()
      next.drop?.()
    },
  }
}

/** Compares two ends. A missing end equals none, because nothing is known to precede it. */
export const isSameEnd = (one: LogEnd | null, other: LogEnd | null): boolean =>
  one !== null &&
  other !== null &&
  one.salt1 === other.salt1 &&
  one.salt2 === other.salt2 &&
  one.frame === other.frame &&
  isSameSum(one.sum, other.sum)

/** The folder with the unshipped frames of a database file. */
const spoolFolderOf = (file: string): string => `${file}-unshipped`

/** Removes all unshipped frames of a database file. */
export const removeSpool = (file: string): void => rmSync(spoolFolderOf(file), { recursive: true, force: true })

/** Opens the spool of a database file, a directory beside it. */
export function openSpool(file: string) {
  const folder = spoolFolderOf(file)
  let next = 0

  const allNames = (): string[] => (existsSync(folder) ? readdirSync(folder) : [])
  /** Names of complete ranges in order. */
  const names = (): string[] =>
    allNames()
      .filter((name) => /^\d{9}$/.test(name))
      .sort()

  return {
    /**
     * Writes a range to disk.
     * @throws errors of `pieces`; nothing is left then
     */
    put(range: LogRange, after: LogEnd | null, pieces: Iterable<Uint8Array>): Segment {
      makeDirectory(folder)
      const path = join(folder, String(next++).padStart(9, '0'))
      const temporary = `${path}.tmp`
      const descriptor = openSync(temporary, 'w', 0o600)
      const ranges: PieceRange[] = []
      try {
        let at = writeAll(descriptor, Buffer.from(`${JSON.stringify({ format: 1, range, after })}\n`))
        for (const piece of pieces) {
          ranges.push({ at, length: piece.length })
          at += writeAll(descriptor, piece)
        }
        fsyncSync(descriptor)
        renameSync(temporary, path)
      } catch (error) {
        rmSync(temporary, { force: true })
        throw error
      } finally {
        closeSync(descriptor)
      }
      syncPath(folder)
      return segmentAt(path, range, after, ranges)
    },
    /** Loads the ranges that follow `end` without a gap, and deletes others. */
    load(end: LogEnd | null): Segment[] {
      const found = names().map((name) => ({ name, segment: segmentIn(join(folder, name)) }))
      next = Number(found.at(-1)?.name ?? -1) + 1
      const following: Segment[] = []
      for (let last = end; ; ) {
        const one = found.find(({ segment }) => segment !== undefined && isSameEnd(segment.after, last))?.segment
        if (!one || following.includes(one)) break
        following.push(one)
        last = endOf(one)
      }
      if (following.length === 0) removeSpool(file)
      const needed = new Set(found.flatMap(({ name, segment }) => (segment && following.includes(segment) ? [name] : [])))
      for (const name of allNames()) if (!needed.has(name)) rmSync(join(folder, name), { force: true })
      return following
    },
    clear: () => removeSpool(file),
  }
}

type PieceRange = { readonly at: number; readonly length: number }

const segmentAt = (path: string, range: LogRange, after: LogEnd | null, ranges: readonly PieceRange[]): Segment => ({
  range,
  after,
  pieces: ranges.map((pieceRange) => () => readAt(path, pieceRange)),
  bytes: ranges.reduce((sum, { length }) => sum + length, 0),
  drop: () => rmSync(path, { force: true }),
})

function readAt(path: string, { at, length }: PieceRange): Uint8Array {
  const descriptor = openSync(path, 'r')
  try {
    const bytes = new Uint8Array(length)
    if (readSync(descriptor, bytes, 0, length, at) !== length) throw new Error(`${path} is cut off`)
    return bytes
  } finally {
    closeSync(descriptor)
  }
}

/** Reads a range; undefined if the file is incomplete. */
function segmentIn(path: string): Segment | undefined {
  const bytes = readFileSync(path)
  const end = bytes.subarray(0, headMaxBytes).indexOf(newline)
  const head = end < 0 ? undefined : headOf(bytes.toString('utf8', 0, end))
  if (!head) return undefined
  const ranges: PieceRange[] = []
  for (let at = end + 1; at < bytes.length; ) {
    if (at + lengthBytes > bytes.length) return undefined
    const length = lengthBytes + bytes.readUInt32BE(at)
    if (at + length > bytes.length) return undefined
    ranges.push({ at, length })
    at += length
  }
  return segmentAt(path, head.range, head.after, ranges)
}

function headOf(text: string): Pick<Segment, 'range' | 'after'> | undefined {
  try {
    const head = JSON.parse(text) as { format?: unknown } & Pick<Segment, 'range' | 'after'>
    return head.format === 1 ? head : undefined
  } catch {
    return undefined
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at)
  return bytes.length
}
