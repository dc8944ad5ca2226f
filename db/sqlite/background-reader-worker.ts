/** The thread of `openBackgroundReader`. */
import { Database as Sqlite } from 'bun:sqlite'
import { engineErrorCode } from '../engine.ts'
import type { ReadRequest, ReadResponse } from './background-reader.ts'
import { lowerThreadPriority } from './thread-priority.ts'

declare const self: Worker

let connection: Sqlite | undefined

self.onmessage = ({ data }: MessageEvent<ReadRequest>) => self.postMessage(answer(data))

function answer({ id, file, text, params, isWaitedFor }: ReadRequest): ReadResponse {
  try {
    connection ??= open(file, isWaitedFor)
    using statement = connection.prepare<unknown, never[]>(text)
    return { id, rows: statement.all(...(params as never[])) }
  } catch (error) {
    return { id, failed: error instanceof Error ? error.message : String(error), code: engineErrorCode(error) }
  }
}

function open(file: string, isWaitedFor: boolean): Sqlite {
  if (!isWaitedFor) lowerThreadPriority()
  const opened = new Sqlite(file, { readonly: true, strict: true })
  for (const pragma of ['busy_timeout = 5000', 'cache_size = -16000', 'trusted_schema = 0', 'temp_store = MEMORY'])
    opened.run(`PRAGMA ${pragma}`)
  return opened
}
