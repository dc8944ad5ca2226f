/**
 * Measures what a payment processor that never responds costs others: payment pages, product reads, checkouts, refunds.
 */
import { join } from 'node:path'
import { parseConfig } from '../src/config.ts'
import { openInstance } from '../src/instance.ts'
import { startCheckoutServer } from '../test/clients/processors/checkout-server.ts'
import { startStripe } from '../test/clients/processors/stripe-server.ts'
import { callerOf } from './http.ts'
import { type Load, load } from './load.ts'
import { figure, median, print, quick, readLoad, reportRatios, reportSingle, rounds, start, work } from './runs.ts'
import { benchSettings, type Seeded, seed, unlimitedProduct } from './seed.ts'

/** Orders that wait for the hanging processor. */
const stuck = quick ? 100 : 500
const samples = quick ? 15 : 50

/** Starts a proxy of a stand-in, which stops responding on command. */
function startProxy(url: string) {
  let hangs = false
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      if (hangs) await new Promise(() => undefined)
      const { pathname, search } = new URL(request.url)
      const body = request.method === 'GET' ? {} : { body: await request.arrayBuffer() }
      return fetch(`${url}${pathname}${search}`, { method: request.method, headers: request.headers, ...body })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    hang: (now: boolean) => {
      hangs = now
    },
    stop: () => server.stop(true),
  }
}

type Buyer = { url: string; shop: Seeded; variantId: string }

const post = (url: string, path: string, key: string, body: unknown) =>
  callerOf(url, key)('POST', path, body, { 'idempotency-key': crypto.randomUUID() })

/** Buys once and measures the checkout only. */
async function checkout(
  { url, shop: { secretKey: key, publishableKey }, variantId }: Buyer,
  body: object,
): Promise<{ ms: number; processor: string; orderId: string }> {
  const address = { name: 'A', line1: '1 Quay', city: 'Portland', countryCode: 'US' }
  const cart = await post(url, '/cart', key, { email: 'a@example.com', shippingAddress: address })
  await post(url, `/cart/${cart.id}/items`, key, { variantId, quantity: 1 })
  const startedAt = performance.now()
  const { order, payment } = await post(url, `/cart/${cart.id}/checkout`, publishableKey, { method: 'card', ...body })
  return { ms: performance.now() - startedAt, processor: payment.processor, orderId: order.id }
}

/** Configures a shop's processor and its partnership. */
async function configure(dataDir: string, { shopId }: Seeded, processor: 'stripe' | 'checkout'): Promise<void> {
  const { deps, close } = await openInstance({ config: parseConfig(benchSettings(dataDir)), as: 'command' })
  const at = deps.clock.now()
  await deps.db.write(async (tx) => {
    await deps.paymentMethodStore.putMethods(tx, { shopId, methods: { card: { enabled: true, processor } }, version: 2, updatedAt: at })
    await deps.paymentMethodStore.putPartnerships(tx, [{ name: 'bench', defaultCardProcessor: 'checkout', shopIds: [shopId] }], 2)
  })
  await close()
}

const p99 = (loads: readonly Load[]) => median(loads.map(({ p99Ms }) => p99Ms))

export async function measureHanging(): Promise<void> {
  print('a payment processor that hangs')
  const [stripe, other] = [await startStripe(), await startCheckoutServer()]
  const at = startProxy(stripe.url)
  const settings = {
    PUBLIC_URL: 'http://127.0.0.1:1',
    UNPAID_ORDERS_PER_ADDRESS: '1000000',
    STRIPE_PUBLISHABLE_KEY: 'pk_test_standin',
    STRIPE_SECRET_KEY: 'sk_test_standin',
    STRIPE_API_URL: at.url,
    CHECKOUT_PUBLISHABLE_KEY: other.publishableKey,
    CHECKOUT_SECRET_KEY: other.secretKey,
    CHECKOUT_CHANNEL_ID: other.channelId,
    CHECKOUT_API_URL: other.url,
    TRUSTED_PROXIES: '127.0.0.1',
  }
  const open = async (name: string, processor: 'stripe' | 'checkout') => {
    const shop = await seed(join(work, name), 10)
    await configure(shop.dataDir, shop, processor)
    const souk = await start('souk.ts', shop.dataDir, 'FULL', JSON.stringify(settings))
    const { variants } = await post(souk.url, '/product-v2', shop.secretKey, unlimitedProduct)
    return { souk, buyer: { url: souk.url, shop, variantId: variants[0].id } }
  }
  const { souk, buyer } = await open('hanging', 'stripe')
  const control = await open('never-hanging', 'checkout')

  // Creates waiting orders, and orders of another processor that can be refunded.
  for (let nth = 0; nth < stuck; nth += 20) await Promise.all(Array.from({ length: 20 }, () => checkout(buyer, {})))
  const paid: string[] = []
  for (let nth = 0; nth < samples * 2; nth++) paid.push((await checkout(buyer, { processor: 'sandbox' })).orderId)
  const refunds = async () => {
    const all: number[] = []
    for (let nth = 0; nth < samples; nth++) {
      const startedAt = performance.now()
      await post(souk.url, `/v2/orders/${paid.pop()}/refunds`, buyer.shop.secretKey, { all: true })
      all.push(performance.now() - startedAt)
    }
    return median(all)
  }
  // From enough addresses that none is limited.
  const resolver = { clients: 9_000, paths: [`/checkout/${buyer.shop.shopName}/payment-intent-resolver`] }
  const productOf = ({ shop }: Buyer) => ({ paths: [`/product-v2/public/${shop.ids[0]}`] })
  const measured = async () => {
    const resolverLoads: Load[] = []
    const shares: number[] = []
    for (let round = 0; round < rounds; round++) {
      resolverLoads.push(await load(souk.url, resolver, readLoad))
      // In turn with a server without a hanging processor, so that other load affects both.
      const loadOfControl = await load(control.souk.url, productOf(control.buyer), readLoad)
      const loadOfHanging = await load(souk.url, productOf(buyer), readLoad)
      shares.push(loadOfHanging.perSecond / loadOfControl.perSecond)
    }
    return { resolverLoads, share: median(shares) }
  }

  const before = await measured()
  const refundBefore = await refunds()
  at.hang(true)
  // Calls hang from here: the first until their timeout, then the breaker opens.
  const first = Promise.all(Array.from({ length: 5 }, () => checkout(buyer, {})))
  const during = await measured()
  const failedOver = await first
  const afterBreaker = [await checkout(buyer, {}), ...(await measureAlternately(buyer, control.buyer, samples))]
  const refundDuring = await refunds()
  at.hang(false)

  const refused = [...before.resolverLoads, ...during.resolverLoads].reduce((sum, { errors }) => sum + errors, 0)
  if (refused > 0) throw new Error(`${refused} requests of the resolver were refused`)
  compare('resolver p99, one processor hanging', p99(during.resolverLoads), p99(before.resolverLoads), 'ms', '≤ 1.50')
  compare('product by id, one processor hanging, to a server beside it', during.share, before.share, '×', '≥ 0.90')
  const slowest = Math.max(...failedOver.map(({ ms }) => ms))
  reportSingle(`checkout that falls over to ${failedOver[0]?.processor}`, `${figure(slowest)} ms at most`, '≤ 25,000 ms')
  const [withHanging, withoutHanging] = [afterBreaker.slice(1, 1 + samples), afterBreaker.slice(1 + samples)]
  compare(
    'checkout once the breaker is open',
    median(withHanging.map(({ ms }) => ms)),
    median(withoutHanging.map(({ ms }) => ms)),
    'ms',
    '≤ 1.10',
  )
  compare(`refund elsewhere, ${stuck} orders stuck`, refundDuring, refundBefore, 'ms', '≤ 1.50')
  await Promise.all([souk.stop(), control.souk.stop(), stripe.close(), other.close(), at.stop()])
}

/** Measures both in turn. */
async function measureAlternately(one: Buyer, other: Buyer, count: number) {
  const [ones, others]: [Awaited<ReturnType<typeof checkout>>[], Awaited<ReturnType<typeof checkout>>[]] = [[], []]
  for (let nth = 0; nth < count; nth++) {
    others.push(await checkout(other, {}))
    ones.push(await checkout(one, {}))
  }
  return [...ones, ...others]
}

function compare(what: string, now: number, before: number, unit: string, target: string): void {
  const format = (value: number) => `${figure(value, 2)} ${unit}`
  reportRatios({ what, souk: format(now), floor: `before ${format(before)}`, target }, [now / before])
}
