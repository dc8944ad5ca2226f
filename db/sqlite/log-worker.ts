/** The thread of `followLog`. */
import { engineErrorCode } from '../engine.ts'
import type { LogRequest, LogResponse, LogValue } from './log-follower.ts'
import { type LogTail, openLogTail } from './log-tail.ts'

declare const self: Worker

let tail: LogTail | undefined
let pieces: Generator<Uint8Array> | undefined

self.onmessage = ({ data }: MessageEvent<LogRequest>) => self.postMessage(answer(data))

function answer({ id, ask, file, shipped }: LogRequest): LogResponse {
  try {
    return { id, value: handleRequest(ask, file, shipped) }
  } catch (error) {
    const isError = error instanceof Error
    return { id, failed: isError ? error.message : String(error), name: isError ? error.name : '', code: engineErrorCode(error) }
  }
}

function handleRequest(ask: LogRequest['ask'], file: string, shipped: LogRequest['shipped']): LogValue {
  tail ??= openLogTail(file, { shipped })
  switch (ask) {
    case 'open':
      return tail.continues
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
    case 'markShipped':
      return void tail.markShipped()
    case 'checkpointLong':
      return tail.checkpointLong()
    case 'finish':
      return tail.finish()
    case 'discard':
      return void tail.discard()
    case 'close':
      return void tail.close()
  }
}
