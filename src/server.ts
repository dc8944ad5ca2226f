import type { BunRequest, Server } from 'bun'
import type { Config } from './config.ts'
import { OperatorError } from './core/errors.ts'
import { answerTo, asAppError } from './http/errors.ts'
import type { Edge } from './http/fast-path.ts'
import type { LoopLag } from './http/metrics.ts'
import { orderPath, recordPath, resolverPath, statsPath } from './http/response-cache.ts'
import type { Instance } from './instance.ts'

const drainMaxMs = 10_000
const drainLookMs = 20
/** A client that is busy on a connection asks again within this many looks, also on a busy machine. Where none has, fewer will do. */
const quietLooks = { afterRequests: 50, atFirst: 8 }
const gatherLooksMax = 150

type HotPath = [path: string, answer: (request: BunRequest<string>, server: Server<undefined>) => Response | Promise<Response>]

/** The paths of what is read most, and what answers them. */
const hotPaths = ({ apiV3Prefix }: Config, edge: Edge): HotPath[] => [
  ...[recordPath, `${apiV3Prefix}${recordPath}`].map(
    (path): HotPath => [path, (request, self) => edge.fetchRecord(request, idOf(request), self, path)],
  ),
  [orderPath, (request, self) => edge.fetchOrder(request, request.params['orderId'] ?? '', self)],
  ...[resolverPath, `${apiV3Prefix}${resolverPath}`].map(
    (path): HotPath => [path, (request, self) => edge.fetchResolved(request, self, path)],
  ),
  ...[statsPath, `${apiV3Prefix}${statsPath}`].map((path): HotPath => [path, (request, self) => edge.fetchStats(request, self, path)]),
]
const idOf = ({ params }: BunRequest<string>): string => params['id'] ?? ''

/** Says in words why an address cannot be listened on. */
function orRefused<T>({ host, port }: { host: string; port: number }, serve: () => T): T {
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

export type Serving = {
  url: string
  server: Server<undefined>
  /** Takes no new connections and waits up to ten seconds until the last byte of every answer under way has left. */
  stop(): Promise<void>
}

const loopLookMs = 250

/** Looks how late the event loop comes to a timer: whatever has the thread meanwhile holds up everybody's answer for as long. */
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
 * Listens.
 * @throws when the port is taken
 */
export function listen({ edge, deps }: Pick<Instance, 'edge' | 'deps'>, { host, port }: { host: string; port: number }): Serving {
  let asked = 0
  /** The binary starts with a JIT that holds back (build.ts). It compiles as usual once somebody comes: a server that idles needs none. */
  function count(): void {
    if (asked++ === 0) Bun.unsafe.setJITPolicy(1)
  }

  /** Until nobody asks any more: every client that was busy is then waiting for an answer. */
  async function gather(deadline: number): Promise<void> {
    let seen = asked
    let needed = quietLooks.atFirst
    // Looks, and not time alone: a process that gets no turn for a while reads nothing either.
    for (let quiet = 0, looks = 0; quiet < needed && looks < gatherLooksMax && performance.now() < deadline; quiet++, looks++) {
      await Bun.sleep(drainLookMs)
      // What has arrived by now is read first.
      await new Promise<void>((resume) => setImmediate(resume))
      if (asked === seen) continue
      seen = asked
      needed = quietLooks.afterRequests
      quiet = 0
    }
  }

  const server = orRefused({ host, port }, () =>
    Bun.serve({
      hostname: host,
      port,
      // Two servers must never share a port silently.
      reusePort: false,
      idleTimeout: deps.config.keepAliveSeconds,
      // None of Bun's: it is we who answer 413.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Bun finds the id without our taking the URL apart, which is most of the cost of so small an answer.
      routes: Object.fromEntries(
        hotPaths(deps.config, edge).map(([path, answer]) => [
          path,
          {
            GET: (request: BunRequest<string>, self: Server<undefined>) => {
              count()
              return answer(request, self)
            },
          },
        ]),
      ),
      fetch: (request, self) => {
        count()
        return edge.fetch(request, self)
      },
      error: (error) => {
        deps.log.error('server.failed', { error })
        return answerTo(asAppError(error))
      },
    }),
  )
  const watching = watchLoop(deps.loopLag)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    server,
    async stop() {
      const deadline = performance.now() + drainMaxMs
      // Bun closes the listener and, with it, every connection without a request, also where one is on its way: that client would
      // see a reset. So those who are busy are first made to wait.
      deps.live.stop()
      edge.hold()
      await gather(deadline)
      void server.stop(false)
      edge.drain()
      // Bun counts a request until the last byte of its answer has left.
      while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(drainLookMs)
      await server.stop(true)
      clearInterval(watching)
    },
  }
}
