/** Reads the write-ahead log as a plain file; SQLite does not lock it. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { LogBroken, type LogHeader, type LogRange, type LogSum } from '../engine.ts'
import { type Frame, frameHeaderBytes, frameOf, headerOf, logHeaderBytes, pagesAfterOf, sumOfFrame } from './log.ts'

/** A position in a log generation, with its checksum. */
export type Position = { readonly header: LogHeader | undefined; readonly frame: number; readonly sum: LogSum }

const pieceFrames = 256

/** Returns the bytes of a frame with its page. */
export const frameBytes = ({ pageSize }: Pick<LogHeader, 'pageSize'>) => frameHeaderBytes + pageSize

/**
 * Returns the checksum after a number of frames.
 * @throws LogBroken
 */
export function sumAt(path: string, header: LogHeader, frames: number): LogSum {
  if (frames === 0) return header.sum
  const sum = withFile(path, (descriptor) => {
    const bytes = Buffer.allocUnsafeSlow(frameHeaderBytes)
    const at = logHeaderBytes + (frames - 1) * frameBytes(header)
    return readSync(descriptor, bytes, 0, frameHeaderBytes, at) === frameHeaderBytes ? sumOfFrame(bytes) : undefined
  })
  if (!sum) throw new LogBroken('the log is cut off')
  return sum
}

/**
 * Returns the last frame, at most `wanted` and after `from`, that ends a commit. Without one, the first such frame
 * after `wanted`.
 */
export function commitNear(path: string, header: LogHeader, { from, wanted, to }: Record<'from' | 'wanted' | 'to', number>): number {
  if (wanted >= to) return to
  const found = withFile(path, (descriptor) => {
    const bytes = Buffer.allocUnsafeSlow(frameHeaderBytes)
    const endsCommit = (frames: number) =>
      readSync(descriptor, bytes, 0, frameHeaderBytes, logHeaderBytes + (frames - 1) * frameBytes(header)) === frameHeaderBytes &&
      pagesAfterOf(bytes) > 0
    for (let frames = wanted; frames > from; frames--) if (endsCommit(frames)) return frames
    for (let frames = wanted + 1; frames < to; frames++) if (endsCommit(frames)) return frames
    return to
  })
  return found ?? to
}

/** Reads the log's header; undefined without a complete one. */
export function readHeader(path: string): LogHeader | undefined {
  return withFile(path, (descriptor) => {
    const bytes = Buffer.allocUnsafeSlow(logHeaderBytes)
    return readSync(descriptor, bytes, 0, logHeaderBytes, 0) === logHeaderBytes ? headerOf(bytes) : undefined
  })
}

function withFile<T>(path: string, use: (descriptor: number) => T): T | undefined {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Reads and validates the frames of a range; returns its end.
 * @throws LogBroken
 */
export function* readFrames(path: string, { header, from, to, sum }: LogRange): Generator<Uint8Array, Position> {
  const size = frameBytes(header)
  const descriptor = openSync(path, 'r')
  try {
    if (fstatSync(descriptor).size < logHeaderBytes + to * size) throw new LogBroken('the log is cut off')
    const buffer = Buffer.allocUnsafeSlow(Math.min(pieceFrames, to - from) * size)
    let frame: Frame | undefined
    let before = sum
    for (let at = from; at < to; ) {
      const count = Math.min(pieceFrames, to - at)
      const piece = buffer.subarray(0, count * size)
      if (readSync(descriptor, piece, 0, piece.length, logHeaderBytes + at * size) !== piece.length)
        throw new LogBroken('the log is cut off')
      for (let nth = 0; nth < count; nth++) {
        frame = frameOf(piece.subarray(nth * size, (nth + 1) * size), header, before)
        if (!frame) throw new LogBroken('a frame of the log is damaged')
        before = frame.sum
      }
      at += count
      yield piece
    }
    if (!frame || frame.pagesAfter === 0) throw new LogBroken('the log ends within a commit')
    return { header, frame: to, sum: before }
  } finally {
    closeSync(descriptor)
  }
}
