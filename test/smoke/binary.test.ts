/** Tests the binary (SOUK_BINARY) in an empty folder, without Bun on its PATH. `.ci/run` builds it and runs this. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'

const binary = Bun.env['SOUK_BINARY']
if (!binary) process.stderr.write('skipped: the binary smoke test (SOUK_BINARY names no binary; `bun run build` makes one)\n')

/** Returns an environment with nothing of this machine but a folder to write to. */
const environment = (dataDir: string) => ({ PATH: '/usr/bin:/bin', HOME: dataDir, DATA_DIR: dataDir, PORT: '0' })

function start(folder: string, args: readonly string[], stdin = '') {
  return Bun.spawn([binary ?? '', ...args], {
    cwd: folder,
    env: environment(join(folder, 'data')),
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

async function run(folder: string, args: readonly string[], stdin = ''): Promise<{ status: number; out: string; err: string }> {
  const child = start(folder, args, stdin)
  const [status, out, err] = await Promise.all([
    child.exited,
    Bun.readableStreamToText(child.stdout),
    Bun.readableStreamToText(child.stderr),
  ])
  return { status, out, err }
}

/** Serves until `use` is done, then stops the server. Returns its exit status. */
async function serveDuring(folder: string, args: readonly string[], use: (url: string, output: string) => Promise<void>): Promise<number> {
  const child = start(folder, args)
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let output = ''
  while (!/souk is ready at http\S+\n[\s\S]*\n/.test(output)) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the binary ended before it was ready: ${await Bun.readableStreamToText(child.stderr)}`)
    output += decoder.decode(value)
  }
  reader.releaseLock()
  try {
    await use(/http:\/\/\S+/.exec(output)?.[0] ?? '', output)
  } finally {
    child.kill('SIGTERM')
  }
  return child.exited
}

/** Buys in the demo's main shop, and pays on the page of its stand-in for Stripe. Returns the order's status. */
async function buyByCard(url: string, page: string): Promise<string> {
  const call = async (method: string, path: string, key?: string, body?: unknown) => {
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
      ...(key ? { 'x-service-api-key': key } : {}),
    }
    const answer = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
    return (await answer.json()) as any
  }
  const { publishableKey: key } = await call('GET', '/shops/v2/public/name/demo')
  const { data } = await call('GET', '/product-v2/public/shop/demo?q=scoop')
  const shippingAddress = { name: 'Ada Lovelace', line1: '1 Quay Street', city: 'Portland', province: 'ME', countryCode: 'US' }
  const cart = await call('POST', '/cart', key, { email: 'ada@example.com', shippingAddress, shippingMethod: 'standard' })
  await call('POST', `/cart/${cart.id}/items`, key, { variantId: data[0].variants[0].id, quantity: 1 })
  const { payment } = await call('POST', `/cart/${cart.id}/checkout`, key, { method: 'card' })
  expect([payment.processor, payment.status]).toEqual(['stripe', 'REQUIRES_ACTION'])
  expect((await fetch(`${page}${payment.clientParameters.clientSecret}`, { method: 'POST' })).status).toBe(200)
  for (let looks = 0; ; looks++) {
    const { order } = await call('POST', `/cart/${cart.id}/complete`, key)
    if (order.status === 'CONFIRMED' || looks === 1_000) return order.status
    await Bun.sleep(10)
  }
}

const products = 'Handle,Title,Variant Price,Published\nlamp,Lamp,12.50,true\nrug,Rug,80,true\n'

describe.skipIf(!binary)('the binary', () => {
  test('the binary serves the demo with pages, document and migrations inside, and stops cleanly', async () => {
    const folder = temporaryDir()
    const status = await serveDuring(folder, ['demo'], async (url, output) => {
      expect(output).toContain('merchant@demo.example')
      expect(output).toContain(`Console           ${url}/console`)
      const list = (await (await fetch(`${url}/product-v2/public/shop/demo`)).json()) as { total: number; data: { id: string }[] }
      expect(list.total).toBe(24)
      expect((await fetch(`${url}/product-v2/public/${list.data[0]?.id}`)).status).toBe(200)
      for (const path of ['/', '/docs', '/docs/json', '/health/ready', '/metrics'])
        expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
      const assets = [...(await (await fetch(`${url}/docs`)).text()).matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path]) => path)
      expect(assets.length).toBeGreaterThan(1)
      for (const asset of assets) expect([asset, (await fetch(url + asset)).status]).toEqual([asset, 200])
      const page = await (await fetch(`${url}/console/orders`)).text()
      const files = [...page.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path)
      expect(files.length).toBeGreaterThan(1)
      for (const file of files) {
        const uncompressed = await (await fetch(url + file, { headers: { 'accept-encoding': 'identity' } })).text()
        for (const encoding of ['br', 'gzip']) {
          // Small files are sent uncompressed.
          const expectedEncoding = uncompressed.length < 256 ? null : encoding
          const answer = await fetch(url + file, { headers: { 'accept-encoding': encoding } })
          expect([file, answer.status, answer.headers.get('content-encoding'), (await answer.text()) === uncompressed]).toEqual([
            file,
            200,
            expectedEncoding,
            true,
          ])
        }
        // The binary also contains chunks that are loaded on demand.
        for (const [, chunk] of uncompressed.matchAll(/"\.\/([\w-]+\.js)"/g))
          expect([chunk, (await fetch(`${url}/console/assets/${chunk}`)).status]).toEqual([chunk, 200])
      }
      const login = await fetch(`${url}/merchant/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'merchant@demo.example', password: 'demo-merchant' }),
      })
      const { data } = (await login.json()) as { data: { accessToken: string } }
      const headers = { authorization: `Bearer ${data.accessToken}` }
      expect((await fetch(`${url}/shops/v2`, { headers })).status).toBe(200)
      // This route loads a library on demand, which the binary must contain.
      expect((await fetch(`${url}/shops/v2/custody/wallet`, { method: 'POST', headers })).status).toBe(200)
      // The program decodes and resizes pictures in a child process.
      type Picture = { url: string; width: number; sizes: { url: string }[] }
      const pictures = (await (await fetch(`${url}/media`, { headers })).json()) as { total: number; data: Picture[] }
      expect([pictures.total, pictures.data[0]?.width, pictures.data[0]?.sizes.length]).toEqual([25, 480, 2])
      const original = await fetch(pictures.data[0]?.url ?? '')
      const bytes = await original.bytes()
      expect([original.status, original.headers.get('content-type')]).toEqual([200, 'image/png'])
      const small = await fetch(pictures.data[0]?.sizes[0]?.url ?? '')
      expect([small.status, small.headers.get('content-type'), (await small.bytes()).length < bytes.length]).toEqual([
        200,
        'image/webp',
        true,
      ])
      const uploaded = await fetch(`${url}/media`, { method: 'POST', headers, body: bytes })
      expect([uploaded.status, ((await uploaded.json()) as Picture).url]).toEqual([201, pictures.data[0]?.url ?? ''])
      const listed = (await (await fetch(`${url}/product-v2/public/shop/demo?limit=100`)).json()) as { data: { images: Picture[] }[] }
      const images = listed.data.flatMap((product) => product.images)
      expect([images.length, images.every((image) => image.url.startsWith(`${url}/media/`))]).toEqual([24, true])
      expect(await buyByCard(url, /Stripe +(\S+)CLIENT_SECRET/.exec(output)?.[1] ?? '')).toBe('CONFIRMED')
    })
    expect(status).toBe(0)
  })

  test('the binary sets up, imports beside the running server, backs up, restores and checks', async () => {
    const folder = temporaryDir()
    await Bun.write(join(folder, 'products.csv'), products)
    const status = await serveDuring(folder, ['demo'], async (url) => {
      const imported = await run(folder, ['import', 'products.csv', '--shop', 'demo'])
      expect([imported.status, imported.out]).toEqual([0, expect.stringContaining('2 created')])
      const { total } = (await (await fetch(`${url}/product-v2/public/shop/demo`)).json()) as { total: number }
      expect(total).toBe(26)
      expect((await run(folder, ['backup', 'copy.db'])).status).toBe(0)
      expect((await run(folder, ['serve'])).status).toBe(1)
      expect((await run(folder, ['rotate-keys'])).status).toBe(0)
    })
    expect(status).toBe(0)
    expect((await run(folder, ['restore', 'copy.db', '--force'])).status).toBe(0)
    expect((await run(folder, ['setup', '--email', 'root@example.com', '--another'], 'a-long-password\n')).status).toBe(0)
    const checked = await run(folder, ['check'])
    expect([checked.status, checked.err]).toEqual([0, ''])
  })

  test('the binary contains the console, but not its bundler', async () => {
    const bytes = Buffer.from(await Bun.file(binary ?? '').arrayBuffer())
    expect(bytes.includes('this program was compiled without the console')).toBe(true)
    expect(bytes.includes('the bundler made no script of')).toBe(false)
  })

  test('the binary explains itself and prints the document without touching the disk', async () => {
    const folder = temporaryDir()
    for (const args of [['--help'], ['help', 'settings'], ['import', '--help'], ['version']])
      expect([args, (await run(folder, args)).status]).toEqual([args, 0])
    const { status, out } = await run(folder, ['openapi'])
    expect([status, JSON.parse(out).openapi]).toEqual([0, expect.stringMatching(/^3\./)])
    expect((await Bun.$`ls -A ${folder}`.text()).trim()).toBe('')
  })
})
