import { S3Client } from 'bun'
import { type DocumentStore, isDocumentName } from '../../core/documents.ts'
import { AppError } from '../../core/errors.ts'
import type { Log } from '../../lib/log.ts'
import { release } from '../../lib/sealed-stream.ts'
import { signed } from './s3-signing.ts'

export type S3Account = {
  readonly endpoint: string
  readonly bucket: string
  readonly keyId: string
  readonly secret: string
  readonly region: string
  /** What every name begins with. */
  readonly prefix: string
}

export type Port = {
  readonly log: Pick<Log, 'warn'>
  readonly sleep: (ms: number) => Promise<void>
  /** How long the other side may be silent. */
  readonly silentMs?: number
}

/** The least that S3 takes as a part that is not the last. One is gathered, and sent, before the next one. */
const partMinBytes = 5 * 1024 * 1024
const partsMax = 10_000
/** What comes may be so much more than was said. */
const headroom = 1.25
const sliceBytes = 64 * 1024
const retries = 3
const retryAfterMs = 200
const silentMaxMs = 30_000
/** A part that leaves at this pace is not late, however long it is. */
const bytesPerMs = 64
/** What is to be removed has no row any more, or never had one: somebody waits for the answer, and the sweep comes by anyhow. */
const removalMaxMs = 5_000
const pageSize = 1_000
const retryAfterSeconds = 5

const codeOf = (error: unknown) => (error as { code?: string }).code ?? 'unknown'
/** One word, whoever said it. */
const wordOf = (error: unknown) => (error instanceof Silent ? 'silent' : (/^\w{1,60}$/.exec(codeOf(error))?.[0] ?? 'unknown'))
/** What asking again does not change. */
const isFinal = (error: unknown) => ['NoSuchBucket', 'AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch'].includes(codeOf(error))

class Silent extends Error {
  constructor() {
    super('silent')
  }
}

/** What a bucket is used for: which names are ours in it, and how it is spoken of. */
export type BucketUse = {
  /** @throws Error for a name that is none of ours */
  readonly refuseName: (name: string) => void
  readonly isName: (text: string) => boolean
  /** The event of the log that tells of a failure. */
  readonly failed: string
  /** What the caller is told of one, by the code that S3 gave or `silent`. */
  readonly unavailable: (code: string) => string
  /** What the caller is told of what is gone. */
  readonly missing: string
  /** A name is given once: what may be there of a put that failed is removed. Otherwise what was there before stays. */
  readonly namesOnce: boolean
  /** Somebody waits for what is put: a part that is late is the end of it. Otherwise it has the time that its length takes, and is sent again. */
  readonly isWaitedFor: boolean
}

const ofDocuments: BucketUse = {
  refuseName: (name) => {
    if (!isDocumentName(name)) throw new Error('not a name of a document')
  },
  isName: isDocumentName,
  failed: 'documents.store_failed',
  unavailable: () => 'The store of documents does not answer: nothing was changed, try again later',
  missing: 'No such document',
  namesOnce: true,
  isWaitedFor: true,
}

const ofPictures: BucketUse = {
  ...ofDocuments,
  failed: 'pictures.store_failed',
  unavailable: () => 'The store of pictures does not answer: nothing was changed, try again later',
  missing: 'No such picture',
}

/** A bucket of an S3-compatible service for documents, or for pictures. */
export function createS3Store(account: S3Account, port: Port, kind: 'S3' | 'MEDIA_S3' = 'S3'): DocumentStore {
  const { list, ...bucket } = createBucket(account, port, kind === 'S3' ? ofDocuments : ofPictures)
  return { kind, ...bucket, list: () => list('') }
}

/**
 * A bucket of an S3-compatible service, path style, in parts where a file is longer than one. By Bun's client, but for what is put there: that
 * holds three parts and more of a file, and one is enough.
 */
export function createBucket(
  { endpoint, bucket, keyId, secret, region, prefix }: S3Account,
  { log, sleep, silentMs = silentMaxMs }: Port,
  use: BucketUse,
) {
  let made: S3Client | undefined
  const client = () => {
    made ??= new S3Client({ endpoint, bucket, region, accessKeyId: keyId, secretAccessKey: secret })
    return made
  }

  const keyOf = (name: string): string => {
    use.refuseName(name)
    return `${prefix}${name}`
  }

  function unavailable(operation: string, error: unknown): AppError {
    if (error instanceof AppError) return error
    log.warn(use.failed, { operation, code: codeOf(error), error })
    return new AppError('UNAVAILABLE', use.unavailable(wordOf(error)), { cause: error, retryAfterSeconds })
  }

  const removalMs = Math.min(silentMs, removalMaxMs)

  /** One answer, in time. What is late is not waited for; Bun ends it when its connection does. */
  async function inTime<T>(answer: Promise<T>, withinMs = silentMs): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Silent()), withinMs)
    answer.catch(() => undefined)
    try {
      return await Promise.race([answer, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Asks again while that may help. @throws AppError UNAVAILABLE; NoSuchKey as it came */
  async function asked<T>(operation: string, ask: () => Promise<T>, withinMs?: number): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTime(ask(), withinMs)
      } catch (error) {
        if (codeOf(error) === 'NoSuchKey') throw error
        const isLate = error instanceof Silent && operation === 'put' && use.isWaitedFor
        if (isFinal(error) || isLate || attempt > retries) throw unavailable(operation, error)
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
      throw codeOf(error) === 'NoSuchKey' ? new AppError('NOT_FOUND', use.missing) : unavailable('get', error)
    } finally {
      reader.cancel().catch(() => undefined)
    }
  }

  /** How long an answer to so many bytes may take. */
  const timeFor = (bytes: number): number => (use.isWaitedFor ? silentMs : silentMs + bytes / bytesPerMs)

  /** Asks for something by hand. The body is not looked at any more once this has ended. @throws Error with S3's code */
  async function send(
    method: string,
    key: string,
    query: Readonly<Record<string, string>>,
    body?: string | Uint8Array<ArrayBuffer>,
  ): Promise<{ text: string; etag: string }> {
    const { url, headers } = await signed({ keyId, secret, region }, { method, endpoint, path: `${bucket}/${key}`, query }, new Date())
    const ended = new AbortController()
    try {
      const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : inSlices(body) }
      // S3 takes nothing that does not say how long it is, as a stream does not by itself.
      const length = { 'content-length': String(body?.length ?? 0) }
      const asking = fetch(url, { method, headers: { ...headers, ...length }, redirect: 'error', signal: ended.signal, ...sent })
      const answer = await inTime(asking, timeFor(body?.length ?? 0))
      const text = await inTime(answer.text())
      // What was begun with 200 may have failed all the same.
      const code = /<Error>.*?<Code>([^<]+)<\/Code>/s.exec(text)?.[1]
      if (!answer.ok || code !== undefined)
        throw Object.assign(new Error(`S3 answered ${answer.status}`), { code: code ?? String(answer.status) })
      return { text, etag: answer.headers.get('etag') ?? '' }
    } finally {
      ended.abort()
    }
  }

  /** What is sent has its own time in `send`. */
  const sent = (key: string, query: Readonly<Record<string, string>>, bytes: Uint8Array<ArrayBuffer>) =>
    asked('put', () => send('PUT', key, query, bytes), 2 * timeFor(bytes.length))

  /** A file that is longer than a part. */
  function partsOf(key: string) {
    const tags: string[] = []
    let uploadId: string | undefined
    return {
      async add(part: Uint8Array<ArrayBuffer>): Promise<void> {
        uploadId ??= /<UploadId>([^<]+)<\/UploadId>/.exec((await asked('put', () => send('POST', key, { uploads: '' }))).text)?.[1]
        if (uploadId === undefined) throw unavailable('put', new Error('S3 named no upload'))
        if (tags.length === partsMax) throw unavailable('put', new Error('longer than was said: S3 takes no more parts'))
        const query = { partNumber: String(tags.length + 1), uploadId }
        tags.push((await sent(key, query, part)).etag)
      },
      async complete(): Promise<void> {
        const parts = tags.map((etag, nth) => `<Part><PartNumber>${nth + 1}</PartNumber><ETag>${etag}</ETag></Part>`).join('')
        const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`
        await asked('put', () =>
          send('POST', key, { uploadId: uploadId ?? '' }, body).catch((error: unknown) => {
            // Asked again, since the first answer was lost: whether it is whole is looked at in any case.
            if (codeOf(error) !== 'NoSuchUpload') throw error
          }),
        )
      },
      async abort(): Promise<void> {
        if (uploadId !== undefined) await send('DELETE', key, { uploadId })
      },
    }
  }

  return {
    /** @param expected about how many bytes will come, where that is known: of what is long, parts are longer, since their number is bounded */
    async put(name: string, chunks: AsyncIterable<Uint8Array>, expected = 0): Promise<number> {
      const key = keyOf(name)
      const partBytes = Math.max(partMinBytes, Math.ceil((expected * headroom) / partsMax))
      const buffer = new Uint8Array(partBytes)
      const parts = partsOf(key)
      let [bytes, length] = [0, 0]
      try {
        for await (const chunk of chunks)
          for (let at = 0; at < chunk.length; ) {
            if (length === partBytes) {
              await parts.add(buffer)
              length = 0
            }
            const some = chunk.subarray(at, at + partBytes - length)
            buffer.set(some, length)
            length += some.length
            bytes += some.length
            at += some.length
          }
        const last = buffer.subarray(0, length)
        if (bytes <= partBytes) await sent(key, {}, last)
        else {
          await parts.add(last)
          await parts.complete()
        }
        const kept = await statOf(key)
        if (kept?.size !== bytes) throw unavailable('put', new Error('what was kept is not as long as what was sent'))
        release(buffer)
        return bytes
      } catch (error) {
        // Whatever of it may be there: nobody knows its name.
        await Promise.allSettled([parts.abort(), ...(use.namesOnce ? [inTime(client().delete(key), removalMs)] : [])])
        throw error
      }
    },
    async get(name: string) {
      const key = keyOf(name)
      const found = await statOf(key)
      return found && { bytes: found.size, chunks: () => read(key, found.size) }
    },
    async delete(name: string): Promise<void> {
      try {
        await inTime(client().delete(keyOf(name)), removalMs)
      } catch (error) {
        if (codeOf(error) !== 'NoSuchKey') throw unavailable('delete', error)
      }
    },
    async *list(start: string): AsyncGenerator<{ name: string; bytes: number; at: number }> {
      for (let startAfter: string | undefined; ; ) {
        const page = await asked('list', () =>
          client().list({ prefix: `${prefix}${start}`, maxKeys: pageSize, ...(startAfter ? { startAfter } : {}) }),
        )
        for (const { key, size = 0, lastModified = '' } of page.contents ?? []) {
          const name = key.slice(prefix.length)
          if (use.isName(name)) yield { name, bytes: size, at: Date.parse(lastModified) }
        }
        startAfter = page.contents?.at(-1)?.key
        if (!page.isTruncated || startAfter === undefined) return
      }
    },
    free: async (): Promise<number | undefined> => undefined,
  }
}

/** What is sent whole is copied whole, twice: in slices it is copied as it leaves. */
function inSlices(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (at >= bytes.length) return controller.close()
        controller.enqueue(bytes.subarray(at, at + sliceBytes))
        at += sliceBytes
      },
    },
    { highWaterMark: 0 },
  )
}
