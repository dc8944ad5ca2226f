/** The thread that follows the log; see followLog. */
import { engineErrorCode } from '../engine.ts'
import type { LogAnswer, LogQuestion, LogValue } from './log-follower.ts'
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

function asked(ask: LogQuestion['ask'], file: string, kept: LogQuestion['kept']): LogValue {
  tail ??= openTail(file, { kept })
  switch (ask) {
    case 'open':
      return tail.goesOn
    case 'read':
      return tail.read()
    case 'next':
      pieces = undefined
      return tail.next()
    case 'piece': {
      pieces ??= tail.pieces()
      const { done, value } = pieces.next()
      return done ? undefined : value
    }
    case 'kept':
      return void tail.kept()
    case 'tend':
      return tail.tend()
    case 'finish':
      return tail.finish()
    case 'letGo':
      return void tail.letGo()
    case 'close':
      return void tail.close()
  }
}
