/** Tests what clients of a stopping server see, over real connections to a real process. */
import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, pause, serve, signUp, startCommand } from './souk.ts'

type ClientResult = { answers: string[]; waiting: boolean; error: string | undefined }

/** Sends requests on one connection, each after the response to the previous one, until the server closes it. */
function hammer(port: number, path: string): { started: Promise<void>; ended: Promise<ClientResult> } {
  const started = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<ClientResult>()
  const answers: string[] = []
  let text = ''
  let waiting = true
  let error: string | undefined
  const socket = connect(port, '127.0.0.1')
  const sendRequest = () => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  socket.on('connect', sendRequest)
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    for (;;) {
      const head = text.indexOf('\r\n\r\n')
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0)
      if (head < 0 || text.length < head + 4 + length) return
      answers.push(text.slice(0, head))
      text = text.slice(head + 4 + length)
      started.resolve()
      // Like a client: a connection with `Connection: close` is not reused.
      waiting = !/\r\nconnection: close/i.test(answers.at(-1) ?? '')
      if (waiting) sendRequest()
    }
  })
  socket.on('error', (problem) => {
    error = problem.message
  })
  socket.on('close', () => ended.resolve({ answers, waiting, error }))
  return { started: started.promise, ended: ended.promise }
}

/** Starts a download and reads only its first bytes. */
async function slowDownload(port: number, path: string, authorization: string) {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  const started = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  socket.on('connect', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${authorization}\r\n\r\n`))
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    if (chunks.length === 1) {
      socket.pause()
      started.resolve()
    }
  })
  socket.on('error', ended.reject)
  socket.on('end', () => ended.resolve(Buffer.concat(chunks).toString('latin1')))
  await started.promise
  return { resume: () => socket.resume(), ended: ended.promise }
}

const portOf = ({ url }: { url: string }) => Number(new URL(url).port)

describeProcesses('a server that stops', () => {
  test('a stopping server answers requests sent on open connections, and closes each with the response', async () => {
    await using server = await serve(temporaryDir())
    const clients = Array.from({ length: 60 }, (_, nth) => hammer(portOf(server), ['/health/live', '/docs/json', '/'][nth % 3] ?? '/'))
    await Promise.all(clients.map(({ started }) => started))
    process.kill(server.pid, 'SIGTERM')
    const ended = await Promise.all(clients.map((client) => client.ended))
    expect(ended.map(({ waiting, error }) => ({ waiting, error }))).toEqual(ended.map(() => ({ waiting: false, error: undefined })))
    const last = ended.map(({ answers }) => answers.at(-1) ?? '')
    for (const answer of last) {
      expect(answer).toMatch(/^HTTP\/1\.1 200 /)
      expect(answer).toMatch(/\r\nconnection: close/i)
    }
    expect(await server.exited).toBe(0)
  })

  test('a stopping server lets a slow client finish its download', async () => {
    await using server = await serve(temporaryDir())
    const { token } = await signUp(server)
    const descriptionHtml = `<p>${'words and '.repeat(6_400)}</p>`
    for (let nth = 0; nth < 100; nth++)
      expect(
        (await server.call('POST', '/product-v2', { token, body: { title: `Long ${nth}`, status: 'ACTIVE', descriptionHtml } })).status,
      ).toBe(201)
    const path = '/product-v2?limit=100'
    const authorization = `Bearer ${token}`
    const completeBody = await (await fetch(`${server.url}${path}`, { headers: { authorization } })).text()
    // The body exceeds the kernel's buffers, so the server still has to send the rest.
    expect(completeBody.length).toBeGreaterThan(6_000_000)
    const downloads = await Promise.all(Array.from({ length: 2 }, () => slowDownload(portOf(server), path, authorization)))
    process.kill(server.pid, 'SIGTERM')
    await server.log.until(/"server.stopping"/)
    // The server stops listening while the downloads are still open.
    const listens = () =>
      fetch(`${server.url}/health/live`).then(
        () => true,
        () => false,
      )
    while (await listens()) await pause()
    for (const { resume } of downloads) resume()
    for (const { ended } of downloads) {
      const text = await ended
      expect(text.length - text.indexOf('\r\n\r\n') - 4).toBe(Buffer.byteLength(completeBody))
    }
    expect(await server.exited).toBe(0)
  })

  test('a stopping server is not ready but serves for DRAIN_SECONDS, and a second signal ends it at once', async () => {
    await using server = await serve(temporaryDir(), { DRAIN_SECONDS: '60' })
    process.kill(server.pid, 'SIGTERM')
    await server.log.until(/"server.stopping"/)
    expect(await server.call('GET', '/health/ready')).toMatchObject({ status: 503, body: { message: 'Not ready: stopping' } })
    expect((await server.call('GET', '/health/live')).status).toBe(200)
    expect((await server.call('POST', '/merchant/login', { body: { email: 'a@example.com', password: 'of nobody at all' } })).status).toBe(
      401,
    )
    process.kill(server.pid, 'SIGINT')
    expect(await server.exited).toBe(130)
    await server.log.ended
    expect(server.log.text()).toContain('"server.stopped_at_once"')
  })

  test('souk demo interrupted while it fills says in one line that it can continue, and exits 130', async () => {
    const dataDir = temporaryDir()
    const child = startCommand(['demo'], dataDir)
    const files = new Bun.Glob('souk.db-wal')
    // The demo has written its first rows, so its signal handler is installed.
    while ([...files.scanSync(dataDir)].length === 0) await pause()
    child.kill('SIGINT')
    expect(await child.exited).toBe(130)
    expect(await new Response(child.stderr).text()).toBe('Stopped before the sample data was complete. Run `souk demo` again to resume\n')
    expect(await new Response(child.stdout).text()).toBe('')
  })
})
