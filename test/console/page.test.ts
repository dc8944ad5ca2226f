/** Tests how the console is served: one page, its files and their headers. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { bundleConsole } from '../../src/clients/console/bundle.ts'
import { openConsoleFiles, packFiles, unpackFiles } from '../../src/clients/console/files.ts'
import { encodingFor } from '../../src/http/static.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { temporaryDir } from '../support/database.ts'
import { serveTestApp } from '../support/server.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const filesOf = (page: string) => [...new Set([...page.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path ?? ''))]
const pageOf = async (app: TestApp) => (await app.call('GET', '/console')).text

describe('the page', () => {
  test('is the same at every path below /console', async () => {
    await using app = await testApp()
    const { status, headers, text } = await app.call('GET', '/console')
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, 'text/html;charset=utf-8', 'no-cache'])
    for (const path of [
      '/console/',
      '/console/orders',
      '/console/products/prod_1/stock?x=1',
      '/console/assetsx',
      '/console/%D9%85',
      '/console/session',
      '/console/setup',
    ])
      expect([path, (await app.call('GET', path)).text]).toEqual([path, text])
  })

  test('is not served at other paths or for other methods', async () => {
    await using app = await testApp()
    for (const path of ['/consolex', '/console/assets', '/console/assets/', '/console/assets/a/b.js'])
      expect([path, (await app.call('GET', path)).status]).toEqual([path, 404])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect([method, (await app.call(method, '/console')).status]).toEqual([method, 405])
  })

  test('names its script, its style, its version and its language, and has no inline code', async () => {
    await using app = await testApp()
    const page = await pageOf(app)
    expect(page).toStartWith('<!doctype html>\n<html lang="en">')
    expect(page).toContain(`<meta name="souk:version" content="${app.deps.build.version}">`)
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
    expect(page).toMatch(/<link rel="stylesheet" href="\/console\/assets\/index-[a-z0-9]+\.css">/)
    const at = (name: string) => `"/console/assets/${name}-[a-z0-9]+\\.js"`
    for (const name of ['bootstrap', 'bootstrap-fallback'])
      expect(page).toMatch(new RegExp(`<script async src=${at(name)} data-then=${at('index')}`))
    expect(page).toMatch(new RegExp(`<link rel="modulepreload" href=${at('index')}>`))
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/i)
  })

  test('may load and request this origin only, and cannot be framed', async () => {
    await using app = await testApp()
    const { headers } = await app.call('GET', '/console')
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types souk',
    ])
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('permissions-policy')).toContain('camera=()')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('cannot be read by pages of other origins, nor can its files and errors', async () => {
    await using app = await testApp()
    const paths = ['/console', '/console/x', '/console/session', '/console/assets/no-1.js', ...filesOf(await pageOf(app))]
    for (const path of paths) {
      const { headers } = await app.call('GET', path, { headers: { origin: 'https://other.example' } })
      expect([path, [...headers.keys()].filter((name) => name.startsWith('access-control-'))]).toEqual([path, []])
    }
  })

  test('has instructions for browsers without scripts, in every language', async () => {
    await using app = await testApp()
    const [, text = ''] = /<noscript>([\s\S]+)<\/noscript>/.exec(await pageOf(app)) ?? []
    expect(text).toContain('This page requires JavaScript')
    for (const language of ['en', 'ar', 'mn']) expect(text).toContain(`lang="${language}"`)
  })

  test('responds 304 to its ETag, and to HEAD', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    const page = await fetch(`${server.url}/console/orders`)
    const etag = page.headers.get('etag') ?? ''
    expect(etag).not.toBe('')
    const conditional = await fetch(`${server.url}/console`, { headers: { 'if-none-match': etag } })
    expect([conditional.status, await conditional.text(), conditional.headers.get('cache-control')]).toEqual([304, '', 'no-cache'])
    expect(conditional.headers.get('content-security-policy')).toBe(page.headers.get('content-security-policy'))
    const head = await fetch(`${server.url}/console`, { method: 'HEAD' })
    expect([head.status, await head.text(), head.headers.get('etag'), head.headers.get('content-length')]).toEqual([
      200,
      '',
      etag,
      String((await page.arrayBuffer()).byteLength),
    ])
  })

  test('is not served if CONSOLE_ENABLED is false, nor are its files', async () => {
    await using on = await testApp()
    await using app = await testApp({ CONSOLE_ENABLED: 'false' })
    for (const path of ['/console', '/console/', '/console/orders', ...filesOf(await pageOf(on))]) {
      const { status, body } = await app.call('GET', path)
      expect([path, status, body]).toEqual([path, 404, (await app.call('GET', '/nothing')).body])
    }
    expect((await app.call('GET', '/')).text).not.toContain('/console')
  })

  test('is linked from the home page', async () => {
    await using app = await testApp()
    expect((await app.call('GET', '/')).text).toContain('<a href="/console">')
  })
})

describe('a file', () => {
  test('is cached forever, because its name changes with its content', async () => {
    await using app = await testApp()
    const files = filesOf(await pageOf(app))
    expect(files.length).toBeGreaterThan(1)
    for (const path of files) {
      const { status, headers, text } = await app.call('GET', path)
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=31536000, immutable'])
      expect(headers.get('content-type')).toBe(path.endsWith('.js') ? 'text/javascript;charset=utf-8' : 'text/css;charset=utf-8')
      const etag = headers.get('etag') ?? ''
      const conditional = await app.call('GET', path, { headers: { 'if-none-match': etag } })
      expect([conditional.status, conditional.text, conditional.headers.get('cache-control')]).toEqual([
        304,
        '',
        headers.get('cache-control'),
      ])
      expect(text.length).toBeGreaterThan(0)
    }
  })

  test('is sent in an encoding that the browser accepts, with an ETag for each', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    const script = filesOf(await pageOf(app)).find((path) => /\/index-\w+\.js$/.test(path)) ?? ''
    const get = async (accept: string, more: Record<string, string> = {}) => {
      const answer = await fetch(`${server.url}${script}`, { headers: { 'accept-encoding': accept, ...more }, decompress: false })
      return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
    }
    const identity = await get('identity')
    const br = await get('gzip, deflate, br, zstd')
    const gzip = await get('gzip')
    expect([identity, br, gzip].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'br', 'gzip'])
    expect(brotliDecompressSync(br.bytes).equals(identity.bytes)).toBe(true)
    expect(gunzipSync(gzip.bytes).equals(identity.bytes)).toBe(true)
    for (const { headers, bytes } of [identity, br, gzip]) {
      expect(headers.get('vary')).toBe('accept-encoding')
      expect(Number(headers.get('content-length'))).toBe(bytes.length)
    }
    const etags = [identity, br, gzip].map(({ headers }) => headers.get('etag') ?? '')
    expect(new Set(etags).size).toBe(3)
    expect((await get('br', { 'if-none-match': etags[1] ?? '' })).status).toBe(304)
    expect((await get('gzip', { 'if-none-match': etags[1] ?? '' })).status).toBe(200)
    const head = await fetch(`${server.url}${script}`, { method: 'HEAD', headers: { 'accept-encoding': 'br' }, decompress: false })
    expect([head.status, head.headers.get('etag'), head.headers.get('content-length')]).toEqual([
      200,
      etags[1] ?? '',
      String(br.bytes.length),
    ])
  })

  test('that does not exist is 404, not the page', async () => {
    await using app = await testApp()
    for (const name of ['index.js', 'index-0.js', 'entry.json', 'constructor', '..%2f..%2fpackage.json', `${'a'.repeat(3_000)}.js`]) {
      const { status, headers } = await app.call('GET', `/console/assets/${name}`)
      expect([name, status, headers.get('cache-control')]).toEqual([name, 404, 'no-store'])
    }
  })
})

test('a console that does not compile responds 500, is logged, and is compiled again', async () => {
  await using app = await testApp()
  const { open } = app.deps.consoleFiles
  app.deps.consoleFiles.open = () => Promise.reject(new AggregateError([new Error('a bracket too many')], 'Bundle failed'))
  for (const path of ['/console', '/console/orders', '/console/assets/index-1.js']) {
    const { status, body, headers } = await app.call('GET', path)
    expect([path, status, headers.get('cache-control')]).toEqual([path, 500, 'no-store'])
    expect(body.message).toBe('The console could not be built: see the log')
  }
  expect(app.logged).toContainEqual(expect.objectContaining({ level: 'error', event: 'console.not_built' }))
  app.deps.consoleFiles.open = open
  expect((await app.call('GET', '/console')).status).toBe(200)
})

test('an encoding is chosen as RFC 9110 says', () => {
  const cases: [accept: string | null, encoding: 'br' | 'gzip' | undefined][] = [
    [null, undefined],
    ['', undefined],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['*, br;q=0', 'gzip'],
    ['identity, br;q=0.5', undefined],
    ['br;q=nonsense', undefined],
    ['deflate', undefined],
  ]
  for (const [accept, encoding] of cases) expect([accept, encodingFor(accept)]).toEqual([accept, encoding])
})

describe('the bundle', () => {
  const folder = temporaryDir()
  /** Bundles a console of a few lines. */
  const bundleOf = (source: string) => {
    writeFileSync(join(folder, 'index.tsx'), source)
    writeFileSync(join(folder, 'on-demand.ts'), 'export const onDemand = 1')
    for (const name of ['bootstrap', 'bootstrap-fallback']) writeFileSync(join(folder, `${name}.ts`), `document.title = "${name}"`)
    return bundleConsole(join(folder, 'index.tsx'))
  }

  test('has names that depend on its content', async () => {
    const one = await bundleOf('document.title = "one"; import("./on-demand.ts")')
    const same = await bundleOf('document.title = "one"; import("./on-demand.ts")')
    const other = await bundleOf('document.title = "two"; import("./on-demand.ts")')
    expect([...same.files.keys()].sort()).toEqual([...one.files.keys()].sort())
    expect(other.entry.script).not.toBe(one.entry.script)
    expect(one.files.size).toBe(4)
  })

  test('contains the production build of Preact', async () => {
    const { entry, files } = await openConsoleFiles()
    const text = new TextDecoder().decode(files.get(entry.script)?.body as Uint8Array)
    expect(text).not.toMatch(/index\.tsx|fileName:|__source:|jsxDEV|process\.env/)
  })

  test('is packed into one file, and unpacked unchanged', async () => {
    const packed = await openConsoleFiles()
    const { entry, files } = await unpackFiles(new Blob([packFiles(packed)]))
    expect(entry).toEqual(packed.entry)
    expect([...files.keys()].sort()).toEqual([...packed.files.keys()].sort())
    const bytesOf = async (body: Blob | Uint8Array<ArrayBuffer> | undefined) => Buffer.from(await new Response(body ?? null).arrayBuffer())
    for (const [name, { body, contentType, encoded }] of packed.files) {
      const out = files.get(name)
      expect([name, out?.contentType]).toEqual([name, contentType])
      expect((await bytesOf(out?.body)).equals(await bytesOf(body))).toBe(true)
      for (const encoding of ['br', 'gzip'] as const)
        expect((await bytesOf(out?.encoded?.[encoding])).equals(await bytesOf(encoded?.[encoding]))).toBe(true)
    }
    expect(files.size).toBeGreaterThan(50)
  })

  test('loads one script and its core at once, after a small script that waits for no other', async () => {
    const { entry, files } = await openConsoleFiles()
    expect(entry.preloads.length).toBe(1)
    const [begin, late] = [entry.begin, entry.late].map((name) => new TextDecoder().decode(files.get(name)?.body as Uint8Array))
    expect(begin).toContain('/console/session')
    for (const name of [begin, late]) {
      // It runs as a classic script, not as a module.
      expect(name).not.toMatch(/\b(import(?!\()|export)\b/)
      expect(name?.length).toBeLessThan(700)
    }
    const first = [entry.script, ...entry.preloads, ...entry.styles].map((name) => files.get(name)?.encoded?.br as Uint8Array)
    expect(first.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(60_000)
  })

  test('is not created if the source does not compile', async () => {
    await expect(bundleOf('import "./on-demand.ts"\nconst a = (')).rejects.toThrow(/index\.tsx:2:\d+: Unexpected end of file/)
    await expect(bundleOf('import "./gone.ts"')).rejects.toThrow(/index\.tsx:1:\d+: Could not resolve: "\.\/gone\.ts"/)
  })
})
