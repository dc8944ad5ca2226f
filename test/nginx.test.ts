/** Runs nginx in front of souk with the block of docs/operations.md. Only the two addresses are replaced. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testApp } from './support/app.ts'
import { temporaryDir } from './support/database.ts'
import { freePort } from './support/free-port.ts'
import { ok, sellingIn } from './support/selling.ts'
import { serveTestApp } from './support/server.ts'
import { longTestMs } from './support/timeouts.ts'

setDefaultTimeout(longTestMs)

const program = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((path) => existsSync(path))
const skipped = program === undefined
const why = skipped ? 'skipped: nginx is not installed' : 'Debian’s nginx'
const mb = 1024 * 1024

const documentedBlock = () => /```nginx\n(.*?)```/s.exec(readFileSync(join(import.meta.dir, '../docs/operations.md'), 'utf8'))?.[1] ?? ''

/** Starts nginx in a temporary directory, in front of a local port. */
async function startNginx(port: number) {
  const dir = temporaryDir()
  const listenPort = await freePort()
  const block = documentedBlock()
    .replace('server 127.0.0.1:3000;', `server 127.0.0.1:${port};`)
    .replace('listen 80;', `listen 127.0.0.1:${listenPort};`)
  expect(block).toContain(`server 127.0.0.1:${port};`)
  expect(block).toContain(`listen 127.0.0.1:${listenPort};`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => {
    mkdirSync(join(dir, name))
    return `${name}_temp_path ${join(dir, name)};`
  })
  const lines = [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off;',
    `pid ${join(dir, 'pid')};`,
    'events {}',
    `http { access_log off; ${temporary.join(' ')}`,
    block,
    '}',
  ]
  const file = join(dir, 'nginx.conf')
  writeFileSync(file, lines.join('\n'))
  const child = Bun.spawn([program ?? '', '-p', dir, '-c', file, '-e', join(dir, 'errors')], { stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://127.0.0.1:${listenPort}`
  while (!(await fetch(url).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${readFileSync(join(dir, 'errors'), 'utf8')}`)
    await Bun.sleep(10)
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}

test.skipIf(skipped)(
  `the documented nginx block passes all requests that souk accepts (${why})`,
  async () => {
    await using app = await testApp({ TRUSTED_PROXIES: '127.0.0.1' })
    const shop = await sellingIn(app)
    await using server = serveTestApp(app)
    await using nginx = await startNginx(server.port)
    const bearer = { authorization: `Bearer ${shop.token}` }
    const call = async (path: string, options: RequestInit = {}) => {
      const response = await fetch(nginx.url + path, options)
      return { status: response.status, headers: response.headers, text: await response.text() }
    }
    const shapeOf = (answer: { headers: Headers; text: string }) => [
      answer.headers.get('content-type')?.split(';')[0],
      Object.keys(JSON.parse(answer.text)).slice(0, 2).join(),
    ]

    expect((await call('/health/live')).status).toBe(200)
    expect((await call(`/health/live?x=${'y'.repeat(8_192 - nginx.url.length - '/health/live?x='.length)}`)).status).toBe(200)
    const tooLong = await call(`/health/live?x=${'y'.repeat(8_192)}`)
    expect([tooLong.status, ...shapeOf(tooLong)]).toEqual([400, 'application/json', 'statusCode,message'])

    // The largest bodies reach souk.
    const csv = { ...bearer, 'content-type': 'text/csv' }
    const row = `Tea,${'a'.repeat(1_000)}\n`
    const body = `Title,Body (HTML)\n${row.repeat(Math.floor((20 * mb - 100) / row.length))}`
    expect((await call('/product-v2/import?dryRun=true', { method: 'POST', headers: csv, body })).status).toBe(200)
    const pdf = { 'content-type': 'application/pdf' }
    const document = await call('/lending-application/none/documents/x', { method: 'PUT', headers: pdf, body: ' '.repeat(25 * mb) })
    expect([document.status, ...shapeOf(document)]).toEqual([404, 'application/json', 'statusCode,message'])

    // nginx appends the client to X-Forwarded-For, and souk trusts both: the address before them counts.
    const login = { email: shop.email, password: shop.password }
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' }
    expect((await call('/merchant/login', { method: 'POST', headers, body: JSON.stringify(login) })).status).toBe(200)
    const sessions = JSON.parse((await call('/auth/sessions', { headers: bearer })).text).data as { address: string }[]
    expect(sessions.map(({ address }) => address)).toContain('203.0.113.9')
  },
  900_000,
)

test.skipIf(skipped)(
  `the documented nginx block does not delay event streams, and its time limits fit souk's (${why})`,
  async () => {
    await using app = await testApp({ TRUSTED_PROXIES: '127.0.0.1' })
    const shop = await sellingIn(app)
    await using server = serveTestApp(app)
    await using nginx = await startNginx(server.port)
    const ended = new AbortController()
    const stream = await fetch(`${nginx.url}/v2/events`, { headers: { authorization: `Bearer ${shop.token}` }, signal: ended.signal })
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    ok(await shop.checkout(await shop.cart()))
    let received = ''
    const decoder = new TextDecoder()
    for await (const chunk of stream.body ?? []) {
      received += decoder.decode(chunk, { stream: true })
      if (received.includes('event: order.confirmed')) break
    }
    expect(received).toContain('event: order.confirmed')
    ended.abort()
    // By default nginx keeps idle upstream connections for 60 s (`keepalive_timeout`). souk must keep them longer.
    expect(documentedBlock()).not.toContain('keepalive_timeout')
    expect(app.deps.config.keepAliveSeconds).toBeGreaterThan(60)
  },
  900_000,
)
