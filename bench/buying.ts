/**
 * Cart to CONFIRMED in process, on a seeded directory: so many callers at once, each of which begins a cart, puts one thing
 * into it and buys it, by the edge and so past no check. The sandbox is a server of its own on a socket, as when souk serves.
 * Told what to do on standard input; writes its figures to standard output.
 */
import { randomUUID } from 'node:crypto'
import type { Processor, ProcessorPayment } from '../src/clients/processors/processor.ts'
import { parseConfig } from '../src/config.ts'
import { openInstance } from '../src/instance.ts'
import { percentile } from './load.ts'
import { benchSettings } from './seed.ts'

export type Buying = {
  dataDir: string
  publishableKey: string
  variantIds: readonly string[]
  callers: number
  seconds: number
  /** `memory` answers at once and keeps no books: what is left is ours alone. */
  processor: 'sandbox' | 'memory'
  synchronous: 'FULL' | 'OFF'
}
export type Bought = {
  perSecond: number
  p50Ms: number
  p99Ms: number
  writesEach: number
  commitsEach: number
  /** Time of processors, of all threads: more than 1 s a second means that others than the main thread were at work. */
  cpuMsEach: number
  errors: string[]
}

const warmUpMs = 2_000

async function buying({ dataDir, publishableKey, variantIds, callers, seconds, processor, synchronous }: Buying): Promise<Bought> {
  const { edge, deps, close } = await openInstance({
    config: parseConfig({ ...benchSettings(dataDir), PORT: '0' }),
    as: 'server',
    sqlite: { synchronous },
    // Under the name of the sandbox, in its place.
    processors: processor === 'memory' ? [processorInMemory()] : [],
  })
  const peer = { requestIP: () => ({ address: '127.0.0.1' }) }
  const call = async (path: string, body: unknown, more: Record<string, string> = {}) => {
    const headers = { host: 'localhost', 'content-type': 'application/json', 'x-service-api-key': publishableKey, ...more }
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const response = await edge.fetch(request, peer)
    const text = await response.text()
    if (response.status !== 201) throw new Error(`${path.replace(/cart_\w+/, ':id')} answered ${response.status} ${text}`)
    return JSON.parse(text)
  }

  const latencies: number[] = []
  let bought = 0
  const errors: string[] = []
  let measuredFrom = Number.POSITIVE_INFINITY
  let endsAt = Number.POSITIVE_INFINITY
  async function caller(nth: number): Promise<void> {
    for (let one = nth; performance.now() < endsAt; one += callers) {
      const startedAt = performance.now()
      try {
        const cart = await call('/cart', { email: `shopper${one}@example.com` })
        await call(`/cart/${cart.id}/items`, { variantId: variantIds[one % variantIds.length], quantity: 1 })
        const { order } = await call(`/cart/${cart.id}/checkout`, { method: 'card' }, { 'idempotency-key': randomUUID() })
        if (order.status !== 'CONFIRMED') throw new Error(`an order ended ${order.status}`)
        const endedAt = performance.now()
        if (endedAt < measuredFrom || endedAt > endsAt) continue
        bought++
        latencies.push(endedAt - startedAt)
      } catch (error) {
        errors.push(error instanceof Error ? error.message : String(error))
      }
    }
  }

  const all = Promise.all(Array.from({ length: callers }, (_, nth) => caller(nth)))
  await Bun.sleep(warmUpMs)
  const before = { ...deps.db.stats }
  const cpuBefore = process.cpuUsage()
  measuredFrom = performance.now()
  endsAt = measuredFrom + seconds * 1_000
  await Bun.sleep(seconds * 1_000)
  const { writes, commits } = deps.db.stats
  const { user, system } = process.cpuUsage(cpuBefore)
  await all
  await close()
  latencies.sort((a, b) => a - b)
  return {
    perSecond: bought / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    writesEach: (writes - before.writes) / bought,
    commitsEach: (commits - before.commits) / bought,
    cpuMsEach: (user + system) / 1_000 / bought,
    errors: errors.slice(0, 3),
  }
}

/** Says yes to everything, at once. */
function processorInMemory(): Processor {
  const payments = new Map<string, ProcessorPayment>()
  const put = (payment: ProcessorPayment) => {
    payments.set(payment.reference, payment)
    return payment
  }
  const found = (id: string) => payments.get(id) ?? put({ reference: id, state: 'VOIDED', authorized: 0, captured: 0 })
  return {
    name: 'sandbox',
    modes: ['TEST'],
    create: async ({ paymentId, amount }) => put({ reference: paymentId, state: 'AUTHORIZED', authorized: amount, captured: 0 }),
    retrieve: async ({ paymentId }) => payments.get(paymentId),
    capture: async ({ paymentId, amount }) => put({ reference: paymentId, state: 'CAPTURED', authorized: amount, captured: amount }),
    void: async ({ paymentId }) => found(paymentId),
    retrieveRefund: async () => undefined,
    refund: async ({ refundId }) => ({ reference: refundId, state: 'SUCCEEDED' }),
    readWebhook: async () => undefined,
    probe: async () => undefined,
  }
}

process.stdout.write(`${JSON.stringify(await buying((await Bun.stdin.json()) as Buying))}\n`)
process.exit(0)
