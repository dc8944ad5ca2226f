/**
 * HTTP servers that simulate payment processors. They listen on the loopback interface and send messages only to it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseJson } from '../../lib/json.ts'

export type ApiRequest = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: string
  /** Undefined if the body is empty or not JSON. */
  readonly json: unknown
}
/** A string in `json` is sent unchanged. Without `json` the body is empty. */
export type ApiAnswer = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly json?: unknown }

/**
 * A failure of a request.
 * `late`: no effect, no response. `silent`: the effect, but no response.
 * `unreached`: no effect, and the connection is closed. `lost`: the effect, then the connection is closed.
 * `half`: the effect, then a truncated response. `garbage`: the effect, then a response that is not JSON.
 * A response: sent instead, without the effect. A function: changes the true response.
 */
export type Fault = 'late' | 'silent' | 'unreached' | 'lost' | 'half' | 'garbage' | ApiAnswer | ((reply: ApiAnswer) => ApiAnswer)
/** Called before each request; returns the failure to simulate. For tests. */
export type Watch = (request: ApiRequest) => Fault | undefined
/** A signed webhook message. */
export type Message = { readonly body: Buffer; readonly headers: Headers }

export type StandInServer = { readonly url: string; close(): Promise<void>; [Symbol.asyncDispose](): Promise<void> }

const bodyMax = 1024 * 1024

/**
 * Starts a server on a free port.
 * @param answer executes a request and returns its response
 */
export async function serveStandIn(answer: (request: ApiRequest) => Promise<ApiAnswer> | ApiAnswer, watch?: Watch): Promise<StandInServer> {
  const open = new Set<ServerResponse>()

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    open.add(response)
    response.on('close', () => open.delete(response))
    const apiRequest = await readRequest(request)
    const fault = watch?.(apiRequest)
    if (fault === 'late') return
    if (fault === 'unreached') return void request.socket.destroy()
    if (typeof fault === 'object') return write(response, fault)
    const reply = await answer(apiRequest)
    if (fault === 'silent') return
    if (fault === 'lost') request.socket.destroy()
    else if (fault === 'half') writeHalf(response, reply)
    else if (fault === 'garbage') response.writeHead(reply.status, { 'content-type': 'text/html' }).end('<html>It works!</html>')
    else write(response, fault ? fault(reply) : reply)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // A bug of the stand-in must not look like a processor's response.
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
  return { method: request.method ?? '', path: url.pathname, query: url.searchParams, headers, body, json: parseJson(body) }
}

const textOf = ({ json }: ApiAnswer): string => (json === undefined ? '' : typeof json === 'string' ? json : JSON.stringify(json))

function write(response: ServerResponse, reply: ApiAnswer): void {
  const body = textOf(reply)
  response.writeHead(reply.status, { ...(body === '' ? {} : { 'content-type': 'application/json' }), ...reply.headers }).end(body)
}

/** Sends half of the announced length. That half is not valid JSON. */
function writeHalf(response: ServerResponse, reply: ApiAnswer): void {
  const body = Buffer.from(textOf(reply) || '{}')
  response.writeHead(reply.status, { 'content-type': 'application/json', 'content-length': String(body.length) })
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy())
}

const thisMachine = ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '[::]']

/** Calls a webhook URL on this machine. Ignores other URLs and all errors, like a processor whose message is lost. */
export function callOnThisMachine(address: string, message?: Message): void {
  const url = URL.parse(address)
  if (url?.protocol !== 'http:' || !thisMachine.includes(url.hostname)) return
  const request = message ? { method: 'POST', headers: message.headers, body: new Uint8Array(message.body) } : {}
  fetch(url, { ...request, redirect: 'error' }).catch(() => undefined)
}
