/** A server that stands in for a processor: real HTTP on a port of its own, with the faults of a network and of whoever is at the other end. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Processor, ProcessorMessage } from '../../../src/clients/processors/processor.ts'
import { BadSignature } from '../../../src/clients/processors/processor.ts'
import { createSafeFetch } from '../../../src/clients/safe-fetch.ts'

export type Asked = { method: string; path: string; query: URLSearchParams; headers: Headers; body: string }
export type Told = { status: number; headers?: Record<string, string>; json?: unknown }

/**
 * `late`: never answered, and not done. `lost`: done, and the connection breaks before the answer. `half`: done, and the answer breaks off.
 * `garbage`: done, and answered with what is no JSON. A status and body: answered instead, and not done. A function: what it makes of the true answer.
 */
export type Fault = 'late' | 'lost' | 'half' | 'garbage' | Told | ((told: Told) => Told)

export async function standIn(answer: (asked: Asked) => Promise<Told> | Told) {
  const requests: Asked[] = []
  const faults: { on: string; fault: Fault }[] = []
  const open = new Set<ServerResponse>()

  const server = createServer(async (request, response) => {
    open.add(response)
    response.on('close', () => open.delete(response))
    const asked = await readRequest(request)
    requests.push(asked)
    const at = faults.findIndex(({ on }) => `${asked.method} ${asked.path}`.includes(on))
    const fault = at < 0 ? undefined : faults.splice(at, 1)[0]?.fault
    if (fault === 'late') return
    if (typeof fault === 'object') return write(response, fault)
    const told = await answer(asked)
    if (fault === 'lost') request.socket.destroy()
    else if (fault === 'half') writeHalf(response, told)
    else if (fault === 'garbage') response.writeHead(told.status, { 'content-type': 'text/html' }).end('<html>It works!</html>')
    else write(response, fault ? fault(told) : told)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    for (const response of open) response.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => void server.close(resolve))
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** The next request whose method and path contain this meets the fault. */
    fail: (on: string, ...next: Fault[]) => void faults.push(...next.map((fault) => ({ on, fault }))),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function readRequest(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const url = new URL(request.url ?? '/', 'http://stand-in')
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(request.headersDistinct)) for (const value of values) headers.append(name, value)
  const body = Buffer.concat(chunks).toString('utf8')
  return { method: request.method ?? '', path: url.pathname, query: url.searchParams, headers, body }
}

function write(response: ServerResponse, { status, headers, json }: Told): void {
  const body = json === undefined ? '' : typeof json === 'string' ? json : JSON.stringify(json)
  response.writeHead(status, { ...(body === '' ? {} : { 'content-type': 'application/json' }), ...headers }).end(body)
}

function writeHalf(response: ServerResponse, { status, json }: Told): void {
  const body = Buffer.from(JSON.stringify(json ?? {}))
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': String(body.length) })
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy())
}

/** Sends messages to a shop as a processor does, over HTTP: one after another, or in the wrong order, or more than once. @returns the statuses */
export async function deliver(
  to: string,
  messages: readonly { readonly body: Uint8Array; readonly headers: Headers }[],
  { times = 1, reversed = false }: { times?: number; reversed?: boolean } = {},
): Promise<number[]> {
  const statuses: number[] = []
  for (const { body, headers } of reversed ? messages.toReversed() : messages)
    for (let time = 0; time < times; time++) {
      headers.set('content-type', 'application/json')
      const { status } = await fetch(to, { method: 'POST', headers, body: Buffer.from(body) })
      statuses.push(status)
    }
  return statuses
}

/** A shop's side of it: reads every message that comes, and answers 200, 401 for a bad signature, and 503 when it cannot tell. */
export function messagesTo(processor: Processor) {
  const received: ProcessorMessage[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      try {
        received.push(await processor.readMessage({ body: await request.bytes(), headers: request.headers }))
        return new Response()
      } catch (error) {
        return new Response(null, { status: error instanceof BadSignature ? 401 : 503 })
      }
    },
  })
  return { url: server.url.href, received, [Symbol.asyncDispose]: () => server.stop(true) }
}

/** The port of a client whose calls reach this machine only. */
export const loopbackPort = ({ timeoutMs = 30_000, now = Date.now }: { timeoutMs?: number; now?: () => number } = {}) => ({
  fetch: createSafeFetch({ allowedNetworks: [] }),
  trusted: true,
  timeoutMs,
  now,
})

/** What a promise throws. */
export async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  const answer = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in answer) return answer.error
  throw new Error(`nothing was thrown, but answered: ${JSON.stringify(answer.value)}`)
}
