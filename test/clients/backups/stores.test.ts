/** Tests the contract of backup stores, with and without seal. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createBucketStore } from '../../../src/clients/backups/bucket.ts'
import { createFolderStore } from '../../../src/clients/backups/folder.ts'
import { withStoreDeadline } from '../../../src/clients/backups/store-deadline.ts'
import type { BackupStore } from '../../../src/core/backup-store.ts'
import { createSealedStore } from '../../../src/core/sealed-store.ts'
import { temporaryDir } from '../../support/database.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { type S3Server, startS3 } from '../documents/s3-server.ts'

setDefaultTimeout(longTestMs)

const mb = 1024 * 1024
const servers: S3Server[] = []
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]()
})

async function* inPieces(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
async function* broken(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* inPieces(bytes)
  throw new Error('broken off')
}
async function read(store: BackupStore, name: string): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = []
  const copy = await store.get(name)
  if (!copy) return undefined
  for await (const piece of copy.chunks()) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}
async function namesOf(store: BackupStore, prefix = ''): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of store.list(prefix)) names.push(name)
  return names
}

function bucket(options: { pageSize?: number; responseTimeoutMs?: number } = {}) {
  const server = startS3(options)
  servers.push(server)
  const port = { log: { warn: () => undefined }, sleep: async () => undefined, ...options }
  return { server, store: createBucketStore(server.account, port) }
}
const folder = (directory = join(temporaryDir(), 'copies')) => createFolderStore(directory, Date.now)
const first = { id: '0123abcd', secret: randomBytes(32) }
const second = { id: '4567ef89', secret: randomBytes(32) }
const sealedStore = (store: BackupStore, current = first, keys = [current]) =>
  createSealedStore(store, { current, of: (id) => keys.find((one) => one.id === id) }, randomBytes)

const stores: Record<string, () => BackupStore> = {
  'a folder': folder,
  'a bucket': () => bucket({ pageSize: 2 }).store,
  'a sealed folder': () => sealedStore(folder()),
  'a sealed bucket': () => sealedStore(bucket({ pageSize: 2 }).store),
}

test('a folder is created if its parent exists; otherwise nothing is written, as its disk may be unmounted', async () => {
  const mountPoint = join(temporaryDir(), 'mnt')
  const store = folder(join(mountPoint, 'copies'))
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a copy')
  }
  for (const work of [() => store.put('a/b', bytes()), () => store.adopt?.('a/b', import.meta.path), () => store.free()])
    await expect(work()).rejects.toThrow(`Directory not found: ${mountPoint}. Is the disk for ${mountPoint}/copies mounted?`)
  expect([existsSync(mountPoint), await store.get('a/b')]).toEqual([false, undefined])
  mkdirSync(mountPoint)
  expect(await store.put('a/b', bytes())).toBe(6)
})

for (const [what, createStore] of Object.entries(stores)) {
  describe(what, () => {
    test('a backup store returns what was put, of any length, and the newest content of a name', async () => {
      const store = createStore()
      for (const length of [0, 1, 65_536, 65_537, 6 * mb]) {
        const [name, bytes] = [`a/${length}.db`, randomBytes(length)]
        expect([length, await store.put(name, inPieces(bytes))]).toEqual([length, length])
        expect((await store.get(name))?.bytes).toBe(length)
        expect((await read(store, name))?.equals(bytes)).toBe(true)
      }
      await store.put('a/0.db', inPieces(Buffer.from('newer')))
      expect((await read(store, 'a/0.db'))?.toString()).toBe('newer')
      expect(await store.get('a/2.db')).toBeUndefined()
    })

    test('a backup store keeps the old content when a replacement breaks off', async () => {
      const store = createStore()
      await store.put('a/b', inPieces(Buffer.from('whole')))
      for (const length of [0, 100, 6 * mb]) await expect(store.put('a/b', broken(randomBytes(length)))).rejects.toThrow('broken off')
      expect((await read(store, 'a/b'))?.toString()).toBe('whole')
      expect(await namesOf(store)).toEqual(['a/b'])
    })

    test('a backup store lists names with a prefix and their length, without deleted ones', async () => {
      const store = createStore()
      const names = ['2/a', '2-1', '2/b/c', '2.x', '3/a', '1']
      // Stores report times in whole seconds.
      const startedAt = Math.floor(Date.now() / 1_000) * 1_000 - 1_000
      for (const name of names) await store.put(name, inPieces(Buffer.from(name)))
      const inOrder = [...names].sort()
      expect(await namesOf(store)).toEqual(inOrder)
      expect(await namesOf(store, '2')).toEqual(inOrder.filter((name) => name.startsWith('2')))
      expect(await namesOf(store, '2/')).toEqual(['2/a', '2/b/c'])
      expect(await namesOf(store, 'none/')).toEqual([])
      for await (const { name, bytes, at } of store.list('')) expect([name, bytes, at >= startedAt]).toEqual([name, name.length, true])
      for (const name of ['2/b/c', '2/b/c', '2/a']) await store.delete(name)
      expect(await namesOf(store, '2/')).toEqual([])
      expect(await read(store, '2/a')).toBeUndefined()
    })

    test('a backup store refuses names that lead out of it', async () => {
      const store = createStore()
      for (const name of ['../a', '/a', 'a/../b', 'a//b', '', '.a', 'a/', 'a\\b', 'a.tmp'])
        await expect(store.put(name, inPieces(randomBytes(1)))).rejects.toThrow('not a name of a copy')
    })
  })
}

test('files of a folder store are private, never visible half-written, and other files are not deleted', async () => {
  const directory = join(temporaryDir(), 'copies')
  const store = folder(directory)
  const listings: string[][] = []
  async function* chunksWithListing() {
    yield randomBytes(10)
    listings.push([...readdirSync(join(directory, 'a')), ...(await namesOf(store))])
  }
  await store.put('a/b', chunksWithListing())
  expect(listings).toEqual([[expect.stringMatching(/^b\.[0-9a-f]{12}\.tmp$/)]])
  expect([statSync(directory), statSync(join(directory, 'a/b'))].map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600])
  writeFileSync(join(directory, 'a', 'my notes'), 'mine')
  await store.delete('a/b')
  expect(readdirSync(join(directory, 'a'))).toEqual(['my notes'])
})

test('a folder store does not write through symbolic links, and ignores what is not a file', async () => {
  const directory = join(temporaryDir(), 'copies')
  const store = folder(directory)
  const precious = join(temporaryDir(), 'precious')
  writeFileSync(precious, 'precious')
  mkdirSync(join(directory, 'a'), { recursive: true })
  symlinkSync(precious, join(directory, 'a/b.tmp'))
  symlinkSync(precious, join(directory, 'a/b'))
  await store.put('a/b', inPieces(Buffer.from('ours')))
  expect([readFileSync(precious, 'utf8'), (await read(store, 'a/b'))?.toString()]).toEqual(['precious', 'ours'])
  Bun.spawnSync(['mkfifo', join(directory, 'a/pipe')])
  expect(await store.get('a/pipe')).toBeUndefined()
})

test('two concurrent puts under one name leave the complete content of one of them', async () => {
  const store = folder()
  const [one, other] = [randomBytes(mb), randomBytes(2 * mb)]
  await Promise.all([store.put('a/b', inPieces(one)), store.put('a/b', inPieces(other))])
  const content = await read(store, 'a/b')
  expect([one, other].some((bytes) => content?.equals(bytes))).toBe(true)
})

test('an operation of a silent store times out and stores nothing later, while slow sources have no limit', async () => {
  const never = new Promise<never>(() => undefined)
  const hangs = { put: () => never, get: () => never, delete: () => never, free: () => never, adopt: () => never }
  const silent = withStoreDeadline(
    {
      ...folder(),
      ...hangs,
      list: async function* () {
        await never
        yield { name: 'a', bytes: 1, at: 1 }
      },
    },
    20,
  )
  for (const work of [
    () => silent.put('a', inPieces(randomBytes(1))),
    () => silent.get('a'),
    () => silent.delete('a'),
    () => silent.free(),
    () => silent.adopt?.('a', 'b'),
    () => namesOf(silent),
  ])
    await expect(work()).rejects.toMatchObject({ kind: 'UNAVAILABLE' })
  const wakes = Promise.withResolvers<void>()
  let isAborted = false
  const store = folder()
  const sleepy = withStoreDeadline(
    {
      ...store,
      put: async (name, chunks) => {
        await wakes.promise
        return store.put(name, chunks).catch((error) => {
          isAborted = true
          throw error
        })
      },
    },
    20,
  )
  await expect(sleepy.put('a/b', inPieces(randomBytes(10)))).rejects.toMatchObject({ kind: 'UNAVAILABLE' })
  wakes.resolve()
  while (!isAborted) await Bun.sleep(1)
  expect(await namesOf(store)).toEqual([])
  // The source is slow. The store itself takes no time.
  async function* slow() {
    await Bun.sleep(60)
    yield randomBytes(10)
  }
  const instantStore = { ...folder(), put: async (_: string, chunks: AsyncIterable<Uint8Array>) => (await Array.fromAsync(chunks)).length }
  expect(await withStoreDeadline(instantStore, 20).put('a/b', slow())).toBe(1)
})

test('leftovers of a crash in a folder are removed once they are a day old', async () => {
  const directory = join(temporaryDir(), 'copies')
  mkdirSync(join(directory, 'a'), { recursive: true })
  for (const name of ['old.tmp', 'new.tmp']) writeFileSync(join(directory, 'a', name), 'half')
  utimesSync(join(directory, 'a/old.tmp'), 1_000, 1_000)
  expect(await namesOf(folder(directory))).toEqual([])
  expect(readdirSync(join(directory, 'a'))).toEqual(['new.tmp'])
})

test('a bucket that is silent, refuses or breaks off is unavailable', async () => {
  const silent = bucket({ responseTimeoutMs: 50 })
  for (let nth = 0; nth < 4; nth++) silent.server.fail('PUT', 'late')
  await expect(silent.store.put('b', inPieces(randomBytes(1)))).rejects.toMatchObject({ kind: 'UNAVAILABLE' })
  // Another bucket: an upload that was given up above can still reach the first one and meet its next fault.
  const { server, store } = bucket()
  await store.put('a', inPieces(randomBytes(mb)))
  server.fail('PUT', 403)
  await expect(store.put('b', inPieces(randomBytes(1)))).rejects.toMatchObject({ kind: 'UNAVAILABLE' })
  server.fail('GET', 'cut')
  await expect(read(store, 'a')).rejects.toMatchObject({ kind: 'UNAVAILABLE' })
})

test('uploads to a slow bucket, or one that loses a response, complete', async () => {
  const { server, store } = bucket({ responseTimeoutMs: 1_500 })
  for (const [fault, length] of [
    ['slow', 6 * mb],
    ['late', 1],
  ] as const) {
    const bytes = randomBytes(length)
    server.fail('PUT', fault)
    expect(await store.put('a', inPieces(bytes))).toBe(length)
    expect((await read(store, 'a'))?.equals(bytes)).toBe(true)
  }
})

test('an upload of a size that needs larger parts than the minimum uses them, also when sealed', async () => {
  for (const seal of [(store: BackupStore) => store, (store: BackupStore) => sealedStore(store)]) {
    const { server, store } = bucket()
    // An upload has at most 10,000 parts. At the minimum of 5 MB they hold 50 GB.
    await seal(store).put('a', inPieces(randomBytes(14 * mb)), 96_000 * mb)
    expect(server.requests.filter((request) => request.includes('partNumber')).length).toBe(2)
    expect(server.largest()).toBeGreaterThanOrEqual((96_000 * mb) / 10_000)
  }
})

test('a sealed copy reveals nothing and does not open if altered, shortened, renamed or with another key', async () => {
  const directory = join(temporaryDir(), 'copies')
  const store = sealedStore(folder(directory))
  const text = 'a secret of ours '.repeat(10_000)
  await store.put('a/b', inPieces(Buffer.from(text)))
  const original = readFileSync(join(directory, 'a/b'))
  expect(original.includes('a secret')).toBe(false)
  const altered = Buffer.from(original)
  altered[altered.length >> 1] = (altered[altered.length >> 1] ?? 0) ^ 1
  for (const bytes of [
    altered,
    original.subarray(0, -1),
    original.subarray(0, 48 + 8 + 65_552),
    original.subarray(0, 20),
    Buffer.alloc(0),
  ]) {
    writeFileSync(join(directory, 'a/b'), bytes)
    await expect(read(store, 'a/b')).rejects.toThrow(/seal/)
  }
  writeFileSync(join(directory, 'a/c'), original)
  await expect(read(store, 'a/c')).rejects.toThrow('does not open')
  writeFileSync(join(directory, 'a/b'), original)
  await expect(read(sealedStore(folder(directory), second), 'a/b')).rejects.toThrow('under another passphrase')
  expect((await read(sealedStore(folder(directory), second, [second, first]), 'a/b'))?.toString()).toBe(text)
  expect(dirname(store.place)).toBe(dirname(directory))
})
