/**
 * A name server on loopback that serves only TXT records, over UDP, and over TCP if a response is too long (RFC 1035).
 */
import { createSocket } from 'node:dgram'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** TXT records, a response code, or `SILENT` for no response. */
type Reply = readonly (string | readonly string[])[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'SILENT'

const codes = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const
const txt = 16
const datagramMax = 512

export type NameServer = Awaited<ReturnType<typeof nameServer>>

export async function nameServer() {
  const names = new Map<string, Reply>()
  const queriedNames: string[] = []
  const udp = createSocket('udp4')
  const open = new Set<Socket>()
  const tcp = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      const answer = answerTo(Buffer.from(bytes).subarray(2), Number.POSITIVE_INFINITY)
      if (!answer) return
      const length = Buffer.alloc(2)
      length.writeUInt16BE(answer.length)
      socket.write(Buffer.concat([length, answer]))
    })
  })
  // Both need the same port: tries free TCP ports until one is free for UDP too.
  for (let tries = 0; tries < 20; tries++) {
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
    const { port: free } = tcp.address() as AddressInfo
    const isBound = await new Promise<boolean>((resolve) =>
      udp.once('error', () => resolve(false)).bind(free, '127.0.0.1', () => resolve(true)),
    )
    if (isBound) break
    await new Promise((resolve) => tcp.close(resolve))
  }
  const { port } = udp.address()
  udp.on('message', (message, { port: to }) => {
    const answer = answerTo(message, datagramMax)
    if (answer) udp.send(answer, to, '127.0.0.1')
  })

  function answerTo(message: Buffer, bytesMax: number): Buffer | undefined {
    const { name, end } = questionOf(message)
    queriedNames.push(name)
    const reply = names.get(name) ?? 'NXDOMAIN'
    if (reply === 'SILENT') return undefined
    const question = message.subarray(12, end)
    if (typeof reply === 'string') return Buffer.concat([head(message, codes[reply], 0, false), question])
    const fullResponse = Buffer.concat([head(message, 0, reply.length, false), question, ...reply.map((value) => record([value].flat()))])
    return fullResponse.length > bytesMax ? Buffer.concat([head(message, 0, 0, true), question]) : fullResponse
  }

  return {
    /** Value of the setting DNS_SERVER. */
    address: `127.0.0.1:${port}`,
    /** Names of all queries, in lower case. */
    queriedNames,
    /** Sets the TXT records of a name. An array is one record of several strings. */
    setRecords: (name: string, ...values: (string | readonly string[])[]) => void names.set(name, values),
    /** Makes all queries of a name fail in this way. */
    fail: (name: string, how: Exclude<Reply, readonly unknown[]>) => void names.set(name, how),
    async close() {
      udp.close()
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => tcp.close(resolve))
    },
    async [Symbol.asyncDispose]() {
      await this.close()
    },
  }
}

function questionOf(message: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 }
}

function head(message: Buffer, code: number, answers: number, truncated: boolean): Buffer {
  const bytes = Buffer.alloc(12)
  message.copy(bytes, 0, 0, 2)
  // Flags: response, recursion desired, recursion available.
  bytes.writeUInt16BE(0x8180 | (truncated ? 0x0200 : 0) | code, 2)
  bytes.writeUInt16BE(1, 4)
  bytes.writeUInt16BE(answers, 6)
  return bytes
}

function record(parts: readonly string[]): Buffer {
  const data = Buffer.concat(parts.map((part) => Buffer.concat([Buffer.of(part.length), Buffer.from(part, 'latin1')])))
  const bytes = Buffer.alloc(12)
  bytes.writeUInt16BE(0xc00c, 0)
  bytes.writeUInt16BE(txt, 2)
  bytes.writeUInt16BE(1, 4)
  bytes.writeUInt32BE(60, 6)
  bytes.writeUInt16BE(data.length, 10)
  return Buffer.concat([bytes, data])
}
