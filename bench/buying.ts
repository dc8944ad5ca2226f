/**
 * Cart to CONFIRMED in process: concurrent callers create a cart, add one product and buy it through the edge without
 * limits.
 * The sandbox is a server on a socket, as in production. Reads its input from standard input and writes figures to
 * standard output.
 */
import { randomUUID } from 'node:crypto'
import { type Processor, type ProcessorPayment, sandboxCapabilities } from '../src/clients/processors/processor.ts'
import { parseConfig } from '../src/config.ts'
import { type Instance, openInstance } from '../src/instance.ts'
import { shipLog } from '../src/modules/operations/log-shipping/index.ts'
import { type Buying, type BuyingResult, Refused, runCallers, type ShopToBuyIn } from './callers.ts'
import { benchSettings } from './seed.ts'

/** Opens souk on the database of a measurement. */
export const openFor = ({ dataDir, databaseUrl, synchronous, processor, settings }: Buying): Promise<Instance> =>
  openInstance({
    config: parseConfig({ ...benchSettings(dataDir), PORT: '0', ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}), ...settings }),
    as: 'server',
    sqlite: { synchronous },
    // Replaces the sandbox under its name.
    processors: processor === 'memory' ? [processorInMemory()] : [],
  })

/** Buys one product by requests; returns the order id. */
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

/** Buys one product as an agent: creates, replaces and completes a checkout session. */
export function agentAt({ edge }: Instance, profile: string) {
  const peer = { requestIP: () => ({ address: '127.0.0.1' }) }
  return async ({ shopName = '', variantIds }: ShopToBuyIn, nth: number): Promise<void> => {
    const call = async (method: string, path: string, body: unknown) => {
      const headers = {
        host: 'localhost',
        'content-type': 'application/json',
        'ucp-agent': `profile="${profile}"`,
        'idempotency-key': randomUUID(),
        // Limits count by address.
        'x-forwarded-for': `11.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`,
      }
      const url = `http://localhost/ucp/${shopName}/checkout-sessions${path}`
      const response = await edge.fetch(new Request(url, { method, headers, body: JSON.stringify(body) }), peer)
      const text = await response.text()
      if (response.status === 503) throw new Refused(text)
      if (!response.ok) throw new Error(`${method} ${path.replace(/chk_\w+/, ':id')} answered ${response.status} ${text}`)
      return JSON.parse(text)
    }
    const lines = [{ item: { id: variantIds[nth % variantIds.length] }, quantity: 1 }]
    const { id } = await call('POST', '', { line_items: lines })
    await call('PUT', `/${id}`, { line_items: lines, buyer: { email: `shopper${nth}@example.com` } })
    const instrument = { id: 'one', handler_id: 'sandbox', type: 'token', selected: true }
    const credential = { type: 'token', token: 'tok_success' }
    const { status } = await call('POST', `/${id}/complete`, { payment: { instruments: [{ ...instrument, credential }] } })
    if (status !== 'completed') throw new Error(`a checkout ended ${status}`)
  }
}

async function runBuying(input: Buying): Promise<BuyingResult> {
  const instance = await openFor(input)
  const shipping = await shipLog(instance.deps)
  const buy = input.profile === undefined ? buyerAt(instance) : agentAt(instance, input.profile)
  const result = await runCallers(input, instance.deps.db.stats, async (shop, nth) => void (await buy(shop, nth)))
  await shipping?.stop()
  await instance.close()
  return result
}

/** Returns a processor that accepts everything at once. */
function processorInMemory(): Processor {
  const payments = new Map<string, ProcessorPayment>()
  const put = (payment: ProcessorPayment) => {
    payments.set(payment.reference, payment)
    return payment
  }
  const paymentOf = (id: string) => payments.get(id) ?? put({ reference: id, state: 'VOIDED', authorized: 0, captured: 0 })
  return {
    name: 'sandbox',
    mode: 'TEST',
    capabilities: sandboxCapabilities,
    create: async ({ paymentId, amount }) => put({ reference: paymentId, state: 'AUTHORIZED', authorized: amount, captured: 0 }),
    retrieve: async ({ paymentId }) => payments.get(paymentId),
    capture: async ({ paymentId, amount }) => put({ reference: paymentId, state: 'CAPTURED', authorized: amount, captured: amount }),
    void: async ({ paymentId }) => paymentOf(paymentId),
    retrieveRefund: async () => undefined,
    refund: async ({ refundId }) => ({ reference: refundId, state: 'SUCCEEDED' }),
    readMessage: async () => ({ id: 'none', payment: undefined }),
    probe: async () => undefined,
  }
}

if (import.meta.main) {
  process.stdout.write(`${JSON.stringify(await runBuying((await Bun.stdin.json()) as Buying))}\n`)
  process.exit(0)
}
