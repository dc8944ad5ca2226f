import { S3Client } from 'bun'
import { type DocumentStore, isDocumentName } from '../../core/documents.ts'
import { AppError } from '../../core/errors.ts'
import type { Log } from '../../lib/log.ts'
import { release } from '../../lib/sealed-stream.ts'
import { signRequest } from './s3-signing.ts'

export type S3Account = {
  readonly endpoint: string
  readonly bucket: string
  readonly keyId: string
  readonly secret: string
  readonly region: string
  /** The prefix of every name. */
  readonly prefix: string
}

export type Port = {
  readonly log: Pick<Log, 'warn'>
  readonly sleep: (ms: number) => Promise<void>
  /** The timeout without a response. */
  readonly responseTimeoutMs?: number
}

/** S3's minimum for parts other than the last. One part is buffered at a time. */
const partMinBytes = 5 * 1024 * 1024
const partsMax = 10_000
/** The content may exceed the declared length by this factor. */
const headroom = 1.25
const sliceBytes = 64 * 1024
const retries = 3
const retryAfterMs = 200
const responseTimeoutDefaultMs = 30_000
/** The pace at which a part is not considered late. */
const bytesPerMs = 64
/** Short, since callers wait and the sweep removes what is left. */
const removalMaxMs = 5_000
const pageSize = 1_000
const retryAfterSeconds = 5

const codeOf = (error: unknown) => (error as { code?: string }).code ?? 'unknown'
/** One word for the error code, of S3 or of Bun. */
const errorLabel = (error: unknown) => (error instanceof StoreTimeout ? 'silent' : (/^\w{1,60}$/.exec(codeOf(error))?.[0] ?? 'unknown'))
/** Errors that a retry does not solve. */
const isFinal = (error: unknown) => ['NoSuchBucket', 'AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch'].includes(codeOf(error))

class StoreTimeout extends Error {
  constructor() {
    super('silent')
  }
}

/** What a bucket is used for. */
type BucketUse = {
  /** @throws Error for a name of another form */
  readonly refuseName: (name: string) => void
  readonly isName: (text: string) => boolean
  /** The log event of a failure. */
  readonly failed: string
  /** The message of a failure, by the code of S3 or `silent`. */
  readonly unavailable: (code: string) => string
  /** The message for a missing object. */
  readonly missing: string
  /**
   * Whether names are never reused, so that remains of a failed put are removed. Otherwise the earlier object stays.
   */
  readonly neverReusesNames: boolean
  /**
   * Whether a request waits for the put: a late part ends it. Otherwise the time depends on the length, and parts are
   * retried.
   */
  readonly isWaitedFor: boolean
}

const documentUse: BucketUse = {
  refuseName: (name) => {
    if (!isDocumentName(name)) throw new Error('not a name of a document')
  },
  isName: isDocumentName,
  failed: 'documents.store_failed',
  unavailable: () => 'The document storage does not respond: nothing was changed, try again later',
  missing: 'No such document',
  neverReusesNames: true,
  isWaitedFor: true,
}

const pictureUse: BucketUse = {
  ...documentUse,
  failed: 'pictures.store_failed',
  unavailable: () => 'The picture storage does not respond: nothing was changed, try again later',
  missing: 'No such picture',
}

/** Creates a store of documents or pictures in an S3-compatible bucket. */
export function createS3Store(account: S3Account, port: Port, kind: 'S3' | 'MEDIA_S3' = 'S3'): DocumentStore {
  const { list, ...bucket } = createBucket(account, port, kind === 'S3' ? documentUse : pictureUse)
  return { kind, ...bucket, list: () => list('') }
}

/**
 * Opens a bucket with path-style URLs. Long files are sent in parts by own requests, since Bun's client buffers three
 * parts and more.
 */
export function createBucket(
  { endpoint, bucket, keyId, secret, region, prefix }: S3Account,
  { log, sleep, responseTimeoutMs = responseTimeoutDefaultMs }: Port,
  use: BucketUse,
) {
  let openedClient: S3Client | undefined
  const client = () => {
    openedClient ??= new S3Client({ endpoint, bucket, region, accessKeyId: keyId, secretAccessKey: secret })
    return openedClient
  }

  const keyOf = (name: string): string => {
    use.refuseName(name)
    return `${prefix}${name}`
  }

  function unavailable(operation: string, error: unknown): AppError {
    if (error instanceof AppError) return error
    log.warn(use.failed, { operation, code: codeOf(error), error })
    return new AppError('UNAVAILABLE', use.unavailable(errorLabel(error)), { cause: error, retryAfterSeconds })
  }

  const removalMs = Math.min(responseTimeoutMs, removalMaxMs)

  /** Applies a timeout to a response. Bun ends a late one with its connection. */
  async function withTimeout<T>(answer: Promise<T>, withinMs = responseTimeoutMs): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new StoreTimeout()), withinMs)
    answer.catch(() => undefined)
    try {
      return await Promise.race([answer, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Retries while that may help.
   * @throws AppError UNAVAILABLE; NoSuchKey unchanged
   */
  async function requestWithRetries<T>(operation: string, ask: () => Promise<T>, withinMs?: number): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await withTimeout(ask(), withinMs)
      } catch (error) {
        if (codeOf(error) === 'NoSuchKey') throw error
        const isLate = error instanceof StoreTimeout && operation === 'put' && use.isWaitedFor
        if (isFinal(error) || isLate || attempt > retries) throw unavailable(operation, error)
        await sleep(retryAfterMs * 2 ** attempt)
      }
    }
  }

  const statOf = (key: string): Promise<{ size: number } | undefined> =>
    requestWithRetries('stat', () => client().stat(key)).catch((error: unknown) => {
      if (codeOf(error) !== 'NoSuchKey') throw error
      return undefined
    })

  async function* read(key: string, size: number): AsyncGenerator<Uint8Array> {
    let remaining = size
    const reader = client().file(key).stream().getReader()
    try {
      for (;;) {
        const { done, value } = await withTimeout(reader.read())
        // Bun treats a truncated body as complete.
        if (done && remaining > 0) throw new Error('the stored object ended early')
        if (done) return
        remaining -= value.length
        yield value
      }
    } catch (error) {
      throw codeOf(error) === 'NoSuchKey' ? new AppError('NOT_FOUND', use.missing) : unavailable('get', error)
    } finally {
      reader.cancel().catch(() => undefined)
    }
  }

  /** The time that a response to this many bytes may take. */
  const timeFor = (bytes: number): number => (use.isWaitedFor ? responseTimeoutMs : responseTimeoutMs + bytes / bytesPerMs)

  /**
   * Sends a request. The body is no longer read after it ends.
   * @throws Error with S3's code
   */
  async function send(
    method: string,
    key: string,
    query: Readonly<Record<string, string>>,
    body?: string | Uint8Array<ArrayBuffer>,
  ): Promise<{ text: string; etag: string }> {
    const { url, headers } = await signRequest({ keyId, secret, region }, { method, endpoint, path: `${bucket}/${key}`, query }, new Date())
    const abort = new AbortController()
    try {
      const payload = body === undefined ? {} : { body: typeof body === 'string' ? body : sliceStream(body) }
      // S3 requires a content length, which a stream does not set.
      const length = { 'content-length': String(body?.length ?? 0) }
      const asking = fetch(url, { method, headers: { ...headers, ...length }, redirect: 'error', signal: abort.signal, ...payload })
      const answer = await withTimeout(asking, timeFor(body?.length ?? 0))
      const text = await withTimeout(answer.text())
      // A response with status 200 may contain an error.
      const code = /<Error>.*?<Code>([^<]+)<\/Code>/s.exec(text)?.[1]
      if (!answer.ok || code !== undefined)
        throw Object.assign(new Error(`S3 answered ${answer.status}`), { code: code ?? String(answer.status) })
      return { text, etag: answer.headers.get('etag') ?? '' }
    } finally {
      abort.abort()
    }
  }

  /** `send` applies the timeout of the upload. */
  const upload = (key: string, query: Readonly<Record<string, string>>, bytes: Uint8Array<ArrayBuffer>) =>
    requestWithRetries('put', () => send('PUT', key, query, bytes), 2 * timeFor(bytes.length))

  /** Uploads a file that is longer than one part. */
  function createMultipartUpload(key: string) {
    const tags: string[] = []
    let uploadId: string | undefined
    return {
      async add(part: Uint8Array<ArrayBuffer>): Promise<void> {
        uploadId ??= /<UploadId>([^<]+)<\/UploadId>/.exec(
          (await requestWithRetries('put', () => send('POST', key, { uploads: '' }))).text,
        )?.[1]
        if (uploadId === undefined) throw unavailable('put', new Error('S3 named no upload'))
        if (tags.length === partsMax) throw unavailable('put', new Error('longer than declared: S3 takes no more parts'))
        const query = { partNumber: String(tags.length + 1), uploadId }
        tags.push((await upload(key, query, part)).etag)
      },
      async complete(): Promise<void> {
        const partList = tags.map((etag, nth) => `<Part><PartNumber>${nth + 1}</PartNumber><ETag>${etag}</ETag></Part>`).join('')
        const body = `<CompleteMultipartUpload>${partList}</CompleteMultipartUpload>`
        await requestWithRetries('put', () =>
          send('POST', key, { uploadId: uploadId ?? '' }, body).catch((error: unknown) => {
            // A retry after a lost response; the caller verifies the result.
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
    /** @param expected the approximate length, if known; long files have larger parts, since their number is limited */
    async put(name: string, chunks: AsyncIterable<Uint8Array>, expected = 0): Promise<number> {
      const key = keyOf(name)
      const partBytes = Math.max(partMinBytes, Math.ceil((expected * headroom) / partsMax))
      const buffer = new Uint8Array(partBytes)
      const multipart = createMultipartUpload(key)
      let [bytes, length] = [0, 0]
      try {
        for await (const chunk of chunks)
          for (let at = 0; at < chunk.length; ) {
            if (length === partBytes) {
              await multipart.add(buffer)
              length = 0
            }
            const piece = chunk.subarray(at, at + partBytes - length)
            buffer.set(piece, length)
            length += piece.length
            bytes += piece.length
            at += piece.length
          }
        const last = buffer.subarray(0, length)
        if (bytes <= partBytes) await upload(key, {}, last)
        else {
          await multipart.add(last)
          await multipart.complete()
        }
        const stored = await statOf(key)
        if (stored?.size !== bytes) throw unavailable('put', new Error('the stored object has another length than what was sent'))
        release(buffer)
        return bytes
      } catch (error) {
        // Removes the incomplete upload, because no record has its name.
        await Promise.allSettled([multipart.abort(), ...(use.neverReusesNames ? [withTimeout(client().delete(key), removalMs)] : [])])
        throw error
      }
    },
    async get(name: string) {
      const key = keyOf(name)
      const stats = await statOf(key)
      return stats && { bytes: stats.size, chunks: () => read(key, stats.size) }
    },
    async delete(name: string): Promise<void> {
      try {
        await withTimeout(client().delete(keyOf(name)), removalMs)
      } catch (error) {
        if (codeOf(error) !== 'NoSuchKey') throw unavailable('delete', error)
      }
    },
    async *list(start: string): AsyncGenerator<{ name: string; bytes: number; at: number }> {
      for (let startAfter: string | undefined; ; ) {
        const page = await requestWithRetries('list', () =>
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

/** Streams slices, since Bun copies a complete body twice. */
function sliceStream(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
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
