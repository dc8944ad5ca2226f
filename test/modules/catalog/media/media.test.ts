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

type Sent = { type?: string; headers?: Record<string, string> }
export const handIn = (app: TestApp, key: string, raw: Uint8Array, { type = 'application/octet-stream', headers = {} }: Sent = {}) =>
  app.call('POST', '/media', { key, raw, headers: { 'content-type': type, ...headers } })
async function read(app: TestApp, url: string, headers: Record<string, string> = {}) {
  const response = await app.edge.fetch(new Request(`http://localhost${url.replace(base, '')}`, { headers }))
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}
const inFolder = ({ database }: TestApp, folder = 'media') => {
  const directory = join(database.dataDir, folder)
  return existsSync(directory) ? readdirSync(directory).sort() : []
}
/** But for the mark of the store. */
const filesOf = async (app: TestApp) => {
  const names = new Set((await app.deps.db.read.select().from(pictureFiles)).map(({ storageName }) => storageName))
  return { named: inFolder(app).filter((name) => names.has(name)).length, others: inFolder(app).filter((name) => !names.has(name)).length }
}
const usageOf = async ({ deps }: TestApp) => deps.db.read.select().from(mediaUsage)
const isSound = async (app: TestApp) => {
  const faults = await Array.fromAsync(findPictureFaults(app.deps))
  expect([await describePictureDifferences(app.deps), faults]).toEqual([[], []])
}

const placesToKeep = {
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

for (const [where, open] of Object.entries(placesToKeep))
  test(`stores every image format with its true size and type, and serves it unchanged from ${where}`, async () => {
    await using store = await open()
    await using app = await testApp({ ...settings, ...store.settings })
    const { secretKey } = await shopIn(app)
    const formats: [type: string, picture: Buffer, sizes: number[], animated: boolean][] = [
      ['image/jpeg', await make.jpegOf(700, 500), [160, 320, 640], false],
      ['image/png', make.drawn(330, 200), [160, 320], false],
      ['image/webp', await make.webpOf(200, 300), [160], false],
      ['image/gif', make.gifOf(170, 90), [160], false],
      ['image/avif', make.avifOf(700, 500), [], false],
      ['image/gif', make.gifOf(180, 90, 3), [], true],
      ['image/webp', await make.movingWebp(180, 90), [], true],
      ['image/png', make.movingPng(180, 90), [], true],
    ]
    for (const [type, picture, sizes, animated] of formats) {
      const made = await handIn(app, secretKey, picture, { type: 'image/x-whatever' })
      expect([type, made.status, made.text]).toEqual([type, 201, made.text])
      const { id, url, ...said } = made.body
      expect(id).toStartWith('media_')
      expect(url).toMatch(/^https:\/\/shop\.example\/media\/[0-9a-f]{32}$/)
      const { width, height } = { width: said.width, height: said.height }
      expect(said).toMatchObject({ type, bytes: picture.length, animated, createdAt: new Date(app.deps.clock.now()).toISOString() })
      expect(said.sizes.map((size: { width: number }) => size.width)).toEqual(sizes)
      const whole = await read(app, url)
      expect([whole.status, whole.headers.get('content-type'), whole.bytes.equals(picture)]).toEqual([200, type, true])
      for (const size of said.sizes) {
        const smaller = await read(app, size.url)
        expect([smaller.status, smaller.headers.get('content-type')]).toEqual([200, 'image/webp'])
        const shown = await new Bun.Image(smaller.bytes).metadata()
        expect(Math.abs(shown.height - (height * size.width) / width)).toBeLessThan(1)
        expect(shown).toEqual({ width: size.width, height: expect.any(Number), format: 'webp' })
      }
      // A width that there is nothing smaller for is the picture itself.
      const wide = await read(app, `${url}-1280`)
      expect([wide.status, wide.bytes.equals(picture)]).toEqual([200, true])
    }
    await isSound(app)
    const listed = await app.call('GET', '/media?limit=3', { key: secretKey })
    expect([listed.status, listed.body.total, listed.body.pages, listed.body.data.length]).toEqual([200, 8, 3, 3])
    for (const { id } of (await app.call('GET', '/media', { key: secretKey })).body.data)
      expect((await app.call('DELETE', `/media/${id}`, { key: secretKey })).status).toBe(204)
    await isSound(app)
    expect(await app.deps.db.read.select().from(pictureFiles)).toEqual([])
    // The mark of the store stays.
    if (store.objects) expect(store.objects.size).toBe(1)
    else expect(inFolder(app).length).toBe(1)
  })

test('serves images as immutable, to any origin, and with headers that prevent scripts', async () => {
  await using app = await testApp(settings)
  const { secretKey } = await shopIn(app)
  const { url } = (await handIn(app, secretKey, make.drawn())).body
  const answer = await read(app, `${url}?v=1&v=2`, { origin: 'https://anywhere.example', authorization: 'Bearer nonsense' })
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    'content-type': 'image/png',
    'content-length': String(make.drawn().length),
    etag: `"${url.slice(-32)}-0"`,
  })
  const again = await read(app, url, { 'if-none-match': answer.headers.get('etag') ?? '' })
  expect([again.status, again.bytes.length, again.headers.get('cache-control')]).toEqual([304, 0, 'public, max-age=31536000, immutable'])
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
  const png = make.drawn(300, 200)
  const bomb = Buffer.concat([png.subarray(0, 8), make.pngChunk('IHDR', make.pngHeader(65_535, 65_535)), png.subarray(33)])
  // Every part of it is whole, but for the pixels.
  const noise = Buffer.concat([png.subarray(0, 33), make.pngChunk('IDAT', Buffer.alloc(5_000, 7)), make.pngChunk('IEND', Buffer.alloc(0))])
  const refused: [what: string, body: Uint8Array, status: number][] = [
    ['nothing', Buffer.alloc(0), 400],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'), 415],
    ['HTML', Buffer.from(`<!doctype html>${' '.repeat(200)}`), 415],
    ['a GIF of script', Buffer.from('GIF89a=\0;\0alert(1)//'), 400],
    ['the beginning', jpeg.subarray(0, 30), 400],
    ['cut short', jpeg.subarray(0, -200), 400],
    ['a bomb', bomb, 413],
    ['10,000 frames', make.gifOfPoints(10, 10, 10_000), 413],
    ['pixels that are none', noise, 400],
    ['too many bytes', Buffer.concat([jpeg, Buffer.alloc(10 * 1024 * 1024)]), 413],
  ]
  for (const [what, body, status] of refused) {
    const answer = await handIn(app, secretKey, body, { type: 'image/jpeg' })
    expect([what, answer.status, answer.body.message]).toEqual([what, status, answer.body.message])
  }
  expect([await filesOf(app), inFolder(app, 'media-bench'), await usageOf(app)]).toEqual([{ named: 0, others: 1 }, [], []])
  // What is behind the end goes.
  const behind = await handIn(app, secretKey, Buffer.concat([jpeg, Buffer.from('<script>alert(1)</script>')]))
  expect([behind.status, behind.body.bytes]).toEqual([201, jpeg.length])
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
  const refused = await handIn(app, secretKey, make.drawn(300, 200))
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '5'])
  expect([await filesOf(app), inFolder(app, 'media-bench'), await usageOf(app)]).toEqual([{ named: 0, others: 1 }, [], []])
  pictureBench.receive = receive
  expect((await handIn(app, secretKey, make.drawn(300, 200))).status).toBe(201)
})

test('stores an image of two shops once, hides that from both, and deletes it with the last one', async () => {
  await using app = await testApp(settings)
  const [one, other] = [await shopIn(app), await shopIn(app)]
  const picture = await make.jpegOf(400, 300)
  const first = await handIn(app, one.secretKey, picture)
  app.clock.advance(60_000)
  const second = await handIn(app, other.secretKey, picture)
  const again = await handIn(app, one.secretKey, picture)
  expect([first.status, second.status, again.status]).toEqual([201, 201, 201])
  expect(first.body.known).toBe(false)
  expect(again.body).toEqual({ ...first.body, known: true })
  expect(second.body).toEqual({ ...first.body, id: second.body.id, createdAt: new Date(app.deps.clock.now()).toISOString() })
  expect(second.body.id).not.toBe(first.body.id)
  expect([(await app.deps.db.read.select().from(pictures)).length, (await app.deps.db.read.select().from(media)).length]).toEqual([1, 2])
  // Two widths, itself and the mark.
  expect(await filesOf(app)).toEqual({ named: 3, others: 1 })
  expect((await usageOf(app)).map(({ pictures: count, bytes }) => [count, bytes])).toEqual([
    [1, picture.length],
    [1, picture.length],
  ])
  expect((await app.call('DELETE', `/media/${second.body.id}`, { key: one.secretKey })).status).toBe(404)
  expect((await app.call('DELETE', `/media/${first.body.id}`, { key: one.secretKey })).status).toBe(204)
  expect([(await read(app, first.body.url)).status, (await filesOf(app)).named]).toEqual([200, 3])
  expect((await app.call('GET', '/media', { key: one.secretKey })).body.total).toBe(0)
  await isSound(app)
  expect((await app.call('DELETE', `/media/${second.body.id}`, { key: other.secretKey })).status).toBe(204)
  expect([(await read(app, first.body.url)).status, await filesOf(app)]).toEqual([404, { named: 0, others: 1 }])
  await isSound(app)
})

test('the URL of an image does not reveal its hash and differs between instances', async () => {
  await using app = await testApp(settings)
  await using elsewhere = await testApp({ ...settings, ENCRYPTION_KEY: 'another-test-only-encryption-key-0123' })
  const [one, other] = [await shopIn(app), await shopIn(elsewhere)]
  const picture = make.drawn()
  const urls = [await handIn(app, one.secretKey, picture), await handIn(elsewhere, other.secretKey, picture)].map(({ body }) => body.url)
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
    const answers = await Promise.all(all.map((picture) => handIn(app, secretKey, picture)))
    const taken = answers.filter(({ status }) => status === 201)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]))
    const [usage] = await usageOf(app)
    expect([usage?.pictures, usage?.bytes]).toEqual([taken.length, taken.reduce((sum, { body }) => sum + body.bytes, 0)])
    expect(usage?.bytes).toBeLessThanOrEqual(1024 * 1024)
    await isSound(app)
    expect(await filesOf(app)).toEqual({ named: taken.length * 3, others: 1 })
    const [least] = taken
    await app.call('DELETE', `/media/${least?.body.id}`, { key: secretKey })
    const refused = answers.findIndex(({ status }) => status === 409)
    const retried = await handIn(app, secretKey, all[refused] ?? Buffer.alloc(0))
    expect([201, 409]).toContain(retried.status)
    await isSound(app)
  })
})

test('refuses with 429 the uploads of a shop beyond eight at once', async () => {
  await using app = await testApp(settings)
  const { secretKey } = await shopIn(app)
  // None is done before the last has come.
  const endTurn = await app.deps.decodeQueue.acquire(['somebody'])
  let refusals = 0
  const handed = Array.from({ length: 12 }, async (_, nth) => {
    const answer = await handIn(app, secretKey, make.drawn(20 + nth, 20))
    if (answer.status === 429 && ++refusals === 4) endTurn()
    return answer
  })
  const answers = await Promise.all(handed)
  const refused = answers.filter(({ status }) => status === 429)
  expect([answers.filter(({ status }) => status === 201).length, refused.length]).toEqual([8, 4])
  expect(refused[0]?.headers.get('retry-after')).toBe('5')
})

test('an image stays intact when shops upload and delete it at the same time', async () => {
  await using app = await testApp(settings)
  const shops = [await shopIn(app), await shopIn(app), await shopIn(app)]
  const picture = make.drawn(200, 100)
  for (let round = 0; round < 6; round++) {
    const held = await handIn(app, shops[0]?.secretKey ?? '', picture)
    const [removed, ...added] = await Promise.all([
      app.call('DELETE', `/media/${held.body.id}`, { key: shops[0]?.secretKey ?? '' }),
      ...shops.slice(1).map(({ secretKey }) => handIn(app, secretKey, picture)),
    ])
    expect([removed.status, ...added.map(({ status }) => status)]).toEqual([204, 201, 201])
    const shown = await read(app, held.body.url)
    expect([shown.status, shown.bytes.equals(picture)]).toEqual([200, true])
    await isSound(app)
    for (const [nth, { body }] of added.entries())
      expect((await app.call('DELETE', `/media/${body.id}`, { key: shops[nth + 1]?.secretKey ?? '' })).status).toBe(204)
    expect(await filesOf(app)).toEqual({ named: 0, others: 1 })
  }
})

test('sweeps files without a row, in the store and the work folder, once they are a day old', async () => {
  await using app = await testApp(settings)
  const { secretKey } = await shopIn(app)
  const kept = await handIn(app, secretKey, make.drawn(200, 100))
  const before = inFolder(app)
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
  expect([stray.map((path) => existsSync(path)), inFolder(app)]).toEqual([[false, false], before])
  expect((await read(app, kept.body.url)).status).toBe(200)
})

test('reports a missing or altered image, and serves 503 for a missing one', async () => {
  await using app = await testApp(settings)
  const { secretKey } = await shopIn(app)
  const { url } = (await handIn(app, secretKey, make.drawn())).body
  const [file] = await app.deps.db.read.select().from(pictureFiles)
  const path = join(app.database.dataDir, 'media', file?.storageName ?? '')
  const bytes = readFileSync(path)
  bytes[50] = (bytes[50] ?? 0) ^ 1
  writeFileSync(path, bytes)
  expect((await Array.fromAsync(findPictureFaults(app.deps))).map(({ fault }) => fault)).toEqual(['ALTERED'])
  rmSync(path)
  expect((await Array.fromAsync(findPictureFaults(app.deps))).map(({ fault }) => fault)).toEqual(['MISSING'])
  const told = () => app.logged.filter(({ event }) => event === 'pictures.missing').length
  // Every look at a shop's page asks for it.
  for (let look = 0; look < 3; look++) expect((await read(app, url)).status).toBe(503)
  expect(told()).toBe(1)
  app.clock.advance(60 * 60_000)
  expect([(await read(app, url)).status, told()]).toEqual([503, 2])
})

test('a process whose image folder does not belong to its database refuses uploads with 503', async () => {
  const database = await testDatabase()
  const secretKey = await (async () => {
    await using app = await testApp(settings, { database })
    const shop = await shopIn(app)
    expect((await handIn(app, shop.secretKey, make.drawn())).status).toBe(201)
    return shop.secretKey
  })()
  rmSync(join(database.dataDir, 'media'), { recursive: true })
  await using _ = { [Symbol.asyncDispose]: () => database.drop() }
  await using other = await testApp(settings, { database })
  const answer = await handIn(other, secretKey, make.drawn(30, 30))
  expect([answer.status, answer.body.message]).toEqual([503, 'The picture storage is not available: nothing was changed, try again later'])
  expect(other.logged.map(({ event }) => event)).toContain('documents.other_store')
})
