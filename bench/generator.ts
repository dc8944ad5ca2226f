/** A load generator: keep-alive sockets with one request each. Reads its input from standard input. */
import { type Load, type LoadOptions, percentile, type Requests } from './load.ts'

type GeneratorInput = { url: string; requests: Requests; options: LoadOptions; firstClient: number }
const { url, requests, options, firstClient } = (await Bun.stdin.json()) as GeneratorInput
const { hostname, port, host } = new URL(url)
const latencies: number[] = []
let errors = 0
let bodyCount = 0
const endsAt = performance.now() + options.seconds * 1_000

/** The nth client address. */
const client = (n: number) =>
  `${11 + (Math.floor(n / 16_777_216) % 80)}.${Math.floor(n / 65_536) % 256}.${Math.floor(n / 256) % 256}.${n % 256}`
let requestCount = 0

function nextRequest(): string {
  const { method = 'GET', paths, etags = [], headers = {}, each = [], body, clients } = requests
  const at = Math.floor(Math.random() * paths.length)
  const path = paths[at] ?? '/'
  const etag = etags[at]
  const filled = body?.replaceAll('{n}', `${Date.now()}${bodyCount++}`)
  const lines = Object.entries({
    host,
    ...headers,
    ...each[at],
    ...(clients === undefined ? {} : { 'x-forwarded-for': client(firstClient + (requestCount++ % clients)) }),
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(filled === undefined ? {} : { 'content-length': String(Buffer.byteLength(filled)) }),
  })
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${filled ?? ''}`
}

/** The length of the complete response at the start of `bytes`, once its head is there. */
function answerLength(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = bytes.subarray(0, headEnd).toString('latin1')
  return headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
}

function connection(): Promise<void> {
  return new Promise((resolve, reject) => {
    let pending: Buffer = Buffer.alloc(0)
    let startedAt = 0
    const send = (socket: { write(text: string): unknown; end(): unknown }) => {
      if (performance.now() >= endsAt) {
        socket.end()
        resolve()
        return
      }
      startedAt = performance.now()
      socket.write(nextRequest())
    }
    Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: send,
        data(socket, chunk) {
          pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
          const length = answerLength(pending)
          if (length === undefined || pending.length < length) return
          latencies.push(performance.now() - startedAt)
          if (!/^HTTP\/1\.1 [23]/.test(pending.subarray(0, 12).toString('latin1'))) errors++
          pending = pending.subarray(length)
          send(socket)
        },
        close: () => resolve(),
        error: (_, error) => reject(error),
      },
    }).catch(reject)
  })
}

await Promise.all(Array.from({ length: options.connections }, connection))
latencies.sort((a, b) => a - b)
const [p50Ms, p99Ms] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
const result: Load = { perSecond: latencies.length / options.seconds, p50Ms, p99Ms, errors }
process.stdout.write(JSON.stringify(result))
