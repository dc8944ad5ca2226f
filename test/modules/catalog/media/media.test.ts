/** Tests uploading, reading and deleting images over HTTP. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { media, mediaUsage, pictureFiles, pictures } from '../../../../db/schema/media.ts'
import { sweepDocuments } from '../../../../jobs/sweep-documents.ts'
import { RenderFailed } from '../../../../src/core/pictures.ts'
import { describePictureDifferences, findPictureFaults } from '../../../../src/modules/catalog/media/index.ts'
import { startS3 } from '../../../clients/documents/s3-server.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { testDatabase } from '../../../support/database.ts'
import * as make from '../../../support/pictures.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const base = 'https://shop.example'
const settings = { PUBLIC_URL: `${base}/` }

type UploadOptions = { type?: string; headers?: Record<string, string> }
export const upload = (
  app: TestApp,
  key: string,
  raw: Uint8Array,
  { type = 'application/octet-stream', headers = {} }: UploadOptions = {},
) => app.call('POST', '/media', { key, raw, headers: { 'content-type': type, ...headers } })
async function read(app: TestApp, url: string, headers: Record<string, string> = {}) {
  const response = await app.edge.fetch(new Request(`http://localhost${url.replace(base, '')}`, { headers }))
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}
const filesIn = ({ database }: TestApp, folder = 'media') => {
  const directory = join(database.dataDir, folder)
  return existsSync(directory) ? readdirSync(directory).sort() : []
}
/** Counts the files that have a row, and the others. One of the others marks the store. */
const countFiles = async (app: TestApp) => {
  const names = new Set((await app.deps.db.read.select().from(pictureFiles)).map(({ storageName }) => storageName))
  return { named: filesIn(app).filter((name) => names.has(name)).length, others: filesIn(app).filter((name) => !names.has(name)).length }
}
const usageOf = async ({ deps }: TestApp) => deps.db.read.select().from(mediaUsage)
const expectConsistent = async (app: TestApp) => {
  const faults = await Array.fromAsync(findPictureFaults(app.deps))
  expect([await describePictureDifferences(app.deps), faults]).toEqual([[], []])
}

const stores = {
  'the data directory': async () => ({ settings: {}, objects: undefined, [Symbol.asyncDispose]: async () => undefined }),
  'an S3-compatible store': async () => {
    const server = startS3()
    const named = Object.entries(server.settings).map(([name, value]) => [name.replace('DOCUMENTS', 'MEDIA'), value])
    return {
      settings: Object.fromEntries(named),
      objects: server.objects,
      [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
    }
  },
}

for (const [storeName, open] of Object.entries(stores))
  test(`stores every image format with its true size and type, and serves it unchanged from ${storeName}`, async () => {
    await using store = await open()
    await using app = await testApp({ ...settings, ...store.settings })
    const { secretKey } = await shopIn(app)
    const formats: [type: string, picture: Buffer, sizes: number[], animated: boolean][] = [
      ['image/jpeg', await make.jpegOf(700, 500), [160, 320, 640], false],
      ['image/png', make.drawPng(330, 200), [160, 320], false],
      ['image/webp', await make.webpOf(200, 300), [160], false],
      ['image/gif', make.gifOf(170, 90), [160], false],
      ['image/avif', make.avifOf(700, 500), [], false],
      ['image/gif', make.gifOf(180, 90, 3), [], true],
      ['image/webp', await make.animatedWebp(180, 90), [], true],
      ['image/png', make.animatedPng(180, 90), [], true],
    ]
    for (const [type, picture, sizes, animated] of formats) {
      const uploaded = await upload(app, secretKey, picture, { type: 'image/x-whatever' })
      expect([type, uploaded.status, uploaded.text]).toEqual([type, 201, uploaded.text])
      const { id, url, ...metadata } = uploaded.body
      expect(id).toStartWith('media_')
      expect(url).toMatch(/^https:\/\/shop\.example\/media\/[0-9a-f]{32}$/)
      const { width, height } = { width: metadata.width, height: metadata.height }
      expect(metadata).toMatchObject({ type, bytes: picture.length, animated, createdAt: new Date(app.deps.clock.now()).toISOString() })
      expect(metadata.sizes.map((size: { width: number }) => size.width)).toEqual(sizes)
      const original = await read(app, url)
      expect([original.status, original.headers.get('content-type'), original.bytes.equals(picture)]).toEqual([200, type, true])
      for (const size of metadata.sizes) {
        const smaller = await read(app, size.url)
        expect([smaller.status, smaller.headers.get('content-type')]).toEqual([200, 'image/webp'])
        const image = await new Bun.Image(smaller.bytes).metadata()
        expect(Math.abs(image.height - (height * size.width) / width)).toBeLessThan(1)
        expect(image).toEqual({ width: size.width, height: expect.any(Number), format: 'webp' })
      }
      // A width without a smaller version returns the original.
      const wide = await read(app, `${url}-1280`)
      expect([wide.status, wide.bytes.equals(picture)]).toEqual([200, true])
    }
    await expectConsistent(app)
    const listed = await app.call('GET', '/media?limit=3', { key: secretKey })
    expect([listed.status, listed.body.total, listed.body.pages, listed.body.data.length]).toEqual([200, 8, 3, 3])
    for (const { id } of (await app.call('GET', '/media', { key: secretKey })).body.data)
      expect((await app.call('DELETE', `/media/${id}`, { key: secretKey })).status).toBe(204)
    await expectConsistent(app)
    expect(await app.deps.db.read.select().from(pictureFiles)).toEqual([])
    // The file that marks the store remains.
    if (store.objects) expect(store.objects.size).toBe(1)
    else expect(filesIn(app).length).toBe(1)
  })

test('serves images as immutable, to any origin, and with headers that prevent scripts', async () => {
  await using app = await testApp(settings)
  const { secretKey } = await shopIn(app)
  const { url } = (await upload(app, secretKey, make.drawPng())).body
  const answer = await read(app, `${url}?v=1&v=2`, { origin: 'https://anywhere.example', authorization: 'Bearer nonsense' })
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    'content-type': 'image/png',
    'content-length': String(make.drawPng().length),
    etag: `"${url.slice(-32)}-0"`,
  })
  const revalidated = await read(app, url, { 'if-none-match': answer.headers.get('etag') ?? '' })
  expect([revalidated.status, revalidated.bytes.length, revalidated.headers.get('cache-control')]).toEqual([
    304,
    0,
    'public, max-age=31536000, immutable',
  ])
  const hash = url.slice(-32)
  for (const name of [
    '0'.repeat(32),
    `${hash}-161`,
    `${hash}-0`,
    `${hash}-0160`,
    `${hash}-`,
    `${hash}.png`,
    hash.toUpperCase().replace(/\d/g, 'A'),
    'media_01',
    '..%2f..%2fkeys.json',
  ])
    expect([name, (await read(app, `/media/${name}`)).status]).toEqual([name, 404])
})

test('refuses files that are not images, damaged images and decompression bombs, and stores nothing', async () => {
  await using app = await testApp(settings)
  const { secretKey, token } = await shopIn(app)
  const jpeg = await make.jpegOf(300, 200)
  const png = make.drawPng(300, 200)
  const bomb = Buffer.concat([png.subarray(0, 8), make.pngChunk('IHDR', make.pngHeader(65_535, 65_535)), png.subarray(33)])
  // A valid PNG, except for the pixels.
  const noise = Buffer.concat([png.subarray(0, 33), make.pngChunk('IDAT', Buffer.alloc(5_000, 7)), make.pngChunk('IEND', Buffer.alloc(0))])
  const refused: [what: string, body: Uint8Array, status: number][] = [
    ['an empty body', Buffer.alloc(0), 400],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'), 415],
    ['HTML', Buffer.from(`<!doctype html>${' '.repeat(200)}`), 415],
    ['a GIF of script', Buffer.from('GIF89a=\0;\0alert(1)//'), 400],
    ['the beginning', jpeg.subarray(0, 30), 400],
    ['cut short', jpeg.subarray(0, -200), 400],
    ['a bomb', bomb, 413],
    ['10,000 frames', make.gifOfPixelFrames(10, 10, 10_000), 413],
    ['invalid pixels', noise, 400],
    ['too many bytes', Buffer.concat([jpeg, Buffer.alloc(10 * 1024 * 1024)]), 413],
  ]
  for (const [label, body, status] of refused) {
    const answer = await upload(app, secretKey, body, { type: 'image/jpeg' })
    expect([label, answer.status, answer.body.message]).toEqual([label, status, answer.body.message])
  }
  expect([await countFiles(app), filesIn(app, 'media-bench'), await usageOf(app)]).toEqual([{ named: 0, others: 1 }, [], []])
  // Bytes after the end of the picture are removed.
  const withTrailer = await upload(app, secretKey, Buffer.concat([jpeg, Buffer.from('<script>alert(1)</script>')]))
  expect([withTrailer.status, withTrailer.body.bytes]).toEqual([201, jpeg.length])
  for (const call of [
    { headers: { 'content-type': 'image/png' }, raw: png },
    { key: 'pk_test_nonsense', raw: png },
  ])
    expect((await app.call('POST', '/media', call)).status).toBe(401)
  expect((await app.call('POST', '/media', { token, raw: png, headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
})

test('answers 503 and stores nothing if a picture is not processed in time', async () => {
  await using app = await testApp(settings)
  const { secretKey } = await shopIn(app)
  const { pictureBench } = app.deps
  const { receive } = pictureBench
  pictureBench.receive = (chunks, use) =>
    receive(chunks, (picture) => use({ ...picture, render: async () => Promise.reject(new RenderFailed('FAILED', 'SIGKILL')) }))
  const refused = await upload(app, secretKey, make.drawPng(300, 200))
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '5'])
  expect([await countFiles(app), filesIn(app, 'media-bench'), await usageOf(app)]).toEqual([{ named: 0, others: 1 }, [], []])
  pictureBench.receive = receive
  expect((await upload(app, secretKey, make.drawPng(300, 200))).status).toBe(201)
})

test('stores an image of two shops once, does not reveal it to them, and deletes it with the last one', async () => {
  await using app = await testApp(settings)
  const [one, other] = [await shopIn(app), await shopIn(app)]
  const picture = await make.jpegOf(400, 300)
  const first = await upload(app, one.secretKey, picture)
  app.clock.advance(60_000)
  const second = await upload(app, other.secretKey, picture)
  const repeated = await upload(app, one.secretKey, picture)
  expect([first.status, second.status, repeated.status]).toEqual([201, 201, 201])
  expect(first.body.known).toBe(false)
  expect(repeated.body).toEqual({ ...first.body, known: true })
  expect(second.body).toEqual({ ...first.body, id: second.body.id, createdAt: new Date(app.deps.clock.now()).toISOString() })
  expect(second.body.id).not.toBe(first.body.id)
  expect([(await app.deps.db.read.select().from(pictures)).length, (await app.deps.db.read.select().from(media)).length]).toEqual([1, 2])
  // The original, two smaller widths, and the mark of the store.
  expect(await countFiles(app)).toEqual({ named: 3, others: 1 })
  expect((await usageOf(app)).map(({ pictures: count, bytes }) => [count, bytes])).toEqual([
    [1, picture.length],
    [1, picture.length],
  ])
  expect((await app.call('DELETE', `/media/${second.body.id}`, { key: one.secretKey })).status).toBe(404)
  expect((await app.call('DELETE', `/media/${first.body.id}`, { key: one.secretKey })).status).toBe(204)
  expect([(await read(app, first.body.url)).status, (await countFiles(app)).named]).toEqual([200, 3])
  expect((await app.call('GET', '/media', { key: one.secretKey })).body.total).toBe(0)
  await expectConsistent(app)
  expect((await app.call('DELETE', `/media/${second.body.id}`, { key: other.secretKey })).status).toBe(204)
  expect([(await read(app, first.body.url)).status, await countFiles(app)]).toEqual([404, { named: 0, others: 1 }])
  await expectConsistent(app)
})

test('the URL of an image does not reveal its hash and differs between instances', async () => {
  await using app = await testApp(settings)
  await using otherInstance = await testApp({ ...settings, ENCRYPTION_KEY: 'another-test-only-encryption-key-0123' })
  const [one, other] = [await shopIn(app), await shopIn(otherInstance)]
  const picture = make.drawPng()
  const urls = [await upload(app, one.secretKey, picture), await upload(otherInstance, other.secretKey, picture)].map(
    ({ body }) => body.url,
  )
  expect(urls[0]).not.toBe(urls[1])
  expect(urls.join().includes(new Bun.CryptoHasher('sha256').update(picture).digest('hex').slice(0, 32))).toBe(false)
})

describe('the quota of a shop', () => {
  test('concurrent uploads stay within the quota of a shop, and deleting frees space', async () => {
    await using app = await testApp({ ...settings, MEDIA_QUOTA_MB: '1' })
    const { secretKey } = await shopIn(app)
    const noise = (seed: number) =>
      make.png(330, 330, (x, y) => [(x * y * seed * 31) & 255, (x * x * seed + y * 7) & 255, (x ^ (y * seed)) & 255])
    const all = [3, 5, 7, 11, 13, 17, 19, 23].map(noise)
    const answers = await Promise.all(all.map((picture) => upload(app, secretKey, picture)))
    const stored = answers.filter(({ status }) => status === 201)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
    const [usage] = await usageOf(app)
    expect([usage?.pictures, usage?.bytes]).toEqual([stored.length, stored.reduce((sum, { body }) => sum + body.bytes, 0)])
    expect(usage?.bytes).toBeLessThanOrEqual(1024 * 1024)
    await expectConsistent(app)
    expect(await countFiles(app)).toEqual({ named: stored.length * 3, others: 1 })
    const [first] = stored
    await app.call('DELETE', `/media/${first?.body.id}`, { key: secretKey })
    const refused = answers.findIndex(({ status }) => status === 409)
    const retried = await upload(app, secretKey, all[refused] ?? Buffer.alloc(0))
    expect([201, 409]).toContain(retried.status)
    await expectConsistent(app)
  })
})

test('refuses with 429 the uploads of a shop beyond eight at once', async () => {
  await using app = await testApp(settings)
  const { secretKey } = await shopIn(app)
  // Blocks all uploads until the last one has arrived.
  const release = await app.deps.decodeQueue.acquire(['test'])
  let refusals = 0
  const uploads = Array.from({ length: 12 }, async (_, nth) => {
    const answer = await upload(app, secretKey, make.drawPng(20 + nth, 20))
    if (answer.status === 429 && ++refusals === 4) release()
    return answer
  })
  const answers = await Promise.all(uploads)
  const refused = answers.filter(({ status }) => status === 429)
  expect([answers.filter(({ status }) => status === 201).length, refused.length]).toEqual([8, 4])
  expect(refused[0]?.headers.get('retry-after')).toBe('5')
})

test('an image stays intact when shops upload and delete it at the same time', async () => {
  await using app = await testApp(settings)
  const shops = [await shopIn(app), await shopIn(app), await shopIn(app)]
  const picture = make.drawPng(200, 100)
  for (let round = 0; round < 6; round++) {
    const uploaded = await upload(app, shops[0]?.secretKey ?? '', picture)
    const [removed, ...added] = await Promise.all([
      app.call('DELETE', `/media/${uploaded.body.id}`, { key: shops[0]?.secretKey ?? '' }),
      ...shops.slice(1).map(({ secretKey }) => upload(app, secretKey, picture)),
    ])
    expect([removed.status, ...added.map(({ status }) => status)]).toEqual([204, 201, 201])
    const response = await read(app, uploaded.body.url)
    expect([response.status, response.bytes.equals(picture)]).toEqual([200, true])
    await expectConsistent(app)
    for (const [nth, { body }] of added.entries())
      expect((await app.call('DELETE', `/media/${body.id}`, { key: shops[nth + 1]?.secretKey ?? '' })).status).toBe(204)
    expect(await countFiles(app)).toEqual({ named: 0, others: 1 })
  }
})

test('sweeps files without a row, in the store and the work folder, once they are a day old', async () => {
  await using app = await testApp(settings)
  const { secretKey } = await shopIn(app)
  const uploaded = await upload(app, secretKey, make.drawPng(200, 100))
  const before = filesIn(app)
  const stray = [join(app.database.dataDir, 'media', 'a'.repeat(40)), join(app.database.dataDir, 'media-bench', 'left')]
  for (const path of stray) {
    writeFileSync(path, 'x')
    utimesSync(path, app.deps.clock.now() / 1000, app.deps.clock.now() / 1000)
  }
  await sweepDocuments(app.deps)
  expect(stray.map((path) => existsSync(path))).toEqual([true, true])
  app.clock.advance(25 * 60 * 60 * 1000)
  for (const name of before) utimesSync(join(app.database.dataDir, 'media', name), 1, 1)
  await sweepDocuments(app.deps)
  expect([stray.map((path) => existsSync(path)), filesIn(app)]).toEqual([[false, false], before])
  expect((await read(app, uploaded.body.url)).status).toBe(200)
})

test('reports a missing or altered image, and serves 503 for a missing one', async () => {
  await using app = await testApp(settings)
  const { secretKey } = await shopIn(app)
  const { url } = (await upload(app, secretKey, make.drawPng())).body
  const [file] = await app.deps.db.read.select().from(pictureFiles)
  const path = join(app.database.dataDir, 'media', file?.storageName ?? '')
  const bytes = readFileSync(path)
  bytes[50] = (bytes[50] ?? 0) ^ 1
  writeFileSync(path, bytes)
  expect((await Array.fromAsync(findPictureFaults(app.deps))).map(({ fault }) => fault)).toEqual(['ALTERED'])
  rmSync(path)
  expect((await Array.fromAsync(findPictureFaults(app.deps))).map(({ fault }) => fault)).toEqual(['MISSING'])
  const countNotices = () => app.logged.filter(({ event }) => event === 'pictures.missing').length
  // Every visit to a page of the shop requests the image.
  for (let visit = 0; visit < 3; visit++) expect((await read(app, url)).status).toBe(503)
  expect(countNotices()).toBe(1)
  app.clock.advance(60 * 60_000)
  expect([(await read(app, url)).status, countNotices()]).toEqual([503, 2])
})

test('a process whose image folder does not belong to its database refuses uploads with 503', async () => {
  const database = await testDatabase()
  const secretKey = await (async () => {
    await using app = await testApp(settings, { database })
    const shop = await shopIn(app)
    expect((await upload(app, shop.secretKey, make.drawPng())).status).toBe(201)
    return shop.secretKey
  })()
  rmSync(join(database.dataDir, 'media'), { recursive: true })
  await using _ = { [Symbol.asyncDispose]: () => database.drop() }
  await using other = await testApp(settings, { database })
  const answer = await upload(other, secretKey, make.drawPng(30, 30))
  expect([answer.status, answer.body.message]).toEqual([503, 'The picture storage is not available: nothing was changed, try again later'])
  expect(other.logged.map(({ event }) => event)).toContain('documents.other_store')
})
