import type { BunRequest, Server } from 'bun'
import { OperatorError } from './core/errors.ts'
import { asAppError, errorResponse } from './http/errors.ts'
import type { LoopLag } from './http/metrics.ts'
import type { Instance } from './instance.ts'

const drainMaxMs = 10_000
const drainLookMs = 20
/** Checks without a new request after which no client is busy. Fewer suffice if there was no request. */
const quietLooks = { afterRequests: 50, atFirst: 8 }
const gatherLooksMax = 150

/** Explains why the server cannot listen on an address. */
function explainFailure<T>({ host, port }: { host: string; port: number }, serve: () => T): T {
  try {
    return serve()
  } catch (error) {
    const sentence = refusals[(error as { code?: string }).code ?? '']?.(port, host)
    throw sentence === undefined ? error : new OperatorError(sentence)
  }
}

const refusals: Readonly<Record<string, (port: number, host: string) => string>> = {
  EADDRINUSE: (port) => `Port ${port} is taken: stop what listens there, or set another PORT`,
  EACCES: (port) =>
    `Port ${port} needs a right that souk does not have here: set a PORT of 1024 or above and put a proxy in front, or give it CAP_NET_BIND_SERVICE`,
  EADDRNOTAVAIL: (_port, host) => `HOST is no address of this machine: ${host}`,
}

export type RunningServer = {
  url: string
  server: Server<undefined>
  /** Stops accepting connections, and waits up to ten seconds until all responses are sent. */
  stop(): Promise<void>
}

/**
 * Checks that the server can listen, before work that takes long.
 * @throws OperatorError if the port is taken
 */
export async function checkPort({ host, port }: { host: string; port: number }): Promise<void> {
  const server = explainFailure({ host, port }, () => Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() }))
  await server.stop(true)
}

const loopLookMs = 250

/** Measures the event loop lag: blocking work delays every response by as much. */
function watchLoop(lag: LoopLag) {
  let due = performance.now() + loopLookMs
  const timer = setInterval(() => {
    const now = performance.now()
    lag.note(now - due)
    due = now + loopLookMs
  }, loopLookMs)
  return timer.unref()
}

/**
 * Starts the server.
 * @throws if the port is taken
 */
export function listen({ edge, deps }: Pick<Instance, 'edge' | 'deps'>, { host, port }: { host: string; port: number }): RunningServer {
  let requests = 0
  /**
   * The binary starts with a delayed JIT (build.ts). The first request resets it, so that idle servers do not compile.
   */
  function count(): void {
    if (requests++ === 0) Bun.unsafe.setJITPolicy(1)
  }

  /** Waits until no new requests arrive: every busy client waits for a response then. */
  async function waitForQuiet(deadline: number): Promise<void> {
    let lastRequests = requests
    let needed = quietLooks.atFirst
    // Counts checks besides time, because a stalled process reads nothing.
    for (let quiet = 0, looks = 0; quiet < needed && looks < gatherLooksMax && performance.now() < deadline; quiet++, looks++) {
      await Bun.sleep(drainLookMs)
      // Lets the server read requests that have arrived.
      await new Promise<void>((resume) => setImmediate(resume))
      if (requests === lastRequests) continue
      lastRequests = requests
      needed = quietLooks.afterRequests
      quiet = 0
    }
  }

  const server = explainFailure({ host, port }, () =>
    Bun.serve({
      hostname: host,
      port,
      // Two servers must never share a port silently.
      reusePort: false,
      idleTimeout: deps.config.keepAliveSeconds,
      // Disables Bun's limit, because souk responds with 413.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Bun extracts the id, which is cheaper than parsing the URL.
      routes: Object.fromEntries(
        edge.fastReads.map(({ path, fetch }) => {
          const [, name = ''] = /:(\w+)/.exec(path) ?? []
          return [
            path,
            {
              GET: (request: BunRequest<string>, self: Server<undefined>) => {
                count()
                return fetch(request, request.params[name] ?? '', self)
              },
            },
          ]
        }),
      ),
      fetch: (request, self) => {
        count()
        return edge.fetch(request, self)
      },
      error: (error) => {
        deps.log.error('server.failed', { error })
        return errorResponse(asAppError(error))
      },
    }),
  )
  const watching = watchLoop(deps.loopLag)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    server,
    async stop() {
      const deadline = performance.now() + drainMaxMs
      // Bun closes the listener and all connections without a complete request, which resets clients. So busy clients
      // are held first.
      deps.live.stop()
      edge.hold()
      await waitForQuiet(deadline)
      void server.stop(false)
      edge.drain()
      // Bun counts a request until the last byte of its response is sent.
      while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(drainLookMs)
      await server.stop(true)
      clearInterval(watching)
    },
  }
}
