/** Makes a database file out of a copy of its pages and of the frames that were written to its log since. */
import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { LogHeader, LogSum } from '../engine.ts'
import { frameHeaderBytes, frameOf } from './log.ts'

/** A file that nobody has open yet. */
export type Pages = ReturnType<typeof openPages>

/** @param file is made if it is not there */
export function openPages(file: string) {
  const descriptor = openSync(file, 'a+', 0o600)
  closeSync(descriptor)
  const pages = openSync(file, 'r+')
  let bytes: number | undefined
  return {
    /** Puts bytes where they belong. */
    write(at: number, some: Uint8Array): void {
      writeAll(pages, some, at)
    },
    /**
     * Puts the pages of frames where they belong.
     * @param frames whole ones
     * @returns what the checksums come to after them, how many they are, and whether the last of them ends a commit; undefined where one is not the one that follows
     */
    apply(frames: Uint8Array, header: LogHeader, before: LogSum): { sum: LogSum; frames: number; endsCommit: boolean } | undefined {
      const size = frameHeaderBytes + header.pageSize
      let [sum, endsCommit] = [before, false]
      for (let at = 0; at < frames.length; at += size) {
        const whole = frames.subarray(at, at + size)
        const frame = whole.length === size ? frameOf(whole, header, sum) : undefined
        if (!frame) return undefined
        writeAll(pages, whole.subarray(frameHeaderBytes), (frame.page - 1) * header.pageSize)
        sum = frame.sum
        endsCommit = frame.pagesAfter > 0
        if (endsCommit) bytes = frame.pagesAfter * header.pageSize
      }
      return { sum, frames: frames.length / size, endsCommit }
    },
    /** As long as the last commit has left it, and on the disk. */
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
