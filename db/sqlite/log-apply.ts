/** Restores a database file from a copy of its pages and later log frames. */
import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { LogHeader, LogSum } from '../engine.ts'
import { frameHeaderBytes, frameOf } from './log.ts'

/** A file that no process has open. */
export type Pages = ReturnType<typeof openPages>

/**
 * Opens a file for writing pages and frames.
 * @param file created if missing
 */
export function openPages(file: string) {
  const descriptor = openSync(file, 'a+', 0o600)
  closeSync(descriptor)
  const pages = openSync(file, 'r+')
  let bytes: number | undefined
  return {
    /** Writes bytes at a position. */
    write(at: number, some: Uint8Array): void {
      writeAll(pages, some, at)
    },
    /**
     * Writes the pages of frames.
     * @param frames whole frames
     * @returns checksum, number of frames, and whether the last one ends a commit; undefined if a frame does not follow
     */
    apply(frames: Uint8Array, header: LogHeader, before: LogSum): { sum: LogSum; frames: number; endsCommit: boolean } | undefined {
      const size = frameHeaderBytes + header.pageSize
      let [sum, endsCommit] = [before, false]
      for (let at = 0; at < frames.length; at += size) {
        const frameBytes = frames.subarray(at, at + size)
        const frame = frameBytes.length === size ? frameOf(frameBytes, header, sum) : undefined
        if (!frame) return undefined
        writeAll(pages, frameBytes.subarray(frameHeaderBytes), (frame.page - 1) * header.pageSize)
        sum = frame.sum
        endsCommit = frame.pagesAfter > 0
        if (endsCommit) bytes = frame.pagesAfter * header.pageSize
      }
      return { sum, frames: frames.length / size, endsCommit }
    },
    /** Truncates the file to the size after the last commit, and syncs. */
    finish(): void {
      if (bytes !== undefined) ftruncateSync(pages, bytes)
      fsyncSync(pages)
    },
    close: () => closeSync(pages),
  }
}

function writeAll(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at, position + at)
}
