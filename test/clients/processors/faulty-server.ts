/** A server over real HTTP that stands in for a processor, and fails as networks and processors do when it is told to. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Undefined for an empty body, and for one that is no JSON. */
  readonly json: unknown
}

/** `text` goes out as it is, anything else as JSON; without either the body is empty. */
export type Reply = { readonly status: number; readonly json?: unknown; readonly text?: string; readonly headers?: Record<string, string> }

export type Fault =
  /** Done, and never answered: whoever asked gives up. */
  | 'late'
  /** Done, and the connection breaks before the answer. */
  | 'lost'
  /** The connection breaks before anything is done. */
  | 'unreached'
  /** Done, and answered 200 with something that is no JSON. */
  | 'garbage'
  /** Done, and the connection breaks in the middle of the answer. */
  | 'half'
  /** Answered with this; done all the same if it says so. */
  | { readonly reply: Reply; readonly done?: boolean }

export type FaultyServer = {
  readonly url: string
  /** All that came, in order. */
  readonly requests: readonly Asked[]
  /** `POST /v2/invoice` for each that came. */
  routes(): string[]
  /** The next request whose method and path match goes wrong like this; several wait in order. */
  fail(route: RegExp, fault: Fault): void
  /** Resolves when a request that matches has come, also one that came before. */
  reached(route: RegExp): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** @param answer does what a request asks for */
export async function startFaultyServer(answer: (asked: Asked) => Reply | Promise<Reply>): Promise<FaultyServer> {
  const requests: Asked[] = []
  const faults: { route: RegExp; fault: Fault }[] = []
  const waiting: { route: RegExp; resume: () => void }[] = []

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await read(request)
    requests.push(asked)
    const route = routeOf(asked)
    const at = faults.findIndex((planned) => planned.route.test(route))
    const fault = at < 0 ? undefined : faults.splice(at, 1)[0]?.fault
    if (fault === 'unreached') request.socket.destroy()
    else {
      const reply = typeof fault === 'object' && !fault.done ? fault.reply : await answer(asked)
      send(request, response, fault, reply)
    }
    for (const { resume } of waiting.filter((waiter) => waiter.route.test(route))) resume()
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // A mistake of the stand-in itself is nothing that a processor would answer.
      complain(error)
      request.socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    routes: () => requests.map(routeOf),
    fail: (route, fault) => void faults.push({ route, fault }),
    reached: (route) =>
      requests.some((asked) => route.test(routeOf(asked)))
        ? Promise.resolve()
        : new Promise((resume) => void waiting.push({ route, resume })),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** What a processor tells a shop, as far as the shop is on this machine. Whether anybody listens is not the processor's concern. */
export function callOnThisMachine(address: string, request: RequestInit = {}): void {
  const url = URL.parse(address)
  if (url?.protocol !== 'http:' || !['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) return
  fetch(url, { ...request, redirect: 'error' }).catch(() => undefined)
}

export const routeOf = ({ method, path }: Asked) => `${method} ${path}`

function send(request: IncomingMessage, response: ServerResponse, fault: Fault | undefined, reply: Reply): void {
  if (fault === 'late') return
  if (fault === 'lost') return void request.socket.destroy()
  if (fault === 'garbage') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>')
  const { status, json, text, headers } = typeof fault === 'object' ? fault.reply : reply
  const body = text ?? (json === undefined ? '' : JSON.stringify(json))
  if (fault === 'half') {
    // Its length is promised, and the half that comes is no JSON by itself.
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.write(body.slice(0, Math.floor(body.length / 2)), () => request.socket.destroy())
    return
  }
  response.writeHead(status, { ...(body === '' ? {} : { 'content-type': 'application/json; charset=utf-8' }), ...headers }).end(body)
}

async function read(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
  return { method: request.method ?? '', path: pathname, query: searchParams, headers: request.headers, text, json: jsonOf(text) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function complain(error: unknown): void {
  process.stderr.write(`stand-in: ${error instanceof Error ? error.stack : String(error)}\n`)
}
