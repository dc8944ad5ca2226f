/** Reads in a thread of low priority, so that requests come first. */
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { BackgroundReader } from '../engine.ts'
import { startWorker } from './worker.ts'

/** A query for the thread. `isWaitedFor`: normal instead of lowest priority. */
export type ReadRequest = { id: number; file: string; text: string; params: unknown[]; isWaitedFor: boolean }
/** Rows in the order of the columns, or the message and the SQLite code of an error. */
export type ReadResponse = { id: number; rows: unknown[] } | { id: number; failed: string; code: string | undefined }

const dialect = new SQLiteSyncDialect()

/**
 * Opens a reader. Its thread starts with the first query and ends with `close`.
 * @param isWaitedFor uses normal priority
 */
export function openBackgroundReader(file: string, isWaitedFor = false): BackgroundReader {
  const waiting = new Map<number, { resolve: (rows: never) => void; reject: (error: Error) => void }>()
  let worker: Worker | undefined
  let ended: Error | undefined
  let nextId = 0

  function end(error: Error): void {
    ended ??= error
    worker?.terminate()
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
  }
  function begin(): Worker {
    const made = startWorker('background-reader-worker')
    made.onmessage = ({ data }: MessageEvent<ReadResponse>) => {
      const { resolve, reject } = waiting.get(data.id) ?? {}
      waiting.delete(data.id)
      if ('rows' in data) resolve?.(data.rows as never)
      else reject?.(Object.assign(new Error(data.failed), { code: data.code }))
    }
    made.onerror = ({ message }) => end(new Error(message))
    return made
  }
  return {
    rows: (query) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended)
        const { sql: text, params } = dialect.sqlToQuery(query)
        const id = nextId++
        waiting.set(id, { resolve, reject })
        worker ??= begin()
        worker.postMessage({ id, file, text, params, isWaitedFor } satisfies ReadRequest)
      }),
    close: () => end(new Error('the background reader was closed')),
  }
}
