/** A stand-in for S3 over real HTTP. It verifies signatures and supports what document stores need. */
import { createHash, createHmac } from 'node:crypto'

export const account = { bucket: 'documents', keyId: 'test-key-id', secret: 'test-secret', region: 'eu-test-1', prefix: 'souk/' }

type StoredObject = { bytes: Buffer; at: Date }
/** How a request fails: `late` gets no response, `slow` gets it after a while. */
export type Fault = 'late' | 'slow' | 500 | 403 | 'cut'

const slowMs = 500
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const percentEncode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** Returns whether a request has a valid AWS Signature Version 4. */
function isSigned(request: Request): boolean {
  const url = new URL(request.url)
  const [, keyId, day, region, service, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/(\w+)\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.get('authorization') ?? '',
    ) ?? []
  const at = request.headers.get('x-amz-date') ?? ''
  if (keyId !== account.keyId || region !== account.region || service !== 's3' || !at.startsWith(day ?? '?')) return false
  if (!names?.split(';').includes('host') || !names.split(';').includes('x-amz-content-sha256')) return false
  const query = [...url.searchParams].map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`).sort()
  const headers = names.split(';').map((name) => `${name}:${request.headers.get(name)?.trim()}\n`)
  const path = url.pathname
    .split('/')
    .map((part) => percentEncode(decodeURIComponent(part)))
    .join('/')
  const canonical = [request.method, path, query.join('&'), headers.join(''), names, request.headers.get('x-amz-content-sha256')].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', at, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${account.secret}`, day ?? ''), region), 's3'), 'aws4_request')
  return hmac(key, toSign).toString('hex') === signature
}

const xml = (text: string, status = 200) => new Response(`<?xml version="1.0" encoding="UTF-8"?>${text}`, { status })
const refused = (status: number, code: string) => xml(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, status)

export type S3Server = ReturnType<typeof startS3>

/** @param pageSize names per page of a listing */
export function startS3({ pageSize = 1_000 }: { pageSize?: number } = {}) {
  const objects = new Map<string, StoredObject>()
  const uploads = new Map<string, Map<number, Buffer>>()
  const faults: { method: string; fault: Fault }[] = []
  const requests: string[] = []
  const waiting = new Set<() => void>()
  let [uploadCount, largest] = [0, 0]

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      const url = new URL(request.url)
      const { method } = request
      requests.push(`${method} ${url.search}`)
      if (!isSigned(request)) return refused(403, 'SignatureDoesNotMatch')
      if (method === 'PUT' && !request.headers.has('content-length')) return refused(411, 'MissingContentLength')
      const body = Buffer.from(await request.arrayBuffer())
      largest = Math.max(largest, body.length)
      const nth = faults.findIndex((one) => one.method === method)
      const fault = nth < 0 ? undefined : faults.splice(nth, 1)[0]?.fault
      if (fault === 'late') await new Promise<void>((resume) => waiting.add(resume))
      if (fault === 'slow') await Bun.sleep(slowMs)
      if (fault === 500) return refused(500, 'InternalError')
      if (fault === 403) return refused(403, 'AccessDenied')
      const [, bucket, ...rest] = url.pathname.split('/').map(decodeURIComponent)
      if (bucket !== account.bucket) return refused(404, 'NoSuchBucket')
      return answer(method, rest.join('/'), url.searchParams, body, fault === 'cut')
    },
  })

  function answer(method: string, key: string, query: URLSearchParams, body: Buffer, isCut: boolean): Response {
    const uploadId = query.get('uploadId')
    if (method === 'GET' && query.get('list-type') === '2') return listObjects(query)
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${++uploadCount}`
      uploads.set(id, new Map())
      return xml(
        `<InitiateMultipartUploadResult><Bucket>${account.bucket}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      )
    }
    if (uploadId !== null) return respondToUpload(method, key, uploadId, query, body)
    const object = objects.get(key)
    if (method === 'PUT') {
      objects.set(key, { bytes: body, at: new Date() })
      return new Response(null, { headers: { etag: etagOf(body) } })
    }
    if (method === 'DELETE') {
      objects.delete(key)
      return new Response(null, { status: 204 })
    }
    if (!object) return method === 'HEAD' ? new Response(null, { status: 404 }) : refused(404, 'NoSuchKey')
    const headers = { etag: etagOf(object.bytes), 'last-modified': object.at.toUTCString(), 'content-type': 'application/octet-stream' }
    if (method === 'HEAD') return new Response(null, { headers: { ...headers, 'content-length': String(object.bytes.length) } })
    if (!isCut) return new Response(new Uint8Array(object.bytes), { headers })
    return new Response(new Uint8Array(object.bytes.subarray(0, object.bytes.length >> 1)), { headers })
  }

  function respondToUpload(method: string, key: string, id: string, query: URLSearchParams, body: Buffer): Response {
    const parts = uploads.get(id)
    if (!parts) return refused(404, 'NoSuchUpload')
    if (method === 'PUT') {
      parts.set(Number(query.get('partNumber')), body)
      return new Response(null, { headers: { etag: etagOf(body) } })
    }
    uploads.delete(id)
    if (method === 'DELETE') return new Response(null, { status: 204 })
    const partList = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g)]
    const listedParts = partList.map(([, number, etag]) => ({ part: parts.get(Number(number)), etag: etag?.replaceAll('&quot;', '"') }))
    if (listedParts.some(({ part, etag }) => !part || etagOf(part) !== etag)) return refused(400, 'InvalidPart')
    if (listedParts.slice(0, -1).some(({ part }) => (part?.length ?? 0) < 5 * 1024 * 1024)) return refused(400, 'EntityTooSmall')
    objects.set(key, { bytes: Buffer.concat(listedParts.flatMap(({ part }) => part ?? [])), at: new Date() })
    return xml('<CompleteMultipartUploadResult><ETag>"made-of-parts"</ETag></CompleteMultipartUploadResult>')
  }

  function listObjects(query: URLSearchParams): Response {
    const [prefix, after] = [query.get('prefix') ?? '', query.get('start-after') ?? '']
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, Math.min(pageSize, Number(query.get('max-keys') ?? 1_000)))
    const contents = page.map((key) => {
      const { bytes, at } = objects.get(key) as StoredObject
      return `<Contents><Key>${key}</Key><LastModified>${at.toISOString()}</LastModified><ETag>${etagOf(bytes)}</ETag><Size>${bytes.length}</Size></Contents>`
    })
    return xml(
      `<ListBucketResult><Name>${account.bucket}</Name><Prefix>${prefix}</Prefix><KeyCount>${page.length}</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>${page.length < keys.length}</IsTruncated>${contents.join('')}</ListBucketResult>`,
    )
  }

  return {
    account: { ...account, endpoint: `http://127.0.0.1:${server.port}` },
    settings: {
      DOCUMENTS_S3_ENDPOINT: `http://127.0.0.1:${server.port}`,
      DOCUMENTS_S3_BUCKET: account.bucket,
      DOCUMENTS_S3_KEY_ID: account.keyId,
      DOCUMENTS_S3_SECRET: account.secret,
      DOCUMENTS_S3_REGION: account.region,
    },
    objects,
    /** Multipart uploads that were neither completed nor aborted. */
    uploads,
    requests,
    largest: () => largest,
    /** Lets the next request of this method fail. */
    fail: (method: string, fault: Fault) => void faults.push({ method, fault }),
    async [Symbol.asyncDispose]() {
      for (const resume of waiting) resume()
      await server.stop(true)
    },
  }
}

const etagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`
