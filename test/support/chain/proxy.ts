/** Stands between souk and a node, and spoils what the test says. */
import type { Server } from 'bun'

// biome-ignore lint/suspicious/noExplicitAny: whatever a node says
type Any = any
export type RpcCall = { id: number; method: string; params: Any[] }
export type RpcAnswer = { jsonrpc: string; id: number; result?: Any; error?: { code: number; message: string } }
/**
 * What is done with a batch: answers of the node that may be changed, or an answer of its own.
 * @param forward asks the node
 */
export type Fault = (calls: RpcCall[], forward: () => Promise<RpcAnswer[]>) => Promise<RpcAnswer[] | Response> | RpcAnswer[] | Response

export type Proxy = ReturnType<typeof startProxy>

/** A node of the test's own behind a URL: faults are taken in their order, one a batch; then the standing one, if there is any. */
export function startProxy(nodeUrl: string, path = '/key-nobody-may-see') {
  const queued: Fault[] = []
  let standing: Fault | undefined
  let target = nodeUrl
  const batches: RpcCall[][] = []
  const server: Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const calls = (await request.json()) as RpcCall[]
      batches.push(calls)
      const forward = async () => {
        const response = await fetch(target, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(calls),
        })
        return (await response.json()) as RpcAnswer[]
      }
      const fault = queued.shift() ?? standing
      const answer = fault ? await fault(calls, forward) : await forward()
      return answer instanceof Response ? answer : Response.json(answer)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}${path}`,
    host: `127.0.0.1:${server.port}`,
    /** Every batch that came, oldest first. */
    batches,
    /** For the next batches, one each. */
    spoil: (...faults: Fault[]) => void queued.push(...faults),
    /** For all batches that none is queued for. */
    always(fault: Fault | undefined): void {
      standing = fault
    },
    /** Whether every fault has been met. */
    isSpent: () => queued.length === 0,
    forget(): void {
      queued.length = 0
      standing = undefined
    },
    pointTo(url: string): void {
      target = url
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
}

const of = (calls: readonly RpcCall[], answers: readonly RpcAnswer[], method: string) =>
  answers.filter(({ id }) => calls.find((call) => call.id === id)?.method === method)
const blocksAsked = (calls: readonly RpcCall[]) => {
  const filter = calls.find(({ method }) => method === 'eth_getLogs')?.params[0]
  return filter ? Number(filter.toBlock) - Number(filter.fromBlock) + 1 : undefined
}
const refusing = (calls: readonly RpcCall[], code: number, message: string): RpcAnswer[] =>
  calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code, message } }))
/** Changes logs, each time that there are any in an answer; a batch without stays as it is. */
const withLogs =
  (change: (logs: Any[]) => Any): Fault =>
  async (calls, forward) => {
    const answers = await forward()
    for (const answer of of(calls, answers, 'eth_getLogs')) answer.result = change(answer.result)
    return answers
  }
const firstLog = (change: (log: Any) => Any) => withLogs((logs) => logs.map((log, nth) => (nth === 0 ? change(log) : log)))

const withBlooms =
  (digit: string): Fault =>
  async (calls, forward) => {
    const answers = await forward()
    for (const answer of of(calls, answers, 'eth_getBlockByNumber')) if (answer.result) answer.result.logsBloom = `0x${digit.repeat(512)}`
    return answers
  }

export const faults = {
  limited:
    (retryAfter?: string): Fault =>
    () =>
      Response.json(
        { jsonrpc: '2.0', id: null, error: { code: 429, message: 'slow down' } },
        { status: 429, headers: retryAfter ? { 'retry-after': retryAfter } : {} },
      ),
  limitedInside: (): Fault => (calls) => refusing(calls, -32_005, 'daily request count exceeded, request rate limited'),
  badGateway: (): Fault => () => new Response('<html>502 Bad Gateway</html>', { status: 502 }),
  garbage: (): Fault => () => new Response('{"jsonrpc":', { headers: { 'content-type': 'application/json' } }),
  notABatch: (): Fault => () => Response.json({ jsonrpc: '2.0', id: 1, result: '0x1' }),
  mixedIds: (): Fault => async (_, forward) => (await forward()).map((answer) => ({ ...answer, id: 0 })),
  shortBatch: (): Fault => async (_, forward) => (await forward()).slice(1),
  /** In another order, as they may be. */
  reversed: (): Fault => async (_, forward) => (await forward()).reverse(),
  /** As a node that has no blocks from one on: null headers, and no logs. */
  lagging:
    (from: number): Fault =>
    async (calls, forward) => {
      const answers = await forward()
      for (const answer of of(calls, answers, 'eth_getBlockByNumber')) if (Number(answer.result?.number) >= from) answer.result = null
      for (const answer of of(calls, answers, 'eth_getLogs')) answer.result = []
      return answers
    },
  noLogs: () => withLogs(() => []),
  /** Of every block it says that it may hold whatever there is. */
  fullBlooms: () => withBlooms('f'),
  /** As of a chain that knows of no blooms. */
  noLogsNorBlooms: (): Fault => (calls, forward) =>
    withBlooms('0')(calls, async () => (await faults.noLogs()(calls, forward)) as RpcAnswer[]),
  withoutFirst: () => withLogs((logs) => logs.slice(1)),
  removed: () => firstLog((log) => ({ ...log, removed: true })),
  otherAddress: () => firstLog((log) => ({ ...log, address: `0x${'12'.repeat(20)}` })),
  otherBlock: () => firstLog((log) => ({ ...log, blockNumber: '0xfffffff' })),
  otherHash: () => firstLog((log) => ({ ...log, blockHash: `0x${'12'.repeat(32)}` })),
  otherSchema: () => firstLog((log) => ({ ...log, topics: [...log.topics.slice(0, 3), `0x${'12'.repeat(32)}`] })),
  shortData: () => firstLog((log) => ({ ...log, data: log.data.slice(0, 40) })),
  fewTopics: () => firstLog((log) => ({ ...log, topics: log.topics.slice(0, 3) })),
  twice: () => withLogs((logs) => [...logs, ...logs.slice(0, 1)]),
  noList: () => withLogs(() => 'none'),
  oversized:
    (bytes: number): Fault =>
    (calls) =>
      new Response(`${JSON.stringify(refusing(calls, 1, 'x'))}${' '.repeat(bytes)}`),
  wrongChain: (): Fault => async (calls, forward) => {
    const answers = await forward()
    for (const answer of of(calls, answers, 'eth_chainId')) answer.result = '0x539'
    return answers
  },
  /** Refuses more blocks than that, in words that say how many would do or not. */
  cappedAt:
    (blocks: number, message = 'query exceeds max block range'): Fault =>
    async (calls, forward) =>
      (blocksAsked(calls) ?? 0) > blocks ? refusing(calls, -32_602, message) : forward(),
  noFinality: (): Fault => async (calls, forward) => {
    const answers = await forward()
    for (const { id, params } of calls)
      if (params[0] === 'finalized') {
        const answer = answers.find((one) => one.id === id)
        if (!answer) continue
        delete answer.result
        answer.error = { code: -32_602, message: 'invalid argument 0: hex string without 0x prefix' }
      }
    return answers
  },
  /** Holds the answer back until the test says so. */
  held(): { fault: Fault; reached: Promise<void>; release: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    return {
      fault: async (_, forward) => {
        asked.resolve()
        await promise
        return forward()
      },
      reached: asked.promise,
      release: resolve,
    }
  },
} as const
