/**
 * Cart to CONFIRMED in process: so many callers at once, each of which begins a cart, puts one thing into it and buys it, by the
 * edge and so past no check. The sandbox is a server of its own on a socket, as when souk serves.
 * Told what to do on standard input; writes its figures to standard output.
 */
import { randomUUID } from 'node:crypto'
import { type Processor, type ProcessorPayment, sandboxCapabilities } from '../src/clients/processors/processor.ts'
import { parseConfig } from '../src/config.ts'
import { type Instance, openInstance } from '../src/instance.ts'
import { shipLog } from '../src/modules/operations/log-shipping/index.ts'
import { type Bought, type Buying, callersBuying, Refused, type ShopToBuyIn } from './callers.ts'
import { benchSettings } from './seed.ts'

/** souk on the database of a measurement. */
export const openFor = ({ dataDir, databaseUrl, synchronous, processor, settings }: Buying): Promise<Instance> =>
  openInstance({
    config: parseConfig({ ...benchSettings(dataDir), PORT: '0', ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}), ...settings }),
    as: 'server',
    sqlite: { synchronous },
    // Under the name of the sandbox, in its place.
    processors: processor === 'memory' ? [processorInMemory()] : [],
  })

/** Buys one thing by requests; the id of the order. */
export function buyerAt({ edge }: Instance) {
  const peer = { requestIP: () => ({ address: '127.0.0.1' }) }
  return async ({ publishableKey, variantIds }: ShopToBuyIn, nth: number): Promise<string> => {
    const call = async (path: string, body: unknown, more: Record<string, string> = {}) => {
      const headers = { host: 'localhost', 'content-type': 'application/json', 'x-service-api-key': publishableKey, ...more }
      const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      const response = await edge.fetch(request, peer)
      const text = await response.text()
      if (response.status === 503) throw new Refused(text)
      if (response.status !== 201) throw new Error(`${path.replace(/cart_\w+/, ':id')} answered ${response.status} ${text}`)
      return JSON.parse(text)
    }
    const cart = await call('/cart', { email: `shopper${nth}@example.com` })
    await call(`/cart/${cart.id}/items`, { variantId: variantIds[nth % variantIds.length], quantity: 1 })
    const { order } = await call(`/cart/${cart.id}/checkout`, { method: 'card' }, { 'idempotency-key': randomUUID() })
    if (order.status !== 'CONFIRMED') throw new Error(`an order ended ${order.status}`)
    return order.id
  }
}

async function buying(told: Buying): Promise<Bought> {
  const instance = await openFor(told)
  const shipping = await shipLog(instance.deps)
  const buy = buyerAt(instance)
  const bought = await callersBuying(told, instance.deps.db.stats, async (shop, nth) => void (await buy(shop, nth)))
  await shipping?.stop()
  await instance.close()
  return bought
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
    mode: 'TEST',
    capabilities: sandboxCapabilities,
    create: async ({ paymentId, amount }) => put({ reference: paymentId, state: 'AUTHORIZED', authorized: amount, captured: 0 }),
    retrieve: async ({ paymentId }) => payments.get(paymentId),
    capture: async ({ paymentId, amount }) => put({ reference: paymentId, state: 'CAPTURED', authorized: amount, captured: amount }),
    void: async ({ paymentId }) => found(paymentId),
    retrieveRefund: async () => undefined,
    refund: async ({ refundId }) => ({ reference: refundId, state: 'SUCCEEDED' }),
    readMessage: async () => ({ id: 'none', payment: undefined }),
    probe: async () => undefined,
  }
}

if (import.meta.main) {
  process.stdout.write(`${JSON.stringify(await buying((await Bun.stdin.json()) as Buying))}\n`)
  process.exit(0)
}
