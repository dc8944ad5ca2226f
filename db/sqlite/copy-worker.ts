/** The thread that copies; see copyInWorker. */
import { Database as Sqlite } from 'bun:sqlite'
import { DatabaseRefused, engineErrorCode } from '../engine.ts'
import { type CopyAnswer, type CopyOrder, copyInto } from './copy.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<CopyOrder>) => self.postMessage(answer(data))

function answer({ source, target }: CopyOrder): CopyAnswer {
  try {
    using connection = new Sqlite(source, { readonly: true })
    connection.run('PRAGMA busy_timeout = 5000')
    return { temporary: copyInto(connection, target) }
  } catch (error) {
    return {
      failed: error instanceof Error ? error.message : String(error),
      ours: error instanceof DatabaseRefused,
      code: engineErrorCode(error),
    }
  }
}
