import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { openStream, SealBroken, sealedChunkBytes, sealedLength, sealStream, streamKeys, withHash } from '../../src/lib/sealed-stream.ts'

const secret = Buffer.alloc(32, 7)
const { seal: key } = streamKeys(secret)
const tag = 16
const start = 8

async function* split(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const collect = async (stream: AsyncIterable<Uint8Array>) => {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}
const sealAll = (plain: Uint8Array, about = 'about', by: Uint8Array = key) => collect(sealStream(by, about, split(plain, 30_011)))
const openAll = (bytes: Uint8Array, about = 'about', by: Uint8Array = key) => collect(openStream(by, about, split(bytes, 40_009)))
const isRefused = async (bytes: Uint8Array) =>
  openAll(bytes).then(
    () => false,
    (error) => error instanceof SealBroken,
  )

const edges = [0, 1, sealedChunkBytes - 1, sealedChunkBytes, sealedChunkBytes + 1, 3 * sealedChunkBytes]

test('a sealed stream opens to its content, at every length around chunk ends and in any pieces', async () => {
  for (const length of edges) {
    const plain = randomBytes(length)
    for (const size of [1_000, sealedChunkBytes, 4 * sealedChunkBytes]) {
      const bytes = await collect(sealStream(key, 'about', split(plain, size)))
      expect([length, bytes.length]).toEqual([length, sealedLength(length)])
      expect((await collect(openStream(key, 'about', split(bytes, size + 1)))).equals(plain)).toBe(true)
    }
  }
})

test('a sealed stream opens from pieces of any size', async () => {
  const plain = randomBytes(2 * sealedChunkBytes + 5)
  const bytes = await sealAll(plain)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: bytes.length }), { maxLength: 20 }), async (cuts) => {
      async function* pieces() {
        const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        for (let nth = 1; nth < at.length; nth++) yield bytes.subarray(at[nth - 1], at[nth])
      }
      expect((await collect(openStream(key, 'about', pieces()))).equals(plain)).toBe(true)
    }),
    { numRuns: 20 },
  )
})

test('a sealed stream does not open with another key or purpose', async () => {
  const bytes = await sealAll(Buffer.from('secret'))
  const wrongKeys = [streamKeys(Buffer.alloc(32, 8)).seal, streamKeys(secret).hash]
  for (const other of wrongKeys) expect(openAll(bytes, 'about', other)).rejects.toThrow(SealBroken)
  expect(openAll(bytes, 'about another')).rejects.toThrow(SealBroken)
})

test('a sealed stream does not open if altered, cut, extended, or with chunks moved, repeated or mixed', async () => {
  const plain = randomBytes(3 * sealedChunkBytes)
  const bytes = await sealAll(plain)
  const chunk = (nth: number, of = bytes) =>
    of.subarray(start + nth * (sealedChunkBytes + tag), start + (nth + 1) * (sealedChunkBytes + tag))
  const header = bytes.subarray(0, start)
  expect((await openAll(Buffer.concat([header, chunk(0), chunk(1), chunk(2)]))).equals(plain)).toBe(true)
  const other = await sealAll(randomBytes(3 * sealedChunkBytes), 'about', streamKeys(Buffer.alloc(32, 8)).seal)
  const broken: [string, Uint8Array][] = [
    ['empty', Buffer.alloc(0)],
    ['header only', header],
    ['cut in the header', bytes.subarray(0, 5)],
    ['cut after a chunk', Buffer.concat([header, chunk(0)])],
    ['cut after two chunks', Buffer.concat([header, chunk(0), chunk(1)])],
    ['cut in a chunk', bytes.subarray(0, start + sealedChunkBytes + 100)],
    ['cut by a byte', bytes.subarray(0, -1)],
    ['swapped', Buffer.concat([header, chunk(1), chunk(0), chunk(2)])],
    ['a chunk missing', Buffer.concat([header, chunk(0), chunk(2)])],
    ['repeated', Buffer.concat([header, chunk(0), chunk(0), chunk(1), chunk(2)])],
    ['last chunk repeated', Buffer.concat([bytes, chunk(2)])],
    ['extended', Buffer.concat([bytes, Buffer.from([0])])],
    ['a chunk of another stream', Buffer.concat([header, chunk(0), chunk(1, other), chunk(2)])],
    ['another format', Buffer.concat([Buffer.from('SOUKSTR2'), bytes.subarray(start)])],
    ['no header', bytes.subarray(start)],
  ]
  const outcomes = await Promise.all(broken.map(async ([label, changed]) => [label, await isRefused(changed)]))
  expect(outcomes).toEqual(broken.map(([label]) => [label, true]))
  const shortStream = await sealAll(Buffer.from('a short secret'))
  for (let bit = 0; bit < shortStream.length * 8; bit++) {
    const changed = Buffer.from(shortStream)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    expect([bit, await isRefused(changed)]).toEqual([bit, true])
  }
})

test('a sealed stream does not show its content, and yields only verified chunks before it fails', async () => {
  const plain = Buffer.concat([Buffer.alloc(sealedChunkBytes, 'secret'), randomBytes(10)])
  const bytes = await sealAll(plain)
  expect(bytes.includes('secret')).toBe(false)
  const opened: Uint8Array[] = []
  const reading = (async () => {
    for await (const piece of openStream(key, 'about', split(bytes.subarray(0, -1), 1_000))) opened.push(Buffer.from(piece))
  })()
  await expect(reading).rejects.toThrow(SealBroken)
  expect(Buffer.concat(opened).equals(plain.subarray(0, sealedChunkBytes))).toBe(true)
})

test('withHash computes a keyed hash and the length of what passes through', async () => {
  const ends: [string, number][] = []
  const hash = async (by: string, bytes: Uint8Array, size: number) => {
    await collect(withHash(Buffer.from(by), split(bytes, size), (...end) => ends.push(end)))
    return ends.at(-1)
  }
  const first = await hash('k', Buffer.from('abcdef'), 2)
  expect(first?.[1]).toBe(6)
  expect(await hash('k', Buffer.from('abcdef'), 5)).toEqual(first)
  expect((await hash('k', Buffer.from('abcdeg'), 5))?.[0]).not.toBe(first?.[0])
  expect((await hash('l', Buffer.from('abcdef'), 5))?.[0]).not.toBe(first?.[0])
})
