/** Stand-ins for processors as tests want them: they remember every request, and fail as networks and processors do when they are told to. */
import { BadSignature, type Processor, type ProcessorMessage } from '../../../src/clients/processors/processor.ts'
import { createSafeFetch } from '../../../src/clients/safe-fetch.ts'
import { type ApiAnswer, type ApiRequest, type Fault, serveStandIn, type Watch } from '../../../src/demo/stand-ins/server.ts'

export type { ApiAnswer, ApiRequest, Fault }

const routeOf = ({ method, path }: ApiRequest) => `${method} ${path}`

/** A stand-in that is watched. */
export async function watched<Server extends object>(start: (watch: Watch) => Promise<Server>) {
  const requests: ApiRequest[] = []
  const faults: { on: string | RegExp; fault: Fault }[] = []
  const waiting: { on: string | RegExp; resume: () => void }[] = []
  const isMeant = (on: string | RegExp, asked: ApiRequest) => (on instanceof RegExp ? on.test(routeOf(asked)) : routeOf(asked).includes(on))
  const server = await start((asked) => {
    requests.push(asked)
    for (const { resume } of waiting.filter(({ on }) => isMeant(on, asked))) resume()
    const at = faults.findIndex(({ on }) => isMeant(on, asked))
    return at < 0 ? undefined : faults.splice(at, 1)[0]?.fault
  })
  return {
    ...server,
    /** All that came, in order. */
    requests,
    /** `POST /v2/invoice` for each that came. */
    routes: () => requests.map(routeOf),
    /** The next request whose method and path contain or match this meets the fault; several wait in order. */
    fail: (on: string | RegExp, ...next: Fault[]) => void faults.push(...next.map((fault) => ({ on, fault }))),
    /** Resolves when a request that matches has come, also one that came before. */
    reached: (on: RegExp): Promise<void> =>
      requests.some((asked) => isMeant(on, asked)) ? Promise.resolve() : new Promise((resume) => void waiting.push({ on, resume })),
  }
}

/** A server that answers what the test says. */
export const standIn = (answer: (asked: ApiRequest) => Promise<ApiAnswer> | ApiAnswer) => watched((watch) => serveStandIn(answer, watch))

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
