/** Serves a test app on a real socket, and sends raw bytes to it that no HTTP client would send. */
import { connect, type Socket } from 'node:net'
import { listen } from '../../src/server.ts'
import type { TestApp } from './app.ts'

/** Listens on a free port. `stop` leaves the app itself open. */
export function serveTestApp({ edge, deps }: Pick<TestApp, 'edge' | 'deps'>) {
  const serving = listen({ edge, deps }, { host: '127.0.0.1', port: 0 })
  return {
    ...serving,
    port: serving.server.port ?? 0,
    [Symbol.asyncDispose]: () => serving.stop(),
  }
}

export type RawAnswer = { status: number; headers: Headers; body: string }
export type RawConnection = {
  send(bytes: string | Uint8Array): void
  answer(): Promise<RawAnswer>
  /** Resolves when the server has closed the connection. */
  closed(): Promise<true>
  close(): void
}

/** Opens a connection that sends raw bytes and reads one response with a Content-Length after another. */
export async function rawConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  const received = bytesOf(socket)
  const ended = new Promise<true>((resolve) => void socket.once('close', () => resolve(true)))
  return {
    send: (bytes) => void socket.write(bytes),
    answer: () => received(),
    closed: () => ended,
    close: () => void socket.destroy(),
  }
}

/** Sends the bytes of one request and reads the response. */
export async function sendRaw(port: number, bytes: string | Uint8Array): Promise<RawAnswer> {
  const connection = await rawConnection(port)
  try {
    connection.send(bytes)
    return await connection.answer()
  } finally {
    connection.close()
  }
}

function bytesOf(socket: Socket): () => Promise<RawAnswer> {
  let text = ''
  let ended = false
  let wake = () => {}
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    wake()
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    ended = true
    wake()
  })
  return async () => {
    for (;;) {
      const parsed = parse(text, ended)
      if (parsed) {
        text = text.slice(parsed.length)
        return parsed.answer
      }
      if (ended) throw new Error(`the connection was closed after: ${text.slice(0, 200)}`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}

function parse(text: string, ended: boolean): { answer: RawAnswer; length: number } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const declared = headers.get('content-length')
  const bodyEnd = end + 4 + Number(declared ?? (ended ? text.length - end - 4 : 0))
  if (text.length < bodyEnd) return undefined
  return { answer: { status: Number(first.split(' ')[1]), headers, body: text.slice(end + 4, bodyEnd) }, length: bodyEnd }
}
