/** Follows the log of a database file. A thread reads the log; a process copies the file. */
import { resolve } from 'node:path'
import { type CommitLog, LogBroken, type LogLengths, type LogRange, type ShippedLog } from '../engine.ts'
import { startWorker } from './worker.ts'

/** A call for the log thread. `open` comes first; `shipped` is its argument. */
export type LogRequest = {
  id: number
  ask: 'open' | 'read' | 'next' | 'piece' | 'markShipped' | 'checkpointLong' | 'finish' | 'discard' | 'close'
  file: string
  shipped?: ShippedLog | undefined
}
/** Results of all calls. */
export type LogValue = LogRange | LogLengths | Uint8Array | number | string | boolean | undefined
/** The result of a call, or the error by which it failed. */
export type LogResponse = { id: number; value: LogValue } | { id: number; failed: string; name: string; code: string | undefined }

/**
 * Starts following the log of a file that this process has open.
 * @param shipped the shipped part
 */
export async function followLog(file: string, shipped?: ShippedLog): Promise<CommitLog> {
  const worker = startWorker('log-worker')
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  const copies = new Set<{ kill(): void }>()
  let nextId = 0
  let ended: Error | undefined

  function end(error: Error): void {
    ended ??= error
    worker.terminate()
    for (const copy of copies) copy.kill()
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
  }
  worker.onmessage = ({ data }: MessageEvent<LogResponse>) => {
    const { resolve, reject } = waiting.get(data.id) ?? {}
    waiting.delete(data.id)
    if (!('failed' in data)) return resolve?.(data.value as never)
    const { failed, name, code } = data
    reject?.(name === 'LogBroken' ? new LogBroken(failed) : Object.assign(new Error(failed), { code }))
  }
  worker.onerror = ({ message }) => end(new Error(message))

  const ask = <T>(what: LogRequest['ask']): Promise<T> =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended)
      const id = nextId++
      waiting.set(id, { resolve, reject })
      worker.postMessage({ id, ask: what, file, shipped } satisfies LogRequest)
    })

  let closing: Promise<void> | undefined
  /** The thread closes its connections, so that the log can restart. */
  async function closeAll(): Promise<void> {
    const done = ask('close').catch(() => undefined)
    ended = new Error('the log is closed')
    for (const [id, { reject }] of waiting) if (id !== nextId - 1) reject(ended)
    for (const copy of copies) copy.kill()
    await Promise.race([done, new Promise((resolve) => void setTimeout(resolve, closeMaxMs).unref())])
    end(ended)
  }
  const close = () => (closing ??= ended ? Promise.resolve() : closeAll())

  let continues: boolean
  try {
    continues = await ask<boolean>('open')
  } catch (error) {
    end(new Error('the log is closed'))
    throw error
  }
  return {
    continues,
    read: () => ask('read'),
    next: () => ask('next'),
    async *pieces() {
      for (let coming = ask<Uint8Array | undefined>('piece'); ; ) {
        const piece = await coming
        if (!piece) return
        // The next piece is read and compressed meanwhile.
        coming = ask<Uint8Array | undefined>('piece')
        coming.catch(() => undefined)
        yield piece
      }
    },
    markShipped: () => ask('markShipped'),
    checkpointLong: () => ask('checkpointLong'),
    discard: () => ask<void>('discard').finally(close),
    finish: () => ask('finish'),
    async *file() {
      const copy = Bun.spawn([process.execPath, '-e', copying, resolve(file)], {
        // Elsewhere a `.env` or `bunfig.toml` could be read.
        cwd: '/',
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'ignore',
        // Also in the compiled program.
        env: { BUN_BE_BUN: '1' },
      })
      copies.add(copy)
      try {
        yield* copy.stdout
        if ((await copy.exited) !== 0) throw new Error('the database file could not be copied')
      } finally {
        copies.delete(copy)
        copy.kill()
      }
    },
    close,
  }
}

/** Time limit of an unresponsive thread. */
const closeMaxMs = 10_000

/**
 * A separate process, because closing another descriptor of an open SQLite file drops its locks. A page that a
 * checkpoint is writing comes again in the log. The pieces have the format of framing.ts.
 */
const copying = `
const fs = require('fs'), zlib = require('zlib')
try { require('os').setPriority(10) } catch {}
const file = fs.openSync(process.argv[1], 'r')
const bytes = Buffer.alloc(1048576)
const write = (some) => { for (let at = 0; at < some.length; ) at += fs.writeSync(1, some, at) }
for (let read; (read = fs.readSync(file, bytes, 0, bytes.length, null)) > 0; ) {
  const packed = zlib.zstdCompressSync(bytes.subarray(0, read))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(packed.length)
  write(length)
  write(packed)
}
`
