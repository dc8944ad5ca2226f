/** The thread of `copyInWorker`. */
import { Database as Sqlite } from 'bun:sqlite'
import { DatabaseRefused, engineErrorCode, type FileFigures } from '../engine.ts'
import { type CopyAnswer, type CopyOrder, copyInto, problemsOf, quickProblemsOf } from './copy.ts'
import { digestOf, documentsIn, figuresOf } from './copy-manifest.ts'
import { causeOf } from './open-failure.ts'
import { lowerThreadPriority } from './thread-priority.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<CopyOrder>) => self.postMessage(answer(data))

function answer({ source, target, what }: CopyOrder): CopyAnswer {
  try {
    if (what !== undefined) lowerThreadPriority()
    using connection = new Sqlite(source, { readonly: true })
    connection.run('PRAGMA busy_timeout = 5000')
    connection.run('PRAGMA trusted_schema = 0')
    if (what === 'documents') return { documents: documentsIn(connection) }
    if (target === undefined) return { problems: what === 'quick' ? quickProblemsOf(connection) : problemsOf(connection) }
    const temporary = copyInto(connection, target, () => self.postMessage('copied'))
    return what === 'figures' ? { temporary, figures: described(temporary) } : { temporary }
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

function described(file: string): FileFigures {
  const figures = () => {
    using copy = new Sqlite(file, { readonly: true })
    return figuresOf(copy)
  }
  return { ...figures(), ...digestOf(file) }
}
