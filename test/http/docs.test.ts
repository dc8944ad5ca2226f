import { expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const linksOf = (html: string) => [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address ?? '')

for (const page of ['/', '/docs']) {
  test(`${page} has only links and files that this program serves`, async () => {
    await using app = await testApp()
    const answer = await app.call('GET', page)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html;charset=utf-8')
    expect(linksOf(answer.text).length).toBeGreaterThan(3)
    for (const address of linksOf(answer.text)) {
      expect(address).toStartWith('/')
      expect((await app.call('GET', address)).status, address).toBe(200)
    }
  })

  test(`${page} allows no inline script and no other host`, async () => {
    await using app = await testApp()
    const { headers, text } = await app.call('GET', page)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toStartWith("default-src 'none'; ")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(text).not.toMatch(/<script(?![^>]*\ssrc=)/)
    expect(text).not.toMatch(/\sstyle=|\son\w+=/)
  })
}

test('the content security policy of the home page has the hash of its style', async () => {
  await using app = await testApp()
  const { headers, text } = await app.call('GET', '/')
  const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? ''
  const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64')
  expect(headers.get('content-security-policy')).toContain(`'sha256-${hash}'`)
})

test('the home page shows the name and version of the program', async () => {
  await using app = await testApp()
  const { text } = await app.call('GET', '/')
  expect(text).toContain('<title>souk</title>')
  expect(text).toContain(app.deps.build.version)
})

test('the documentation serves only its own files', async () => {
  await using app = await testApp()
  for (const path of ['/docs/index.html', '/docs/package.json', '/docs/..%2fpackage.json', '/docs/swagger-ui-bundle.js.map']) {
    expect((await app.call('GET', path)).status, path).toBe(404)
  }
})

test('files of a page have an ETag and 304, and HEAD returns the headers of GET', async () => {
  await using app = await testApp()
  for (const path of ['/docs/page.js', '/docs/swagger-ui-bundle.js']) {
    const { status, headers, text } = await app.call('GET', path)
    const etag = headers.get('etag') ?? ''
    expect([path, status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      path,
      200,
      'text/javascript;charset=utf-8',
      'public, max-age=3600',
    ])
    expect(text.length).toBeGreaterThan(100)
    expect(etag).toMatch(/^"[\w-]+"$/)
    const conditional = await app.call('GET', path, { headers: { 'if-none-match': `"other", W/${etag}` } })
    expect([conditional.status, conditional.text, conditional.headers.get('etag')]).toEqual([304, '', etag])
    expect((await app.call('GET', path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    const head = await app.call('HEAD', path)
    expect([head.status, head.headers.get('etag'), head.headers.get('content-type')]).toEqual([200, etag, headers.get('content-type')])
  }
})
