import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createSafeFetch, type Lookup } from '../../src/clients/safe-fetch.ts'
import { OutgoingError, type SafeFetchOptions } from '../../src/core/outgoing.ts'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'
import { certificate, key } from '../support/tls.ts'

setDefaultTimeout(longTestMs)

/** Limits with a deadline that suffices on slow machines. */
const limits = { timeoutMs: 60_000, bytesMax: 1_000 }
const loopback = ['127.0.0.0/8']
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'))

/** Starts a TCP server that records requests and passes them to `answer`. */
async function startRawServer(answer: (socket: Socket, request: string) => void, host = '127.0.0.1') {
  const requests: string[] = []
  let connections = 0
  let allClosed = () => {}
  const closed = new Promise<void>((resolve) => {
    allClosed = resolve
  })
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => undefined)
    socket.on('close', allClosed)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
      if (!received.includes('\r\n\r\n')) return
      requests.push(received)
      answer(socket, received)
    })
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, host, () => resolve((server.address() as { port: number }).port))
  })
  return {
    port,
    requests,
    connections: () => connections,
    /** Resolves when the client has closed a connection. */
    closed,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/`,
    [Symbol.dispose]: () => void server.close(),
  }
}
const ok = (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')

/** Sends a chunk repeatedly until the client closes the connection. */
function keepSending(socket: Socket, chunk: string): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(chunk)), 5)
}

async function failure(
  url: string,
  { lookup, networks = loopback, ...options }: Partial<SafeFetchOptions> & { lookup?: Lookup; networks?: readonly string[] } = {},
): Promise<OutgoingError> {
  const safeFetch = createSafeFetch({ allowedNetworks: networks, ...(lookup ? { lookup } : {}) })
  const error = await safeFetch(url, { ...limits, ...options }).then(
    ({ status }) => new Error(`answered ${status}`),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof OutgoingError)) throw error
  return error
}

describe('requests to addresses chosen by others', () => {
  test('sends the given request on its own connection, without compression, and reads the whole response', async () => {
    using server = await startRawServer((socket) => {
      const head = 'HTTP/1.1 201 Made\r\ncontent-length: 5\r\nx-one: 1\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nx-odd: \xe9'
      socket.end(`${head}\r\n\r\nh\xff\x00ll`, 'latin1')
    })
    const safeFetch = createSafeFetch({ allowedNetworks: loopback, lookup: async () => ['127.0.0.1'] })
    const answer = await safeFetch(`http://Hook.example.:${server.port}/a%20b?c=d&e#f`, {
      ...limits,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"é"}',
    })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('x-one')).toBe('1')
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect([...answer.bytes]).toEqual([0x68, 0xff, 0, 0x6c, 0x6c])
    const [head = '', body] = (server.requests[0] ?? '').split('\r\n\r\n')
    const [line, ...headers] = head.split('\r\n')
    expect(line).toBe('POST /a%20b?c=d&e HTTP/1.1')
    expect(headers.map((header) => header.toLowerCase()).sort()).toEqual([
      'accept-encoding: identity',
      'connection: close',
      'content-length: 13',
      'content-type: application/json',
      `host: hook.example:${server.port}`,
    ])
    expect(body).toBe('{"text":"é"}')
  })

  test.skipIf(!hasIpv6)('reaches an allowed IPv6 address, with brackets in the URL', async () => {
    using server = await startRawServer(ok, '::1')
    const { status } = await createSafeFetch({ allowedNetworks: ['::1'] })(server.url, limits)
    expect(status).toBe(200)
    expect(server.requests[0]?.toLowerCase()).toContain(`host: [::1]:${server.port}\r\n`)
  })

  test.each([
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '017700000001', '127.0.0.1.', '127.0.0.1...'],
    ...['0x7f000001...', '0', '0.0.0.0', '[::]', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
    ...['[2002:7f00:1::]', 'localhost', 'LOCALHOST', 'localhost.', '①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1'],
  ])('does not reach this machine as %s', async (host) => {
    using server = await startRawServer(ok)
    expect((await failure(`http://${host}:${server.port}/`, { networks: [] })).kind).toBe('address not allowed')
    expect(server.connections()).toBe(0)
  })

  test.each([
    ...[
      '10.0.0.1',
      '172.16.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '198.18.0.1',
      '192.0.2.1',
      '224.0.0.1',
      '255.255.255.255',
    ],
    ...['[fe80::1]', '[fc00::1]', '[ff02::1]', '[2001:db8::1]', '[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]', '[fd00:ec2::254]'],
  ])('does not connect to %s', async (host) => {
    expect((await failure(`http://${host}/`, { networks: [] })).kind).toBe('address not allowed')
  })

  test('refuses a name if any of its addresses is not public', async () => {
    using server = await startRawServer(ok)
    for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::ffff:127.0.0.1'], ['fe80::1%eth0'], ['nonsense'], ['']])
      expect((await failure(`http://hook.example:${server.port}/`, { networks: [], lookup: async () => addresses })).kind).toBe(
        'address not allowed',
      )
    expect(server.connections()).toBe(0)
  })

  test('connects to the address that was checked, even if the name resolves differently later', async () => {
    using inside = await startRawServer(ok, '127.0.0.2')
    const lookedUp: string[] = []
    const rebinding: Lookup = async (name) => {
      lookedUp.push(name)
      return lookedUp.length === 1 ? ['127.0.0.3'] : ['127.0.0.2']
    }
    // The first address is allowed and closed; the second is the server's and must not be used.
    const refused = await failure(`http://hook.example:${inside.port}/`, { networks: ['127.0.0.3'], lookup: rebinding })
    expect(refused.kind).toBe('connection failed')
    expect((refused.cause as Error).message).toContain('127.0.0.3')
    expect(lookedUp).toEqual(['hook.example'])
    expect(inside.connections()).toBe(0)
  })

  test('does not ask the resolver of the system for a name that was already looked up', async () => {
    using server = await startRawServer(ok, '127.0.0.2')
    // The system resolves to 127.0.0.1, where this port is closed.
    const safeFetch = createSafeFetch({ allowedNetworks: ['127.0.0.2'], lookup: async () => ['127.0.0.2'] })
    expect((await safeFetch(`http://localhost:${server.port}/`, limits)).status).toBe(200)
  })

  test('tries the next address if the first does not accept connections', async () => {
    using server = await startRawServer(ok)
    const safeFetch = createSafeFetch({ allowedNetworks: loopback, lookup: async () => ['127.0.0.9', '127.0.0.1'] })
    expect((await safeFetch(`http://hook.example:${server.port}/`, limits)).status).toBe(200)
  })

  test('with trusted, connects to any network, while redirects and other schemes are still refused', async () => {
    using server = await startRawServer((socket) => void socket.end('HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n'))
    expect((await failure(server.url, { networks: [], trusted: true })).kind).toBe('redirect')
    expect(server.requests).toHaveLength(1)
    expect((await failure('file:///etc/passwd', { trusted: true })).kind).toBe('address not allowed')
  })

  test.each([
    'file:///etc/passwd',
    'data:,x',
    'ftp://8.8.8.8/',
    'ws://8.8.8.8/',
    'blob:x',
    'javascript:1',
    'hook.example',
    '',
    'http://',
    '//8.8.8.8/',
  ])('allows only http and https: not %s', async (url) => {
    expect((await failure(url)).kind).toBe('address not allowed')
  })

  test('refuses credentials in the URL, and http if httpsOnly is set', async () => {
    using server = await startRawServer(ok)
    for (const userInfo of ['user:pass@', 'user@', ':pass@'])
      expect((await failure(`http://${userInfo}127.0.0.1:${server.port}/`)).kind).toBe('address not allowed')
    expect((await failure(server.url, { httpsOnly: true })).kind).toBe('address not allowed')
    expect(server.connections()).toBe(0)
  })

  test('follows no redirect', async () => {
    using server = await startRawServer((socket) => {
      socket.end(`HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:${server.port}/further\r\ncontent-length: 0\r\n\r\n`)
    })
    const { kind, status } = await failure(server.url)
    expect({ kind, status }).toEqual({ kind: 'redirect', status: 307 })
    expect(server.requests).toHaveLength(1)
  })
})

describe('the deadline of a request', () => {
  const timeoutMs = 60

  /** Repeats the request with longer deadlines until `hasCome` is true, because a slow machine needs more time. */
  async function failureAfter(isExpected: (error: OutgoingError) => boolean, url: string): Promise<OutgoingError> {
    for (let patienceMs = timeoutMs; ; patienceMs *= 2) {
      const error = await failure(url, { timeoutMs: patienceMs })
      expect(error.kind).toBe('timeout')
      if (isExpected(error)) return error
    }
  }

  test.each([
    ['says nothing', '', ''],
    ['never ends its head', 'HTTP/1.1 200 OK\r\n', 'x-a: b\r\n'],
    ['only ever says to go on', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('the deadline ends the request and closes the connection when the server %s', async (_, first, further) => {
    using server = await startRawServer((socket) => {
      if (first) socket.write(first)
      if (further) keepSending(socket, further)
    })
    const { kind, status, message } = await failureAfter(() => server.connections() > 0, server.url)
    expect({ kind, status, message }).toEqual({ kind: 'timeout', status: undefined, message: 'timeout' })
    await server.closed
  })

  test('the deadline ends an endless body, and the error has the status', async () => {
    using server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      keepSending(socket, '1\r\nx\r\n')
    })
    const { kind, status } = await failureAfter((error) => error.status !== undefined, server.url)
    expect({ kind, status }).toEqual({ kind: 'timeout', status: 200 })
    await server.closed
  })

  test('the deadline ends a slow name lookup, and nothing is sent afterwards', async () => {
    using server = await startRawServer(ok)
    let finishLookup: (addresses: string[]) => void = () => {}
    const addresses = new Promise<string[]>((resolve) => {
      finishLookup = resolve
    })
    expect((await failure(`http://hook.example:${server.port}/`, { timeoutMs, lookup: () => addresses })).kind).toBe('timeout')
    finishLookup(['127.0.0.1'])
    await addresses
    expect(server.connections()).toBe(0)
  })
})

describe('the size limit of a response', () => {
  test('a body above the size limit is refused, with or without content-length, and one at the limit is read', async () => {
    using declared = await startRawServer(
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n${'x'.repeat(1001)}`),
    )
    expect((await failure(declared.url)).kind).toBe('answer too large')
    await declared.closed
    using endless = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      keepSending(socket, 'x'.repeat(500))
    })
    const { kind, status } = await failure(endless.url)
    expect({ kind, status }).toEqual({ kind: 'answer too large', status: 200 })
    await endless.closed
    using fitting = await startRawServer((socket) => void socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n${'x'.repeat(1000)}`))
    expect((await createSafeFetch({ allowedNetworks: loopback })(fitting.url, limits)).bytes).toHaveLength(1000)
  })

  test('headers above the size limit are refused', async () => {
    using server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      keepSending(socket, `x-a: ${'b'.repeat(10_000)}\r\n`)
    })
    expect((await failure(server.url)).kind).toBe('answer too large')
    await server.closed
  })

  test('a compressed body is not decompressed', async () => {
    const packed = gzipSync(Buffer.alloc(500_000))
    using server = await startRawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`)
      socket.end(packed)
    })
    const { bytes } = await createSafeFetch({ allowedNetworks: loopback })(server.url, limits)
    expect(Buffer.from(bytes).equals(packed)).toBe(true)
  })
})

describe('failed connections', () => {
  test.each([
    ['answers what is no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['hangs up', ''],
    ['hangs up amid its head', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['hangs up amid its body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'],
    ['hangs up amid a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\nhalf'],
    ['wants another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ])('the connection fails when the server %s', async (_, bytes) => {
    using server = await startRawServer((socket) => void socket.end(bytes))
    const { kind, message } = await failure(server.url)
    expect({ kind, message }).toEqual({ kind: 'connection failed', message: 'connection failed' })
  })

  test('the connection fails when nothing listens or the name does not exist', async () => {
    using otherServer = await startRawServer(ok, '127.0.0.2')
    expect((await failure(`http://127.0.0.3:${otherServer.port}/`)).kind).toBe('connection failed')
    expect((await failure('http://hook.example/', { lookup: async () => [] })).kind).toBe('connection failed')
    expect(
      (await failure('http://hook.example/', { lookup: async () => Promise.reject(new Error('ENOTFOUND hook.example')) })).message,
    ).toBe('connection failed')
  })
})

describe('independence of the environment', () => {
  const caFile = join(temporaryDir(), 'ca.pem')

  async function fetchWith(env: Record<string, string>, url: string): Promise<string> {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, '../support/safe-fetch-once.ts'), url], {
      env,
      stdout: 'pipe',
      stderr: 'ignore',
    })
    return new Response(child.stdout).text()
  }
  const secureServer = () =>
    Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: { key, cert: certificate },
      fetch: (request) => new Response(request.headers.get('host')),
    })

  test('a certificate must be valid for the host name of the URL, whatever the environment says', async () => {
    await Bun.write(caFile, certificate)
    const server = secureServer()
    try {
      const withCaFile = { NODE_EXTRA_CA_CERTS: caFile }
      expect(await fetchWith(withCaFile, `https://hook.example:${server.port}/`)).toBe(`200 hook.example:${server.port}`)
      const untrusted = (host: string, why: string) => `the certificate of ${host} is not trusted: ${why}`
      const another = 'it is for another name'
      expect(await fetchWith(withCaFile, `https://other.example:${server.port}/`)).toBe(untrusted('other.example', another))
      expect(await fetchWith(withCaFile, `https://127.0.0.1:${server.port}/`)).toBe(untrusted('127.0.0.1', another))
      const unknown = untrusted('hook.example', 'it is self-signed')
      expect(await fetchWith({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, `https://hook.example:${server.port}/`)).toBe(unknown)
    } finally {
      await server.stop(true)
    }
  })

  test('proxies of the environment are not used', async () => {
    using proxy = await startRawServer(ok)
    using server = await startRawServer((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ndirect'))
    const proxies = Object.fromEntries(
      ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'].map((name) => [name, proxy.url]),
    )
    expect(await fetchWith({ ...proxies, NODE_USE_ENV_PROXY: '1' }, `http://hook.example:${server.port}/`)).toBe('200 direct')
    expect(proxy.connections()).toBe(0)
  })
})

describe('requests that are not made or are aborted', () => {
  test('a request to a port of another service is refused without looking up its name', async () => {
    let lookups = 0
    const lookup: Lookup = async () => {
      lookups++
      return ['127.0.0.1']
    }
    for (const url of ['http://a.example:22/', 'https://a.example:25/', 'http://a.example:6379/', 'http://127.0.0.1:53/'])
      expect((await failure(url, { lookup })).kind).toBe('port not allowed')
    expect(lookups).toBe(0)
    // Addresses set by the operator may use any port; this one is closed.
    expect((await failure('http://127.0.0.1:1/', { trusted: true })).kind).toBe('connection failed')
  })

  test('an aborted request ends like a timeout and closes its connection', async () => {
    const controller = new AbortController()
    using server = await startRawServer(() => controller.abort())
    expect((await failure(server.url, { signal: controller.signal })).kind).toBe('timeout')
    await server.closed
    const aborted = await failure(server.url, { signal: controller.signal })
    expect(aborted.kind).toBe('timeout')
  })
})

describe('plain HTTP and the time limit of connecting', () => {
  test('http is allowed only to the networks of httpNetworks, even if allowedNetworks has more', async () => {
    using server = await startRawServer(ok)
    const fetchWithHttpTo = (httpNetworks: readonly string[]) => createSafeFetch({ allowedNetworks: loopback, httpNetworks })
    expect((await fetchWithHttpTo(loopback)(server.url, limits)).status).toBe(200)
    const kind = (networks: readonly string[]) => fetchWithHttpTo(networks)(server.url, limits).catch((error: OutgoingError) => error.kind)
    expect(await kind([])).toBe('address not allowed')
    expect(await kind(['10.0.0.0/8'])).toBe('address not allowed')
    expect(server.connections()).toBe(1)
  })

  test('connecting has a separate time limit, which ends with the handshake', async () => {
    using silent = await startRawServer(() => undefined)
    expect((await failure(silent.url.replace('http:', 'https:'), { connectTimeoutMs: 20 })).kind).toBe('timeout')
    using slow = await startRawServer((socket) => void setTimeout(() => ok(socket), 200))
    const safeFetch = createSafeFetch({ allowedNetworks: loopback })
    expect((await safeFetch(slow.url, { ...limits, connectTimeoutMs: 100 })).status).toBe(200)
  })
})
