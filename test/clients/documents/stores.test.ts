/** Tests the contract of document stores. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFileStore } from '../../../src/clients/documents/files.ts'
import { createS3Store } from '../../../src/clients/documents/s3.ts'
import { type DocumentStore, documentName } from '../../../src/core/documents.ts'
import { AppError } from '../../../src/core/errors.ts'
import { temporaryDir } from '../../support/database.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { type S3Server, startS3 } from './s3-server.ts'

setDefaultTimeout(longTestMs)

const nameOf = () => documentName(randomBytes)
const mb = 1024 * 1024

async function* inPieces(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
/** Yields the bytes, then throws the error. */
async function* broken(bytes: Uint8Array, error: Error): AsyncGenerator<Uint8Array> {
  yield* inPieces(bytes)
  throw error
}
async function read(store: DocumentStore, name: string): Promise<Buffer | undefined> {
  const document = await store.get(name)
  if (!document) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of document.chunks()) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}
async function listDocuments(store: DocumentStore) {
  const documents: { name: string; bytes: number; at: number }[] = []
  for await (const one of store.list()) documents.push(one)
  return documents.sort((a, b) => (a.name < b.name ? -1 : 1))
}

const servers: S3Server[] = []
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]()
})

const logged: string[] = []
function s3(options: { pageSize?: number; responseTimeoutMs?: number } = {}) {
  const server = startS3(options)
  servers.push(server)
  const log = { warn: (event: string) => void logged.push(event) }
  return { server, store: createS3Store(server.account, { log, sleep: async () => undefined, ...options }) }
}

const stores: Record<string, () => DocumentStore> = {
  files: () => createFileStore(join(temporaryDir(), 'documents')),
  's3-compatible': () => s3({ pageSize: 2 }).store,
}

for (const [what, createStore] of Object.entries(stores)) {
  describe(`a store of ${what}`, () => {
    test('returns the content that was put under a name, from empty to several parts', async () => {
      const store = createStore()
      for (const length of [0, 1, 100_000, 5 * mb, 5 * mb + 1, 12 * mb]) {
        const [name, bytes] = [nameOf(), randomBytes(length)]
        expect([length, await store.put(name, inPieces(bytes))]).toEqual([length, length])
        expect((await store.get(name))?.bytes).toBe(length)
        expect((await read(store, name))?.equals(bytes)).toBe(true)
      }
      expect(await store.get(nameOf())).toBeUndefined()
    })

    test('an upload that breaks off stores nothing and passes the error on', async () => {
      const store = createStore()
      for (const length of [0, 100, 6 * mb]) {
        const error = new AppError('TOO_LARGE', 'too large')
        await expect(store.put(nameOf(), broken(randomBytes(length), error))).rejects.toBe(error)
      }
      expect(await listDocuments(store)).toEqual([])
    })

    test('lists stored documents with their size, without deleted ones', async () => {
      const store = createStore()
      expect(await listDocuments(store)).toEqual([])
      const names = Array.from({ length: 5 }, nameOf).sort()
      const before = Date.now()
      for (const [nth, name] of names.entries()) await store.put(name, inPieces(randomBytes(nth + 1)))
      const documents = await listDocuments(store)
      expect(documents.map(({ name, bytes }) => [name, bytes])).toEqual(names.map((name, nth) => [name, nth + 1]))
      expect(documents.every(({ at }) => Math.abs(at - before) < 60_000)).toBe(true)
      const [deleted = ''] = names
      await store.delete(deleted)
      await store.delete(deleted)
      expect(await read(store, deleted)).toBeUndefined()
      expect((await listDocuments(store)).map(({ name }) => name)).toEqual(names.slice(1))
    })

    test('a document deleted between get and read is NOT_FOUND', async () => {
      const store = createStore()
      const name = nameOf()
      await store.put(name, inPieces(randomBytes(10)))
      const document = await store.get(name)
      await store.delete(name)
      await expect(document?.chunks().next()).rejects.toMatchObject({ kind: 'NOT_FOUND' })
    })

    test('a reader that stops early releases the document', async () => {
      const store = createStore()
      const name = nameOf()
      await store.put(name, inPieces(randomBytes(mb)))
      const chunks = (await store.get(name))?.chunks()
      await chunks?.next()
      await chunks?.return(undefined)
      await store.delete(name)
      expect(await store.get(name)).toBeUndefined()
    })

    test('refuses names that are not document names', async () => {
      const store = createStore()
      for (const name of ['../escape', 'A'.repeat(40), '', `${'a'.repeat(40)}/..`])
        await expect(store.put(name, inPieces(randomBytes(1)))).rejects.toThrow('not a name of a document')
    })
  })
}

describe('documents in files', () => {
  test('document files are private, and other files are not listed', async () => {
    const directory = join(temporaryDir(), 'documents')
    const store = createFileStore(directory)
    const name = nameOf()
    await store.put(name, inPieces(randomBytes(10)))
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600)
    writeFileSync(join(directory, 'notes.txt'), 'mine')
    expect((await listDocuments(store)).map((one) => one.name)).toEqual([name])
  })

  test('document files are never visible half-written', async () => {
    const directory = join(temporaryDir(), 'documents')
    const store = createFileStore(directory)
    const name = nameOf()
    const listings: string[][] = []
    async function* chunksWithListing() {
      yield randomBytes(10)
      listings.push(readdirSync(directory))
      yield randomBytes(10)
    }
    await store.put(name, chunksWithListing())
    expect(listings).toEqual([[`${name}.tmp`]])
    expect(readdirSync(directory)).toEqual([name])
  })

  test('leftovers of a crash are listed with their time and can be deleted by name', async () => {
    const directory = join(temporaryDir(), 'documents')
    const store = createFileStore(directory)
    await store.put(nameOf(), inPieces(randomBytes(1)))
    const name = nameOf()
    writeFileSync(join(directory, `${name}.tmp`), 'half')
    utimesSync(join(directory, `${name}.tmp`), 1_000, 1_000)
    expect((await listDocuments(store)).find((one) => one.name === name)).toEqual({ name, bytes: 4, at: 1_000_000 })
    await store.delete(name)
    expect(existsSync(join(directory, `${name}.tmp`))).toBe(false)
  })

  test.skipIf(process.getuid?.() === 0)('document files of a directory without permission are an error, not absent', async () => {
    const directory = join(temporaryDir(), 'documents')
    const store = createFileStore(directory)
    const name = nameOf()
    await store.put(name, inPieces(randomBytes(1)))
    chmodSync(directory, 0)
    await expect(store.get(name)).rejects.toThrow()
  })
})

describe('an S3-compatible store', () => {
  test('an S3 store uploads parts of the minimum size and retries after server errors', async () => {
    const { server, store } = s3()
    const [name, bytes] = [nameOf(), randomBytes(12 * mb)]
    server.fail('PUT', 500)
    server.fail('HEAD', 500)
    await store.put(name, inPieces(bytes))
    expect(server.objects.get(`souk/${name}`)?.bytes.equals(bytes)).toBe(true)
    expect(server.largest()).toBe(5 * mb)
    expect(server.uploads.size).toBe(0)
  })

  test('an S3 store that refuses or is silent is unavailable and keeps no partial upload', async () => {
    const { server, store } = s3({ responseTimeoutMs: 50 })
    for (const [method, fault] of [
      ['POST', 403],
      ['PUT', 'late'],
      ['POST', 'late'],
    ] as const) {
      server.fail(method, fault)
      const length = method === 'POST' ? 6 * mb : 100
      await expect(store.put(nameOf(), inPieces(randomBytes(length)))).rejects.toMatchObject({ kind: 'UNAVAILABLE' })
    }
    for (let nth = 0; nth < 4; nth++) server.fail('HEAD', 'late')
    await expect(store.get(nameOf())).rejects.toMatchObject({ kind: 'UNAVAILABLE' })
    expect(server.objects.size).toBe(0)
    expect(logged).toContain('documents.store_failed')
  })

  test('an S3 upload waits for a slow source and reads at most one part ahead', async () => {
    const { server, store } = s3()
    const bytes = randomBytes(16 * mb)
    let [most, yielded] = [0, 0]
    async function* counted() {
      for await (const piece of inPieces(bytes)) {
        yielded += piece.length
        const arrived = [...server.uploads.values()].flatMap((parts) => [...parts.values()]).reduce((sum, part) => sum + part.length, 0)
        most = Math.max(most, yielded - arrived)
        yield piece
      }
    }
    await store.put(nameOf(), counted())
    expect(most).toBeLessThanOrEqual(6 * mb)
  })

  test('an S3 download that breaks off is unavailable, not the end of the file', async () => {
    const { server, store } = s3()
    const name = nameOf()
    await store.put(name, inPieces(randomBytes(mb)))
    server.fail('GET', 'cut')
    await expect(read(store, name)).rejects.toMatchObject({ kind: 'UNAVAILABLE' })
  })

  test('an S3 store with a wrong secret is unavailable', async () => {
    const { server } = s3()
    const store = createS3Store({ ...server.account, secret: 'another' }, { log: { warn: () => undefined }, sleep: async () => undefined })
    await expect(store.put(nameOf(), inPieces(randomBytes(1)))).rejects.toMatchObject({ kind: 'UNAVAILABLE' })
    expect(server.objects.size).toBe(0)
  })
})
