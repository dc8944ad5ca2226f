import { S3Client } from 'bun'
import { type DocumentStore, isDocumentName } from '../../core/documents.ts'
import { AppError } from '../../core/errors.ts'
import type { Log } from '../../lib/log.ts'

export type S3Account = {
  readonly endpoint: string
  readonly bucket: string
  readonly keyId: string
  readonly secret: string
  readonly region: string
  /** What every name begins with. */
  readonly prefix: string
}

type Port = {
  readonly log: Pick<Log, 'warn'>
  readonly sleep: (ms: number) => Promise<void>
  /** How long the other side may be silent. */
  readonly silentMs?: number
}

/** The least that S3 takes as a part that is not the last. One is sent while the next one is gathered. */
const partBytes = 5 * 1024 * 1024
const retries = 3
const retryAfterMs = 200
const silentMaxMs = 30_000
/** What is to be removed has no row any more, or never had one: somebody waits for the answer, and the sweep comes by anyhow. */
const removalMaxMs = 5_000
const pageSize = 1_000
const retryAfterSeconds = 5

const codeOf = (error: unknown) => (error as { code?: string }).code ?? 'unknown'
/** What asking again does not change. */
const isFinal = (error: unknown) => ['NoSuchBucket', 'AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch'].includes(codeOf(error))

/** A bucket of an S3-compatible service, by Bun's client: path style, in parts where it is longer than one. */
export function createS3Store(
  { endpoint, bucket, keyId, secret, region, prefix }: S3Account,
  { log, sleep, silentMs = silentMaxMs }: Port,
): DocumentStore {
  let made: S3Client | undefined
  const client = () => {
    made ??= new S3Client({ endpoint, bucket, region, accessKeyId: keyId, secretAccessKey: secret })
    return made
  }

  const keyOf = (name: string): string => {
    if (!isDocumentName(name)) throw new Error('not a name of a document')
    return `${prefix}${name}`
  }

  function unavailable(operation: string, error: unknown): AppError {
    if (error instanceof AppError) return error
    log.warn('documents.store_failed', { operation, code: codeOf(error), error })
    return new AppError('UNAVAILABLE', 'The store of documents does not answer: nothing was changed, try again later', {
      cause: error,
      retryAfterSeconds,
    })
  }

  const removalMs = Math.min(silentMs, removalMaxMs)

  /** One answer, in time. What is late is not waited for; Bun ends it when its connection does. */
  async function inTime<T>(answer: Promise<T>, withinMs = silentMs): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('silent')), withinMs)
    answer.catch(() => undefined)
    try {
      return await Promise.race([answer, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Asks again while that may help. @throws AppError UNAVAILABLE; NoSuchKey as it came */
  async function asked<T>(operation: string, ask: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTime(ask())
      } catch (error) {
        if (codeOf(error) === 'NoSuchKey') throw error
        if (isFinal(error) || attempt > retries) throw unavailable(operation, error)
        await sleep(retryAfterMs * 2 ** attempt)
      }
    }
  }

  const statOf = (key: string): Promise<{ size: number } | undefined> =>
    asked('stat', () => client().stat(key)).catch((error: unknown) => {
      if (codeOf(error) !== 'NoSuchKey') throw error
      return undefined
    })

  async function* read(key: string, size: number): AsyncGenerator<Uint8Array> {
    let left = size
    const reader = client().file(key).stream().getReader()
    try {
      for (;;) {
        const { done, value } = await inTime(reader.read())
        // Bun takes a body that breaks off for one that ends.
        if (done && left > 0) throw new Error('what was kept broke off')
        if (done) return
        left -= value.length
        yield value
      }
    } catch (error) {
      throw codeOf(error) === 'NoSuchKey' ? new AppError('NOT_FOUND', 'No such document') : unavailable('get', error)
    } finally {
      reader.cancel().catch(() => undefined)
    }
  }

  return {
    kind: 'S3',
    async put(name, chunks) {
      const key = keyOf(name)
      const source = watched(chunks, silentMs)
      try {
        // As a stream, since Bun's writer waits for nobody and holds all that it was given. One that breaks off makes Bun abort the parts.
        const sent = client().write(key, new Response(source.stream), { partSize: partBytes, queueSize: 1, retry: retries })
        sent.catch(() => undefined)
        await Promise.race([sent, source.failed])
        const kept = await statOf(key)
        if (kept?.size !== source.bytes()) throw new Error('what was kept is not as long as what was sent')
        return kept.size
      } catch (error) {
        source.stop(error)
        // Whatever of it may be there: nobody knows its name.
        await inTime(client().delete(key), removalMs).catch(() => undefined)
        throw source.fault() ?? unavailable('put', error)
      } finally {
        source.end()
      }
    },
    async get(name) {
      const key = keyOf(name)
      const found = await statOf(key)
      return found && { bytes: found.size, chunks: () => read(key, found.size) }
    },
    async delete(name) {
      try {
        await inTime(client().delete(keyOf(name)), removalMs)
      } catch (error) {
        if (codeOf(error) !== 'NoSuchKey') throw unavailable('delete', error)
      }
    },
    async *list() {
      for (let startAfter: string | undefined; ; ) {
        const page = await asked('list', () => client().list({ prefix, maxKeys: pageSize, ...(startAfter ? { startAfter } : {}) }))
        for (const { key, size = 0, lastModified = '' } of page.contents ?? []) {
          const name = key.slice(prefix.length)
          if (isDocumentName(name)) yield { name, bytes: size, at: Date.parse(lastModified) }
        }
        startAfter = page.contents?.at(-1)?.key
        if (!page.isTruncated || startAfter === undefined) return
      }
    },
    free: async () => undefined,
  }
}

/** A source as a stream that is read as it is sent, and how long its receiver is silent: the time that the source takes is its own. */
function watched(chunks: AsyncIterable<Uint8Array>, silentMs: number) {
  const iterator = chunks[Symbol.asyncIterator]()
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => undefined)
  let [bytes, fault] = [0, undefined as unknown]
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const late = () => reject(new Error('silent'))
  let timer = setTimeout(late, silentMs)
  const stream = new ReadableStream<Uint8Array>(
    {
      start(made) {
        controller = made
      },
      async pull(made) {
        clearTimeout(timer)
        try {
          const { done, value } = await iterator.next()
          if (done) made.close()
          else {
            bytes += value.length
            made.enqueue(value)
          }
        } catch (error) {
          fault = error
          reject(error)
          throw error
        } finally {
          timer = setTimeout(late, silentMs)
        }
      },
    },
    { highWaterMark: 0 },
  )
  return {
    stream,
    failed,
    bytes: () => bytes,
    /** What the source itself failed of. */
    fault: () => fault,
    /** Nobody waits any more. */
    end: () => clearTimeout(timer),
    stop(error: unknown): void {
      try {
        controller?.error(error)
      } catch {
        // It has ended by itself.
      }
      iterator.return?.().catch(() => undefined)
    },
  }
}
