/** The thread that follows the log; see followLog. */
import type { LogRange } from '../engine.ts'
import { engineErrorCode } from '../engine.ts'
import type { LogAnswer, LogQuestion } from './follow.ts'
import { type LogTail, openTail } from './log-tail.ts'

declare const self: Worker

let tail: LogTail | undefined
let pieces: Generator<Uint8Array> | undefined

self.onmessage = ({ data }: MessageEvent<LogQuestion>) => self.postMessage(answer(data))

function answer({ id, ask, file, kept }: LogQuestion): LogAnswer {
  try {
    return { id, value: asked(ask, file, kept) }
  } catch (error) {
    const isError = error instanceof Error
    return { id, failed: isError ? error.message : String(error), name: isError ? error.name : '', code: engineErrorCode(error) }
  }
}

function asked(
  ask: LogQuestion['ask'],
  file: string,
  kept: LogQuestion['kept'],
): LogRange | Uint8Array | number | string | boolean | undefined {
  tail ??= openTail(file, { kept })
  if (ask === 'open') return tail.goesOn
  if (ask === 'finish') return tail.finish()
  if (ask === 'next') {
    pieces = undefined
    return tail.next()
  }
  if (ask === 'piece') {
    pieces ??= tail.pieces()
    const { done, value } = pieces.next()
    return done ? undefined : value
  }
  if (ask === 'kept') tail.kept()
  return ask === 'bytes' ? tail.logBytes() : undefined
}
