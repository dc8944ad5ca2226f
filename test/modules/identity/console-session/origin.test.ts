/** Whose page may ask for the console's session, and where its cookie may go. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Answer, testApp } from '../../../support/app.ts'
import { cookieOf, end, heldBy, here, path, post, resume } from '../../../support/console.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const published = { PUBLIC_URL: 'https://souk.example.com' }
const secureRest = `Path=${path}; Max-Age=7200; HttpOnly; SameSite=Strict; Secure`
const plainRest = secureRest.replace('; Secure', '')

async function known(settings: Record<string, string> = {}) {
  const app = await testApp(settings)
  const { email, password } = await app.merchant()
  /** Logs in from a page, over a request for this host. */
  const from = (origin: string, host: string, headers: Record<string, string> = {}) =>
    post(app, { email, password }, { origin, host, ...headers })
  return { app, login: { email, password }, from, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

function expectForbidden(answer: Answer, what: string): void {
  expect([what, answer.status, answer.headers.has('set-cookie')]).toEqual([what, 403, false])
  expectNoCors(answer, what)
}
const expectNoCors = (answer: Answer, what: string) =>
  expect([what, [...answer.headers.keys()].filter((name) => name.startsWith('access-control'))]).toEqual([what, []])

describe('the cookie', () => {
  test.each([
    ['http://localhost', 'localhost', 'souk_console_80'],
    ['http://localhost:3000', 'localhost:3000', 'souk_console_3000'],
    ['http://127.0.0.1:3000', '127.0.0.1:3000', 'souk_console_3000'],
    ['http://[::1]:3000', '[::1]:3000', 'souk_console_3000'],
  ])('on this machine by http it is plain, and of the port: %s', async (origin, host, name) => {
    await using s = await known()
    const answer = await s.from(origin, host)
    expect([answer.status, cookieOf(answer).name, cookieOf(answer).rest]).toEqual([200, name, plainRest])
    expect((await resume(s.app, heldBy(answer), { origin, host })).status).toBe(200)
  })

  test.each([
    ['by TLS on this machine', 'https://localhost:3000', 'localhost:3000', {}],
    ['behind a TLS proxy that passes Host on', 'https://souk.example.com', 'souk.example.com', {}],
    ['the same, on another port', 'https://souk.example.com:8443', 'souk.example.com:8443', {}],
    ['the same, with the port said', 'https://souk.example.com', 'souk.example.com:443', {}],
    ['behind a TLS proxy on this machine, by PUBLIC_URL', 'https://souk.example.com', '127.0.0.1:3000', published],
    ['by http on another machine, where browsers refuse it', 'http://192.168.1.5:3000', '192.168.1.5:3000', {}],
    ['by http where the name only begins like this machine’s', 'http://localhost.example.com', 'localhost.example.com', {}],
  ])('it goes by TLS alone elsewhere: %s', async (_, origin, host, settings) => {
    await using s = await known(settings)
    const answer = await s.from(origin, host)
    expect([answer.status, cookieOf(answer).name, cookieOf(answer).rest]).toEqual([200, '__Secure-souk_console', secureRest])
    const gone = await end(s.app, heldBy(answer), { origin, host })
    expect([gone.status, cookieOf(gone).rest]).toEqual([204, secureRest.replace('7200', '0')])
  })

  test('PUBLIC_URL is by TLS, and somebody on the machine itself comes by http: each has a cookie that works', async () => {
    await using s = await known(published)
    const [outside, inside] = [
      { origin: 'https://souk.example.com', host: 'souk.example.com' },
      { origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' },
    ]
    for (const headers of [outside, inside]) {
      const answer = await s.from(headers.origin, headers.host)
      expect((await resume(s.app, heldBy(answer), headers)).status).toBe(200)
    }
  })

  test('a cookie without the prefix, as another site of the domain or a page by http can set it, counts for nothing by TLS', async () => {
    await using s = await known()
    const headers = { origin: 'https://souk.example.com', host: 'souk.example.com' }
    const { value } = cookieOf(await s.from(headers.origin, headers.host))
    for (const name of ['souk_console_443', 'souk_console_80', 'souk_console'])
      expect((await resume(s.app, `${name}=${value}`, headers)).status).toBe(401)
    expect((await resume(s.app, `__Secure-souk_console=${value}`, headers)).status).toBe(200)
  })
})

const foreign: [what: string, settings: Record<string, string>, headers: Record<string, string>][] = [
  ['another site', {}, { origin: 'https://evil.example' }],
  ['none', {}, { origin: '' }],
  ['a page in a sandbox', {}, { origin: 'null' }],
  ['another port', {}, { origin: 'http://localhost:8080' }],
  ['a site below', {}, { origin: 'http://x.localhost' }],
  ['a name that ends like ours', {}, { origin: 'http://evillocalhost' }],
  ['two', {}, { origin: 'http://localhost, https://evil.example' }],
  ['with a path', {}, { origin: 'http://localhost/' }],
  ['with a user', {}, { origin: 'http://localhost@evil.example' }],
  ['in capitals', {}, { origin: 'HTTP://LOCALHOST' }],
  ['a file', {}, { origin: 'file://' }],
  ['an extension', {}, { origin: 'chrome-extension://localhost' }],
  ['ours, though the browser says that it is not', {}, { ...here, 'sec-fetch-site': 'same-site' }],
  ['the same, of another site', {}, { ...here, 'sec-fetch-site': 'cross-site' }],
  ['that of PUBLIC_URL by http', published, { origin: 'http://souk.example.com', host: 'souk.example.com' }],
  ['neither PUBLIC_URL nor Host', published, { origin: 'https://other.example.com', host: 'souk.example.com' }],
  ['a site below PUBLIC_URL', published, { origin: 'https://a.souk.example.com', host: 'souk.example.com' }],
]

describe('another page', () => {
  test.each(foreign)('an origin that is not ours is refused, whatever else is right: %s', async (what, settings, headers) => {
    await using s = await known(settings)
    const held = await post(s.app, s.login)
    const cookie = heldBy(held)
    for (const body of [undefined, {}, s.login, { email: s.login.email, password: 'wrong' }])
      expectForbidden(await post(s.app, body, { cookie, ...headers }), what)
    expectForbidden(await end(s.app, cookie, headers), what)
    const body = { token: 'x'.repeat(43), email: 'a@example.com', password: 'a long password' }
    expectForbidden(await s.app.call('POST', '/console/setup', { body, headers: { ...here, ...headers } }), what)
    // Nothing was counted, spent or ended.
    expect((await resume(s.app, cookie)).status).toBe(200)
  })

  test('no Origin at all is refused: other programs have the API', async () => {
    await using s = await known()
    for (const headers of [{}, { 'sec-fetch-site': 'same-origin' }, { referer: 'http://localhost/console' }])
      expectForbidden(await s.app.call('POST', path, { body: s.login, headers }), 'no origin')
    expectForbidden(await s.app.call('DELETE', path), 'no origin')
  })

  test('a form cannot say what it would take: its media types are refused, also with the right origin', async () => {
    await using s = await known()
    const cookie = heldBy(await post(s.app, s.login))
    const forms: [type: string, raw: string][] = [
      ['application/x-www-form-urlencoded', `email=${s.login.email}&password=${s.login.password}`],
      ['text/plain', JSON.stringify(s.login)],
      ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="email"\r\n\r\na@example.com\r\n--x--\r\n'],
      ['text/plain', ''],
    ]
    for (const [type, raw] of forms) {
      const answer = await s.app.call('POST', path, { raw, headers: { ...here, cookie, 'content-type': type } })
      expect([type, answer.status]).toEqual([type, 415])
    }
    expect((await resume(s.app, cookie)).status).toBe(200)
  })

  test('no answer may be read by pages of other origins, and none is asked for beforehand', async () => {
    await using s = await known()
    const evil = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    for (const at of [path, '/console/setup']) {
      const asked = await s.app.call('OPTIONS', at, { headers: evil })
      expect(asked.status).toBe(405)
      expectNoCors(asked, at)
      for (const body of [{ unknown: 1 }, s.login]) expectNoCors(await s.app.call('POST', at, { body, headers: evil }), at)
    }
    expectNoCors(await post(s.app, s.login), 'a login')
    expectNoCors(await post(s.app), 'a refusal')
    expectNoCors(await post(s.app, { unknown: 1 }), 'a bad body')
  })
})

test('a page of a name that somebody lets point here finds no session, keeps none by http, and ALLOWED_HOSTS refuses it', async () => {
  await using s = await known()
  const rebound = { origin: 'http://evil.example', host: 'evil.example' }
  expect((await post(s.app, undefined, rebound)).status).toBe(401)
  const answer = await s.from(rebound.origin, rebound.host)
  expect([answer.status, cookieOf(answer).name, cookieOf(answer).rest]).toEqual([200, '__Secure-souk_console', secureRest])
  await using named = await known({ ALLOWED_HOSTS: 'localhost,souk.example.com' })
  expectForbiddenHost(await named.from(rebound.origin, rebound.host))
})
const expectForbiddenHost = ({ status, body }: Answer) => expect([status, body.message]).toEqual([400, 'host: not served here'])

test('what is refused is told what to do about it', async () => {
  await using s = await known()
  const { body } = await s.from('https://souk.example.com', '127.0.0.1:3000')
  expect(body.message).toContain('PUBLIC_URL')
})
