import type { BunRequest, Server } from 'bun'
import type { Config } from './config.ts'
import { answerTo, asAppError } from './http/errors.ts'
import { orderPath } from './http/hot.ts'
import type { Instance } from './instance.ts'

/** Longer than any answer of ours takes: the handlers have deadlines of their own. */
const idleTimeoutSeconds = 60
const drainMaxMs = 10_000
const drainLookMs = 20

/** The paths of the records that are read most, and what answers them. */
const hotPaths = ({ apiV3Prefix }: Config): [path: string, answer: 'fetchRecord' | 'fetchOrder'][] => [
  ['/product-v2/public/:id', 'fetchRecord'],
  [`${apiV3Prefix}/product-v2/public/:id`, 'fetchRecord'],
  [orderPath, 'fetchOrder'],
]

export type Serving = { url: string; server: Server<undefined>; stop(): Promise<void> }

/**
 * Listens. `stop` takes no new work, waits up to ten seconds for what is under way, and closes the database.
 * @throws when the port is taken
 */
export function listen(
  { edge, deps, close }: Pick<Instance, 'edge' | 'deps' | 'close'>,
  { host, port }: { host: string; port: number },
): Serving {
  let asked = false
  /** The binary starts with a JIT that holds back (build.ts). It compiles as usual once somebody comes: a server that idles needs none. */
  function firstAsked(): void {
    asked = true
    Bun.unsafe.setJITPolicy(1)
  }

  const server = Bun.serve({
    hostname: host,
    port,
    // Two servers must never share a port silently.
    reusePort: false,
    idleTimeout: idleTimeoutSeconds,
    // None of Bun's: it is we who answer 413.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // Bun finds the id without our looking at the URL, which is most of the cost of so small an answer.
    routes: Object.fromEntries(
      hotPaths(deps.config).map(([path, answer]) => [
        path,
        {
          GET: (request: BunRequest<string>, self: Server<undefined>) => {
            if (!asked) firstAsked()
            return edge[answer](request, request.params['id'] ?? '', self)
          },
        },
      ]),
    ),
    fetch: (request, self) => {
      if (!asked) firstAsked()
      return edge.fetch(request, self)
    },
    error: (error) => {
      deps.log.error('server.failed', { error })
      return answerTo(asAppError(error))
    },
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    server,
    async stop() {
      edge.drain()
      const stopped = server.stop(false)
      const deadline = performance.now() + drainMaxMs
      while (deps.requestCounts.inFlight() > 0 && performance.now() < deadline) await Bun.sleep(drainLookMs)
      await Promise.race([stopped, Bun.sleep(drainLookMs)])
      await server.stop(true)
      await close()
    },
  }
}
