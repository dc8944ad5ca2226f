/** Stand-ins for processors that record every request and fail as a test demands. */
import { BadSignature, type Processor, type ProcessorMessage } from '../../../src/clients/processors/processor.ts'
import { createSafeFetch } from '../../../src/clients/safe-fetch.ts'
import { type ApiAnswer, type ApiRequest, type Fault, serveStandIn, type Watch } from '../../../src/demo/stand-ins/server.ts'

export type { ApiAnswer, ApiRequest, Fault }

const routeOf = ({ method, path }: ApiRequest) => `${method} ${path}`

/** Starts a stand-in, records its requests and lets them fail. */
export async function watched<Server extends object>(start: (watch: Watch) => Promise<Server>) {
  const requests: ApiRequest[] = []
  const faults: { on: string | RegExp; fault: Fault }[] = []
  const waiting: { on: string | RegExp; resume: () => void }[] = []
  const matches = (on: string | RegExp, request: ApiRequest) =>
    on instanceof RegExp ? on.test(routeOf(request)) : routeOf(request).includes(on)
  const server = await start((request) => {
    requests.push(request)
    for (const { resume } of waiting.filter(({ on }) => matches(on, request))) resume()
    const at = faults.findIndex(({ on }) => matches(on, request))
    return at < 0 ? undefined : faults.splice(at, 1)[0]?.fault
  })
  return {
    ...server,
    /** All requests, in order. */
    requests,
    /** Method and path of each request, such as `POST /v2/invoice`. */
    routes: () => requests.map(routeOf),
    /** Fails the next request whose method and path contain or match `on`. Several faults apply in order. */
    fail: (on: string | RegExp, ...next: Fault[]) => void faults.push(...next.map((fault) => ({ on, fault }))),
    /** Resolves when a matching request has arrived, even if it arrived before the call. */
    untilRequest: (on: RegExp): Promise<void> =>
      requests.some((request) => matches(on, request)) ? Promise.resolve() : new Promise((resume) => void waiting.push({ on, resume })),
  }
}

/** Starts a server that responds as the test says. */
export const standIn = (answer: (request: ApiRequest) => Promise<ApiAnswer> | ApiAnswer) => watched((watch) => serveStandIn(answer, watch))

/** Sends messages to a shop over HTTP as a processor does, also reversed or repeated. Returns the statuses. */
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

/** Starts a shop that reads messages. It responds with 200, 401 to a bad signature, or 503 if it cannot verify. */
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

/** Returns the port of a client for servers on this machine. */
export const loopbackPort = ({ timeoutMs = 30_000, now = Date.now }: { timeoutMs?: number; now?: () => number } = {}) => ({
  fetch: createSafeFetch({ allowedNetworks: [] }),
  trusted: true,
  timeoutMs,
  now,
})

/** Returns the error of a promise. Fails if the promise resolves. */
export async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  const answer = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in answer) return answer.error
  throw new Error(`nothing was thrown, but answered: ${JSON.stringify(answer.value)}`)
}
