/** Tests which pages may use the console's session, and where its cookie is sent. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Answer, testApp } from '../../../support/app.ts'
import { cookieHeaderOf, cookieOf, endSession, postSession, resumeSession, sameOrigin, sessionPath } from '../../../support/console.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const published = { PUBLIC_URL: 'https://souk.example.com' }
const secureRest = `Path=${sessionPath}; Max-Age=7200; HttpOnly; SameSite=Strict; Secure`
const plainRest = secureRest.replace('; Secure', '')

async function startWithMerchant(settings: Record<string, string> = {}) {
  const app = await testApp(settings)
  const { email, password } = await app.merchant()
  /** Logs in from a page, by a request to a host. */
  const from = (origin: string, host: string, headers: Record<string, string> = {}) =>
    postSession(app, { email, password }, { origin, host, ...headers })
  return { app, login: { email, password }, from, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

function expectForbidden(answer: Answer, label: string): void {
  expect([label, answer.status, answer.headers.has('set-cookie')]).toEqual([label, 403, false])
  expectNoCors(answer, label)
}
const expectNoCors = (answer: Answer, label: string) =>
  expect([label, [...answer.headers.keys()].filter((name) => name.startsWith('access-control'))]).toEqual([label, []])

describe('the cookie', () => {
  test.each([
    ['http://localhost', 'localhost', 'souk_console_80'],
    ['http://localhost:3000', 'localhost:3000', 'souk_console_3000'],
    ['http://127.0.0.1:3000', '127.0.0.1:3000', 'souk_console_3000'],
    ['http://[::1]:3000', '[::1]:3000', 'souk_console_3000'],
  ])('over http on this machine it is not Secure, and its name contains the port: %s', async (origin, host, name) => {
    await using s = await startWithMerchant()
    const answer = await s.from(origin, host)
    expect([answer.status, cookieOf(answer).name, cookieOf(answer).rest]).toEqual([200, name, plainRest])
    expect((await resumeSession(s.app, cookieHeaderOf(answer), { origin, host })).status).toBe(200)
  })

  test.each([
    ['over TLS on this machine', 'https://localhost:3000', 'localhost:3000', {}],
    ['behind a TLS proxy that forwards Host', 'https://souk.example.com', 'souk.example.com', {}],
    ['the same, on another port', 'https://souk.example.com:8443', 'souk.example.com:8443', {}],
    ['the same, with an explicit port', 'https://souk.example.com', 'souk.example.com:443', {}],
    ['behind a TLS proxy on this machine, with PUBLIC_URL', 'https://souk.example.com', '127.0.0.1:3000', published],
    ['over http on another machine, where browsers reject it', 'http://192.168.1.5:3000', '192.168.1.5:3000', {}],
    ['over http at a name that only begins with localhost', 'http://localhost.example.com', 'localhost.example.com', {}],
  ])('everywhere else it is Secure: %s', async (_, origin, host, settings) => {
    await using s = await startWithMerchant(settings)
    const answer = await s.from(origin, host)
    expect([answer.status, cookieOf(answer).name, cookieOf(answer).rest]).toEqual([200, '__Secure-souk_console', secureRest])
    const ended = await endSession(s.app, cookieHeaderOf(answer), { origin, host })
    expect([ended.status, cookieOf(ended).rest]).toEqual([204, secureRest.replace('7200', '0')])
  })

  test('with PUBLIC_URL over TLS, a browser on the same machine over http also gets a working cookie', async () => {
    await using s = await startWithMerchant(published)
    const [outside, inside] = [
      { origin: 'https://souk.example.com', host: 'souk.example.com' },
      { origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' },
    ]
    for (const headers of [outside, inside]) {
      const answer = await s.from(headers.origin, headers.host)
      expect((await resumeSession(s.app, cookieHeaderOf(answer), headers)).status).toBe(200)
    }
  })

  test('over TLS, a cookie without the __Secure- prefix is ignored, because a sibling site or an http page can set it', async () => {
    await using s = await startWithMerchant()
    const headers = { origin: 'https://souk.example.com', host: 'souk.example.com' }
    const { value } = cookieOf(await s.from(headers.origin, headers.host))
    for (const name of ['souk_console_443', 'souk_console_80', 'souk_console'])
      expect((await resumeSession(s.app, `${name}=${value}`, headers)).status).toBe(401)
    expect((await resumeSession(s.app, `__Secure-souk_console=${value}`, headers)).status).toBe(200)
  })
})

const foreignOrigins: [what: string, settings: Record<string, string>, headers: Record<string, string>][] = [
  ['another site', {}, { origin: 'https://evil.example' }],
  ['an empty origin', {}, { origin: '' }],
  ['a sandboxed page', {}, { origin: 'null' }],
  ['another port', {}, { origin: 'http://localhost:8080' }],
  ['a subdomain', {}, { origin: 'http://x.localhost' }],
  ['a name with the same ending', {}, { origin: 'http://evillocalhost' }],
  ['two origins', {}, { origin: 'http://localhost, https://evil.example' }],
  ['an origin with a path', {}, { origin: 'http://localhost/' }],
  ['an origin with a user', {}, { origin: 'http://localhost@evil.example' }],
  ['an origin in capitals', {}, { origin: 'HTTP://LOCALHOST' }],
  ['a file', {}, { origin: 'file://' }],
  ['an extension', {}, { origin: 'chrome-extension://localhost' }],
  ['the own origin with sec-fetch-site: same-site', {}, { ...sameOrigin, 'sec-fetch-site': 'same-site' }],
  ['the own origin with sec-fetch-site: cross-site', {}, { ...sameOrigin, 'sec-fetch-site': 'cross-site' }],
  ['PUBLIC_URL over http', published, { origin: 'http://souk.example.com', host: 'souk.example.com' }],
  ['neither PUBLIC_URL nor Host', published, { origin: 'https://other.example.com', host: 'souk.example.com' }],
  ['a subdomain of PUBLIC_URL', published, { origin: 'https://a.souk.example.com', host: 'souk.example.com' }],
]

describe('another page', () => {
  test.each(foreignOrigins)('a foreign origin is refused, even with valid credentials: %s', async (label, settings, headers) => {
    await using s = await startWithMerchant(settings)
    const loginResponse = await postSession(s.app, s.login)
    const cookie = cookieHeaderOf(loginResponse)
    for (const body of [undefined, {}, s.login, { email: s.login.email, password: 'wrong' }])
      expectForbidden(await postSession(s.app, body, { cookie, ...headers }), label)
    expectForbidden(await endSession(s.app, cookie, headers), label)
    const body = { token: 'x'.repeat(43), email: 'a@example.com', password: 'a long password' }
    expectForbidden(await s.app.call('POST', '/console/setup', { body, headers: { ...sameOrigin, ...headers } }), label)
    // The session still works.
    expect((await resumeSession(s.app, cookie)).status).toBe(200)
  })

  test('a request without Origin is refused, because other programs use the API', async () => {
    await using s = await startWithMerchant()
    for (const headers of [{}, { 'sec-fetch-site': 'same-origin' }, { referer: 'http://localhost/console' }])
      expectForbidden(await s.app.call('POST', sessionPath, { body: s.login, headers }), 'no origin')
    expectForbidden(await s.app.call('DELETE', sessionPath), 'no origin')
  })

  test('the media types of forms are refused, even with the right origin', async () => {
    await using s = await startWithMerchant()
    const cookie = cookieHeaderOf(await postSession(s.app, s.login))
    const forms: [type: string, raw: string][] = [
      ['application/x-www-form-urlencoded', `email=${s.login.email}&password=${s.login.password}`],
      ['text/plain', JSON.stringify(s.login)],
      ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="email"\r\n\r\na@example.com\r\n--x--\r\n'],
      ['text/plain', ''],
    ]
    for (const [type, raw] of forms) {
      const answer = await s.app.call('POST', sessionPath, { raw, headers: { ...sameOrigin, cookie, 'content-type': type } })
      expect([type, answer.status]).toEqual([type, 415])
    }
    expect((await resumeSession(s.app, cookie)).status).toBe(200)
  })

  test('no response has CORS headers, and preflights are refused', async () => {
    await using s = await startWithMerchant()
    const evil = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    for (const at of [sessionPath, '/console/setup']) {
      const preflight = await s.app.call('OPTIONS', at, { headers: evil })
      expect(preflight.status).toBe(405)
      expectNoCors(preflight, at)
      for (const body of [{ unknown: 1 }, s.login]) expectNoCors(await s.app.call('POST', at, { body, headers: evil }), at)
    }
    expectNoCors(await postSession(s.app, s.login), 'a login')
    expectNoCors(await postSession(s.app), 'a refusal')
    expectNoCors(await postSession(s.app, { unknown: 1 }), 'a bad body')
  })
})

test('a page under a foreign name that resolves to this server (DNS rebinding) has no session, and ALLOWED_HOSTS refuses it', async () => {
  await using s = await startWithMerchant()
  const rebinding = { origin: 'http://evil.example', host: 'evil.example' }
  expect((await postSession(s.app, undefined, rebinding)).status).toBe(401)
  const answer = await s.from(rebinding.origin, rebinding.host)
  expect([answer.status, cookieOf(answer).name, cookieOf(answer).rest]).toEqual([200, '__Secure-souk_console', secureRest])
  await using restricted = await startWithMerchant({ ALLOWED_HOSTS: 'localhost,souk.example.com' })
  expectForbiddenHost(await restricted.from(rebinding.origin, rebinding.host))
})
const expectForbiddenHost = ({ status, body }: Answer) => expect([status, body.message]).toEqual([400, 'host: not served here'])

test('the error for a foreign origin suggests PUBLIC_URL', async () => {
  await using s = await startWithMerchant()
  const { body } = await s.from('https://souk.example.com', '127.0.0.1:3000')
  expect(body.message).toContain('PUBLIC_URL')
})
