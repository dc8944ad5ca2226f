/** A proxy between souk and a node that injects faults. */
import type { Server } from 'bun'

// biome-ignore lint/suspicious/noExplicitAny: any JSON of a node
type Any = any
export type RpcCall = { id: number; method: string; params: Any[] }
export type RpcAnswer = { jsonrpc: string; id: number; result?: Any; error?: { code: number; message: string } }
/**
 * Handles a batch: changes the node's responses, or returns another response.
 * @param forward sends the batch to the node
 */
export type Fault = (calls: RpcCall[], forward: () => Promise<RpcAnswer[]>) => Promise<RpcAnswer[] | Response> | RpcAnswer[] | Response

export type Proxy = ReturnType<typeof startProxy>

/** Starts a proxy for a node. Each batch takes the next queued fault; without one, the fault of `always` applies. */
export function startProxy(nodeUrl: string, path = '/key-nobody-may-see') {
  const queued: Fault[] = []
  let defaultFault: Fault | undefined
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
      const fault = queued.shift() ?? defaultFault
      const answer = fault ? await fault(calls, forward) : await forward()
      return answer instanceof Response ? answer : Response.json(answer)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}${path}`,
    host: `127.0.0.1:${server.port}`,
    /** All received batches, oldest first. */
    batches,
    /** Queues faults for the next batches, one each. */
    spoil: (...faults: Fault[]) => void queued.push(...faults),
    /** Sets the fault of all batches without a queued one. */
    always(fault: Fault | undefined): void {
      defaultFault = fault
    },
    /** Returns whether all queued faults were used. */
    isSpent: () => queued.length === 0,
    forget(): void {
      queued.length = 0
      defaultFault = undefined
    },
    pointTo(url: string): void {
      target = url
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
}

const answersTo = (calls: readonly RpcCall[], answers: readonly RpcAnswer[], method: string) =>
  answers.filter(({ id }) => calls.find((call) => call.id === id)?.method === method)
const blocksAsked = (calls: readonly RpcCall[]) => {
  const filter = calls.find(({ method }) => method === 'eth_getLogs')?.params[0]
  return filter ? Number(filter.toBlock) - Number(filter.fromBlock) + 1 : undefined
}
const refusing = (calls: readonly RpcCall[], code: number, message: string): RpcAnswer[] =>
  calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code, message } }))
/** Changes the logs of a batch. A batch without a request for logs is unchanged. */
const withLogs =
  (change: (logs: Any[]) => Any): Fault =>
  async (calls, forward) => {
    const answers = await forward()
    for (const answer of answersTo(calls, answers, 'eth_getLogs')) answer.result = change(answer.result)
    return answers
  }
const firstLog = (change: (log: Any) => Any) => withLogs((logs) => logs.map((log, nth) => (nth === 0 ? change(log) : log)))

const withBlooms =
  (digit: string): Fault =>
  async (calls, forward) => {
    const answers = await forward()
    for (const answer of answersTo(calls, answers, 'eth_getBlockByNumber'))
      if (answer.result) answer.result.logsBloom = `0x${digit.repeat(512)}`
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
  /** Responses in another order, which is allowed. */
  reversed: (): Fault => async (_, forward) => (await forward()).reverse(),
  /** A node without the blocks from a number on: null headers and no logs. */
  lagging:
    (from: number): Fault =>
    async (calls, forward) => {
      const answers = await forward()
      for (const answer of answersTo(calls, answers, 'eth_getBlockByNumber'))
        if (Number(answer.result?.number) >= from) answer.result = null
      for (const answer of answersTo(calls, answers, 'eth_getLogs')) answer.result = []
      return answers
    },
  noLogs: () => withLogs(() => []),
  /** Blooms that match every log. */
  fullBlooms: () => withBlooms('f'),
  /** No logs and empty blooms, as of a chain without blooms. */
  noLogsNorBlooms: (): Fault => (calls, forward) =>
    withBlooms('0')(calls, async () => (await faults.noLogs()(calls, forward)) as RpcAnswer[]),
  withoutFirst: () => withLogs((logs) => logs.slice(1)),
  removed: () => firstLog((log) => ({ ...log, removed: true })),
  otherAddress: () => firstLog((log) => ({ ...log, address: `0x${'12'.repeat(20)}` })),
  otherBlock: () => firstLog((log) => ({ ...log, blockNumber: '0xfffffff' })),
  otherHash: () => firstLog((log) => ({ ...log, blockHash: `0x${'12'.repeat(32)}` })),
  otherSchema: () => firstLog((log) => ({ ...log, topics: [...log.topics.slice(0, 3), `0x${'12'.repeat(32)}`] })),
  /** The first log names another attester, which did not sign. */
  ofAnother: (address: string) =>
    firstLog((log) => ({ ...log, topics: [log.topics[0], log.topics[1], `0x${'0'.repeat(24)}${address.slice(2)}`, log.topics[3]] })),
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
    for (const answer of answersTo(calls, answers, 'eth_chainId')) answer.result = '0x539'
    return answers
  },
  /** Refuses a range of more blocks. The message may name the allowed number. */
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
  /** Delays the response until `release` is called. */
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
