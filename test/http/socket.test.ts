/** Tests raw requests that no client library sends. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { type RawConnection, rawConnection, sendRaw, serveTestApp } from '../support/server.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const request = (line: string, ...headers: string[]) => `${[line, ...headers, 'connection: close'].join('\r\n')}\r\n\r\n`

describe('the path of a request', () => {
  test('the path of a request does not depend on the Host header', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    await using server = serveTestApp(app)
    const authorization = `authorization: Bearer ${token}`
    const status = async (line: string, ...headers: string[]) => (await sendRaw(server.port, request(line, ...headers))).status
    expect(await status('GET /shops/v2 HTTP/1.1', 'host: localhost', authorization)).toBe(200)
    expect(await status('GET /shops/v2 HTTP/1.1', 'host: x', authorization)).toBe(200)
    // Elysia's own router would cut these at the wrong slash.
    for (const host of ['x', 'ab', 'abc', 'a.b']) {
      expect([host, await status('GET /ab/shops/v2 HTTP/1.1', `host: ${host}`, authorization)]).toEqual([host, 404])
      expect([host, await status('GET /a/b/c/shops/v2 HTTP/1.1', `host: ${host}`, authorization)]).toEqual([host, 404])
    }
    for (const host of [
      '',
      'localhost/shops/v2',
      'localhost/x',
      'a@localhost',
      'localhost?',
      'localhost#',
      'localhost, evil',
      'loc alhost',
      'localhost:',
      'localhost:65536',
      '1.2.3.999',
      '[::::]',
    ]) {
      expect([host, await status('GET /shops/v2 HTTP/1.1', `host: ${host}`, authorization)]).toEqual([host, 400])
    }
    expect(await status('GET /shops/v2 HTTP/1.1', 'host: localhost', 'host: evil.example', authorization)).toBe(400)
    expect(await status('GET /shops/v2 HTTP/1.1', authorization)).toBe(400)
  })

  test('the path of a request is right for host names with an underscore', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    for (const host of ['shop_api', '_souk', 'souk_api.internal:8080', 'a_b.example'])
      expect([host, (await sendRaw(server.port, request('GET /health/live HTTP/1.1', `host: ${host}`))).status]).toEqual([host, 200])
    for (const host of ['-souk', '.souk', 'souk!'])
      expect([host, (await sendRaw(server.port, request('GET /health/live HTTP/1.1', `host: ${host}`))).status]).toEqual([host, 400])
  })

  test('the path is that of the request line, also in absolute form, with doubled slashes, dots and backslashes', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    await using server = serveTestApp(app)
    const status = async (target: string) =>
      (await sendRaw(server.port, request(`GET ${target} HTTP/1.1`, 'host: localhost', `authorization: Bearer ${token}`))).status
    expect(await status('http://localhost/shops/v2')).toBe(200)
    expect(await status('http://a/b/shops/v2')).toBe(404)
    expect(await status('//shops/v2')).toBe(404)
    expect(await status('//evil.example/shops/v2')).toBe(404)
    expect(await status('/./shops/v2')).toBe(200)
    expect(await status('/shops%2fv2')).toBe(404)
    expect(await status('\\shops\\v2')).toBe(400)
    expect(await status('/health/live?x=/merchant/me')).toBe(200)
  })
})

describe('invalid HTTP requests', () => {
  const host = 'host: shop.example'
  const padded = (bytes: number) => `x-padding: ${'a'.repeat(bytes)}`
  const withHeaders = (count: number) => Array.from({ length: count }, (_, nth) => `x-${nth}: 1`)
  const refusals: readonly (readonly [string, number, string[]])[] = [
    ['HTTP/1.1 without Host', 400, ['GET /health/live HTTP/1.1']],
    ['a malformed request line', 400, ['hello']],
    ['a path without a slash', 400, ['GET health HTTP/1.1', host]],
    ['OPTIONS *', 400, ['OPTIONS * HTTP/1.1', host]],
    ['a header without a colon', 400, ['GET /health/live HTTP/1.1', host, 'x']],
    ['a header with a blank in its name', 400, ['GET /health/live HTTP/1.1', host, 'x y: 1']],
    ['a Content-Length that is no number', 400, ['POST /merchant/login HTTP/1.1', host, 'content-length: x']],
    ['headers of more than 16 KB', 431, ['GET /health/live HTTP/1.1', host, padded(17_000)]],
    ['a URL of more than 16 KB', 431, [`GET /${'a'.repeat(17_000)} HTTP/1.1`, host]],
    ['more than 200 headers', 431, ['GET /health/live HTTP/1.1', host, ...withHeaders(210)]],
    ['another version of HTTP', 505, ['GET /health/live HTTP/9.9', host]],
  ]

  test('an invalid HTTP request is refused by the runtime with a status and no body', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    for (const [what, status, lines] of refusals) {
      const connection = await rawConnection(server.port)
      connection.send(`${lines.join('\r\n')}\r\n\r\n`)
      const answer = await connection.answer()
      expect([what, answer.status, answer.body]).toEqual([what, status, ''])
      expect(await connection.closed()).toBe(true)
    }
    const unknown = await rawConnection(server.port)
    unknown.send(`BREW /health/live HTTP/1.1\r\n${host}\r\n\r\n`)
    expect(await unknown.closed()).toBe(true)
  })

  test('a valid but unusual HTTP request gets a response of souk with a body', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    for (const [line, status] of [
      ['PROPFIND /health/live HTTP/1.1', 405],
      ['TRACE /health/live HTTP/1.1', 405],
      ['QUERY /nowhere HTTP/1.1', 404],
      [`GET /${'a'.repeat(9_000)} HTTP/1.1`, 400],
    ] as const) {
      const answer = await sendRaw(server.port, request(line, host))
      expect([line.slice(0, 40), answer.status, JSON.parse(answer.body).statusCode]).toEqual([line.slice(0, 40), status, status])
    }
    const manyHeaders = await sendRaw(server.port, request('GET /nowhere HTTP/1.1', host, padded(10_000), ...withHeaders(150)))
    expect([manyHeaders.status, JSON.parse(manyHeaders.body).statusCode]).toEqual([404, 404])
    for (const lines of [['GET /health/live HTTP/1.0'], ['GET /health/live HTTP/1.1', 'host:']]) {
      const answer = await sendRaw(server.port, request(lines[0] ?? '', ...lines.slice(1)))
      expect([lines, answer.status, JSON.parse(answer.body).message]).toEqual([lines, 400, 'host: must be a host name'])
    }
    const tunnel = await sendRaw(server.port, request('CONNECT shop.example:443 HTTP/1.1', host))
    expect([tunnel.status, JSON.parse(tunnel.body).statusCode]).toEqual([404, 404])
  })
})

describe('request bodies over a socket', () => {
  const post = (...headers: string[]) =>
    ['POST /merchant/login HTTP/1.1', 'host: localhost', 'content-type: application/json', ...headers].join('\r\n')

  test('a body with a content-length above the limit is refused before it is sent', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    const { status, body } = await sendRaw(server.port, `${post('content-length: 2000000')}\r\n\r\n{`)
    expect([status, JSON.parse(body)]).toEqual([
      413,
      { statusCode: 413, message: 'The body is larger than 64 KB', error: 'Payload Too Large', code: 'body_too_large' },
    ])
  })

  test('a chunked body is refused as soon as it exceeds the limit', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    const connection = await rawConnection(server.port)
    connection.send(`${post('transfer-encoding: chunked')}\r\n\r\n`)
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
    // Two chunks exceed 64 KB. The body is never completed.
    for (let nth = 0; nth < 2; nth++) connection.send(chunk)
    const { status, body } = await connection.answer()
    expect([status, JSON.parse(body).statusCode]).toEqual([413, 413])
    connection.close()
  })

  test('a chunked body is assembled', async () => {
    await using app = await testApp()
    const { email, password } = await app.merchant()
    await using server = serveTestApp(app)
    const connection = await rawConnection(server.port)
    const body = JSON.stringify({ email, password })
    connection.send(`${post(`content-length: ${body.length}`)}\r\n\r\n`)
    for (const character of body) connection.send(character)
    expect((await connection.answer()).status).toBe(200)
    connection.close()
  })

  test('a body that breaks off affects no other request and leaves nothing in flight', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    const broken = await rawConnection(server.port)
    broken.send(`${post('content-length: 100')}\r\n\r\n{"email":`)
    while (app.deps.requestCounts.inFlight() === 0) await new Promise((resolve) => setImmediate(resolve))
    broken.close()
    while (app.deps.requestCounts.inFlight() > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    expect((await sendRaw(server.port, request('GET /health/live HTTP/1.1', 'host: localhost'))).status).toBe(200)
    expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('stalled bodies are bounded in memory, do not block others, and the oldest gets 408 and is closed', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    const half = `${post('content-length: 60000')}\r\n\r\n${' '.repeat(50_000)}`
    // Memory reserved for complete bodies is used first.
    const { usage, reserve } = app.deps.bodyBudget
    while (reserve(1_024)) {}
    const first = await rawConnection(server.port)
    first.send(half)
    while (usage().bytes < 50_000) await new Promise((resolve) => setImmediate(resolve))
    // Incomplete bodies of more than 16 MB.
    const others: RawConnection[] = []
    for (let nth = 0; nth < 400; nth++) {
      const other = await rawConnection(server.port)
      other.send(half)
      others.push(other)
    }
    while (usage().bytes < 16 * 1024 * 1024 - 50_000) await new Promise((resolve) => setImmediate(resolve))
    expect(usage().bytes).toBeLessThanOrEqual(16 * 1024 * 1024)
    // Clients that send complete bodies are served.
    const completeBody = JSON.stringify({ email: 'a@example.com', password: 'wrong' })
    expect((await sendRaw(server.port, `${post(`content-length: ${completeBody.length}`)}\r\n\r\n${completeBody}`)).status).toBe(401)
    first.send(' ')
    const { status, headers, body } = await first.answer()
    expect([status, headers.get('connection')?.toLowerCase(), JSON.parse(body).message]).toEqual([
      408,
      'close',
      'Too many request bodies arrived at once. Send the request again',
    ])
    expect(await first.closed()).toBe(true)
    for (const other of others) other.close()
    while (usage().bodies > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(usage()).toEqual({ bodies: 0, bytes: 0 })
  })

  test('stalled bodies hold no more than the memory set aside for them, and succeed when they continue', async () => {
    await using app = await testApp()
    const { email, password } = await app.merchant()
    await using server = serveTestApp(app)
    const completeBody = JSON.stringify({ email, password }).padEnd(60_000)
    const halves: RawConnection[] = []
    const reservedBodies = Math.floor((2 * 1024 * 1024) / completeBody.length)
    for (let nth = 0; nth < reservedBodies + 6; nth++) {
      const one = await rawConnection(server.port)
      one.send(`${post('content-length: 60000')}\r\n\r\n${completeBody.slice(0, 30_000)}`)
      halves.push(one)
    }
    const { usage, reserve } = app.deps.bodyBudget
    while (usage().bytes < 6 * 30_000) await new Promise((resolve) => setImmediate(resolve))
    expect([reserve(completeBody.length), usage().bodies]).toEqual([undefined, 6])
    for (const one of [halves.at(0), halves.at(-1)]) {
      one?.send(completeBody.slice(30_000))
      expect((await one?.answer())?.status).toBe(200)
    }
    for (const one of halves) one.close()
    while (!reserve(2 * 1024 * 1024)) await new Promise((resolve) => setTimeout(resolve, 1))
  })

  test('a body above the limit closes the connection', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    const connection = await rawConnection(server.port)
    connection.send(`${post('content-length: 2000000')}\r\n\r\n{`)
    const { status, headers } = await connection.answer()
    expect([status, headers.get('connection')?.toLowerCase()]).toEqual([413, 'close'])
    expect(await connection.closed()).toBe(true)
  })

  test('a body with two lengths, or with a length and chunks, is refused against request smuggling', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    for (const headers of [
      ['content-length: 2', 'content-length: 3'],
      ['content-length: 2', 'transfer-encoding: chunked'],
      ['content-length: -1'],
      ['content-length: 1e3'],
    ]) {
      expect((await sendRaw(server.port, `${post(...headers)}\r\n\r\n{}`)).status).toBe(400)
    }
  })
})

describe('a server on a socket', () => {
  test('a server does not share its port with another', async () => {
    await using app = await testApp()
    await using server = serveTestApp(app)
    const { listen } = await import('../../src/server.ts')
    expect(() => listen({ edge: app.edge, deps: app.deps }, { host: '127.0.0.1', port: server.port })).toThrow()
  })

  test('a stopping server finishes requests in flight and on open connections, and closes them', async () => {
    let release = () => {}
    const untilReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    let start = () => {}
    const inFlight = new Promise<void>((resolve) => {
      start = resolve
    })
    const passwords = {
      hash: async (password: string) => password,
      verify: async () => {
        start()
        await untilReleased
        return false
      },
    }
    await using app = await testApp({}, { passwords })
    const server = serveTestApp(app)
    const waiting = await rawConnection(server.port)
    const other = await rawConnection(server.port)
    other.send('GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n')
    expect((await other.answer()).status).toBe(200)

    const body = JSON.stringify({ email: 'a@example.com', password: 'whatever' })
    waiting.send(
      `POST /merchant/login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await inFlight
    const stopped = server.stop()
    other.send('GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n')
    const last = await other.answer()
    expect([last.status, last.headers.get('connection')]).toEqual([200, 'close'])
    release()
    expect((await waiting.answer()).status).toBe(401)
    await stopped
    expect(
      await rawConnection(server.port).then(
        () => 'connected',
        () => 'refused',
      ),
    ).toBe('refused')
    waiting.close()
    other.close()
  })
})
