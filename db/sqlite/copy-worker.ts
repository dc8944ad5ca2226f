/** The thread that copies; see copyInWorker. */
import { Database as Sqlite } from 'bun:sqlite'
import { DatabaseRefused, engineErrorCode } from '../engine.ts'
import { causeOf } from './cause.ts'
import { type CopyAnswer, type CopyOrder, copyInto, problemsOf } from './copy.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<CopyOrder>) => self.postMessage(answer(data))

function answer({ source, target }: CopyOrder): CopyAnswer {
  try {
    using connection = new Sqlite(source, { readonly: true })
    connection.run('PRAGMA busy_timeout = 5000')
    connection.run('PRAGMA trusted_schema = 0')
    if (target === undefined) return { problems: problemsOf(connection) }
    return { temporary: copyInto(connection, target, () => self.postMessage('copied')) }
  } catch (thrown) {
    const error = causeOf(thrown, source)
    return {
      path: error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined,
      failed: error instanceof Error ? error.message : String(error),
      ours: error instanceof DatabaseRefused,
      code: engineErrorCode(error),
    }
  }
}
