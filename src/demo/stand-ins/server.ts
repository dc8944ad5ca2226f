/**
 * What the stand-ins for payment processors are made of: real HTTP on a port of this machine, and messages that never
 * leave it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ApiRequest = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: string
  /** Undefined for an empty body, and for one that is no JSON. */
  readonly json: unknown
}
/** `json` that is text already goes out as it is; without it the body is empty. */
export type ApiAnswer = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly json?: unknown }

/**
 * How a request goes wrong. `late`: never answered, and not done. `silent`: done, and never answered. `unreached`: the
 * connection breaks, and it is not done. `lost`: done, and the connection breaks before the answer. `half`: done, and
 * the answer breaks off. `garbage`: done, and answered with what is no JSON. A status and body: answered instead, and
 * not done. A function: what it makes of the true answer.
 */
export type Fault = 'late' | 'silent' | 'unreached' | 'lost' | 'half' | 'garbage' | ApiAnswer | ((told: ApiAnswer) => ApiAnswer)
/** Sees every request before it is answered, and says what goes wrong with it: for tests. */
export type Watch = (asked: ApiRequest) => Fault | undefined
/** What a processor says to a shop, signed. */
export type Message = { readonly body: Buffer; readonly headers: Headers }

export type StandInServer = { readonly url: string; close(): Promise<void>; [Symbol.asyncDispose](): Promise<void> }

const bodyMax = 1024 * 1024

/** @param answer does what a request asks for */
export async function serveStandIn(answer: (asked: ApiRequest) => Promise<ApiAnswer> | ApiAnswer, watch?: Watch): Promise<StandInServer> {
  const open = new Set<ServerResponse>()

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    open.add(response)
    response.on('close', () => open.delete(response))
    const asked = await readRequest(request)
    const fault = watch?.(asked)
    if (fault === 'late') return
    if (fault === 'unreached') return void request.socket.destroy()
    if (typeof fault === 'object') return write(response, fault)
    const told = await answer(asked)
    if (fault === 'silent') return
    if (fault === 'lost') request.socket.destroy()
    else if (fault === 'half') writeHalf(response, told)
    else if (fault === 'garbage') response.writeHead(told.status, { 'content-type': 'text/html' }).end('<html>It works!</html>')
    else write(response, fault ? fault(told) : told)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // A mistake of the stand-in itself is nothing that a processor would answer.
      process.stderr.write(`stand-in: ${error instanceof Error ? error.stack : String(error)}\n`)
      request.socket.destroy()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    for (const response of open) response.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => void server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close, [Symbol.asyncDispose]: close }
}

async function readRequest(request: IncomingMessage): Promise<ApiRequest> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += (chunk as Buffer).length
    if (length > bodyMax) throw new Error('a body that is too large')
    chunks.push(chunk as Buffer)
  }
  const url = new URL(request.url ?? '/', 'http://stand-in')
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(request.headersDistinct)) for (const value of values) headers.append(name, value)
  const body = Buffer.concat(chunks).toString('utf8')
  return { method: request.method ?? '', path: url.pathname, query: url.searchParams, headers, body, json: jsonOf(body) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const textOf = ({ json }: ApiAnswer): string => (json === undefined ? '' : typeof json === 'string' ? json : JSON.stringify(json))

function write(response: ServerResponse, told: ApiAnswer): void {
  const body = textOf(told)
  response.writeHead(told.status, { ...(body === '' ? {} : { 'content-type': 'application/json' }), ...told.headers }).end(body)
}

/** Its length is promised, and the half that comes is no JSON by itself. */
function writeHalf(response: ServerResponse, told: ApiAnswer): void {
  const body = Buffer.from(textOf(told) || '{}')
  response.writeHead(told.status, { 'content-type': 'application/json', 'content-length': String(body.length) })
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy())
}

const thisMachine = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '[::]']

/**
 * What a processor tells a shop, as far as the shop is on this machine. Whether anybody listens is not the processor's
 * concern.
 */
export function callOnThisMachine(address: string, message?: Message): void {
  const url = URL.parse(address)
  if (url?.protocol !== 'http:' || !thisMachine.includes(url.hostname)) return
  const request = message ? { method: 'POST', headers: message.headers, body: new Uint8Array(message.body) } : {}
  fetch(url, { ...request, redirect: 'error' }).catch(() => undefined)
}
