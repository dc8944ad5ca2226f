/** Reads in a thread of its own: whoever is served has the loop, and the processor first. */
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { Aside } from '../engine.ts'

export type AsideQuestion = { id: number; file: string; text: string; params: unknown[]; isWaitedFor: boolean }
export type AsideAnswer = { id: number; rows: unknown[] } | { id: number; failed: string; code: string | undefined }

const dialect = new SQLiteSyncDialect()

/**
 * The thread begins with the first question, and ends with `close`.
 * @param isWaitedFor it has the processor as others have it
 */
export function readAside(file: string, isWaitedFor = false): Aside {
  const waiting = new Map<number, { resolve: (rows: never) => void; reject: (error: Error) => void }>()
  let worker: Worker | undefined
  let ended: Error | undefined
  let asked = 0

  function end(error: Error): void {
    ended ??= error
    worker?.terminate()
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
  }
  function begin(): Worker {
    const made = new Worker(workerUrl())
    made.onmessage = ({ data }: MessageEvent<AsideAnswer>) => {
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
        const id = asked++
        waiting.set(id, { resolve, reject })
        worker ??= begin()
        worker.postMessage({ id, file, text, params, isWaitedFor } satisfies AsideQuestion)
      }),
    close: () => end(new Error('what was asked aside was closed')),
  }
}

/** In the compiled program the worker lies beside the entry, by its path in the source tree; see the build script. */
const workerUrl = () =>
  (import.meta.url.endsWith('/db/sqlite/background-reader.ts')
    ? new URL('./background-reader-worker.ts', import.meta.url)
    : new URL('./db/sqlite/background-reader-worker.js', import.meta.url)
  ).href
