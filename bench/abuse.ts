/** Measures how many product reads by id remain while an outsider on one machine abuses the server. */
import { join } from 'node:path'
import { callerOf } from './http.ts'
import { load, type Requests } from './load.ts'
import { type Child, children, type Pair, print, quick, readLoad, report, root, rounds, start, work } from './runs.ts'
import { type Seeded, seed, unlimitedProduct } from './seed.ts'

const products = 1_000
const readers = 16
/** `--only=lists` measures the abuses with that word in their name. */
const only = Bun.argv.find((argument) => argument.startsWith('--only='))?.slice('--only='.length) ?? ''
/** The abuse starts before the reads and ends after them. */
const leadSeconds = 1

type Target = {
  url: string
  shop: Seeded
  customers: readonly Login[]
  /** The page of an order, and of a draft order to pay. */
  orderPath: string
  payPath: string
}
type Login = { shopName: string; email: string; password: string }

/** To add an abuse, add an entry. `begin` resolves when the abuse has ended, after its duration in seconds. */
type Abuse = {
  readonly what: string
  /** Settings of the server instead of the bench's, which disable limits. */
  readonly settings?: Readonly<Record<string, string>>
  /** Whether a bare server is measured, too, because the abuse needs no shop. */
  readonly hasFloor?: true
  begin(target: Target, seconds: number): Promise<unknown>
}

const json = { 'content-type': 'application/json' }

/** Callers who send one body repeatedly and wait for each response. */
const sendRepeatedly = (what: string, path: string, body: string): Abuse => ({
  what,
  ...(body.length <= jsonBytesMax ? { hasFloor: true } : {}),
  begin: ({ url }, seconds) => load(url, { method: 'POST', paths: [path], headers: json, body }, { seconds, connections: 3 }),
})

/** Larger bodies are refused by their length. */
const jsonBytesMax = 64 * 1024
const numbers = (count: number) => `{"unheard":[${'1,'.repeat(count - 1)}1]}`
const signup = (emailLength: number) =>
  JSON.stringify({ shopName: 'bench', email: `${'a'.repeat(emailLength - 12)}@example.com`, password: 'a long password' })

/** Public reads that no cache answers, because each has another query. */
const uncachedReads: readonly { readonly what: string; readonly path: (target: Target, nth: number) => string }[] = [
  {
    what: 'searches for one letter',
    path: ({ shop }, nth) => `/product-v2/public/shop/${shop.shopName}?q=${'abcdefgh'[nth % 8]}&page=${nth}`,
  },
  { what: 'lists by price', path: ({ shop }, nth) => `/product-v2/public/shop/${shop.shopName}?minPrice=${nth}` },
  { what: 'pages of collections', path: ({ shop }, nth) => `/collection-v2/published/${shop.shopName}?page=${1 + nth}` },
  { what: 'pages of orders', path: ({ orderPath }, nth) => `${orderPath}?n=${nth}` },
  { what: 'pages of payments', path: ({ payPath }, nth) => `${payPath}?n=${nth}` },
]

/** One address with 24 connections. */
const readWith24 = ({ what, path }: (typeof uncachedReads)[number]): Abuse => ({
  what: `${what}, by 24 connections of one address`,
  settings: { TRUSTED_PROXIES: '127.0.0.1' },
  begin: (target, seconds) => {
    const paths = Array.from({ length: 4_000 }, (_, nth) => path(target, nth))
    const headers = { 'x-forwarded-for': '203.0.113.9', accept: 'text/html' }
    return load(target.url, { paths, headers }, { seconds, connections: 24 })
  },
})

const abuses: readonly Abuse[] = [
  sendRepeatedly('bodies of 500,000 numbers in a field that nobody knows', '/merchant/login', numbers(500_000)),
  sendRepeatedly('the same as large as it may be: 30,000 numbers', '/merchant/login', numbers(30_000)),
  sendRepeatedly('lists in lists, 60,000 deep', '/merchant/login', `{"unheard":${'['.repeat(30_000)}${']'.repeat(30_000)}}`),
  sendRepeatedly('e-mail addresses of 900,000 characters', '/customer/signup', signup(900_000)),
  sendRepeatedly('the same as large as they may be: 60,000', '/customer/signup', signup(60_000)),
  {
    what: 'logins of five customers',
    begin: ({ url, customers }, seconds) =>
      Promise.all(
        customers.map((login) => {
          const requests: Requests = { method: 'POST', paths: ['/customer/login'], headers: json, body: JSON.stringify(login) }
          return load(url, requests, { seconds, connections: 1 })
        }),
      ),
  },
  {
    what: 'writes under a publishable key, of which 600 a minute are allowed',
    settings: { STOREFRONT_WRITES_PER_MINUTE: '600' },
    begin: ({ url, shop: { publishableKey } }, seconds) =>
      load(
        url,
        { method: 'POST', paths: ['/cart'], headers: { ...json, 'x-service-api-key': publishableKey }, body: '{}' },
        { seconds, connections: 3 },
      ),
  },
  {
    what: 'imports of 19 MB, one after the other',
    begin: ({ url, shop }, seconds) => importRepeatedly(url, shop, { seconds, leavesAfterMs: undefined }),
  },
  {
    what: 'imports of 19 MB whose client leaves after 0.2 seconds',
    hasFloor: true,
    begin: ({ url, shop }, seconds) => importRepeatedly(url, shop, { seconds, leavesAfterMs: 200 }),
  },
  {
    what: 'twenty webhook endpoints that hang, and orders that they are told of',
    settings: { OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' },
    begin: ({ url, shop }, seconds) => hangWebhooks(url, shop, seconds),
  },
  ...uncachedReads.map(readWith24),
  { what: 'bodies whose second half never arrives, 2,000 at a time', begin: ({ url }, seconds) => stallBodies(url, seconds, 2_000) },
]

/** Imports one file repeatedly: new products the first time, then known ones. */
async function importRepeatedly(
  url: string,
  shop: Seeded,
  { seconds, leavesAfterMs }: { seconds: number; leavesAfterMs: number | undefined },
): Promise<void> {
  const description = 'Made to last. '.repeat(66)
  const body = [
    'Handle,Title,Body (HTML)',
    ...Array.from({ length: 20_000 }, (_, nth) => `bench-${nth},Product ${nth},${description}`),
  ].join('\n')
  const headers = { 'x-service-api-key': shop.secretKey, 'content-type': 'text/csv' }
  const endsAt = performance.now() + seconds * 1_000
  for (let left = seconds * 1_000; left > 0; left = endsAt - performance.now()) {
    const signal = AbortSignal.timeout(Math.ceil(Math.min(left, leavesAfterMs ?? left)))
    await fetch(`${url}/product-v2/import`, { method: 'POST', headers, body, signal })
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined)
  }
}

/** Orders one unit of a variant. */
async function buyOne(call: ReturnType<typeof callerOf>, variantId: string) {
  const cart = await call('POST', '/cart', { email: 'shopper@example.com' })
  await call('POST', `/cart/${cart.id}/items`, { variantId, quantity: 1 })
  return call('POST', `/cart/${cart.id}/checkout`, { method: 'card' }, { 'idempotency-key': crypto.randomUUID() })
}

/** Adds webhook endpoints that accept connections and never respond, and places free orders. */
async function hangWebhooks(url: string, shop: Seeded, seconds: number): Promise<void> {
  using listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const call = callerOf(url, shop.secretKey)
  const endpoints: string[] = []
  for (let nth = 0; nth < 20; nth++) {
    const created = await call('POST', '/webhook-endpoints', {
      url: `http://127.0.0.1:${listener.port}/${nth}`,
      events: ['order.confirmed'],
    })
    endpoints.push(created.id)
  }
  const { variants } = await call('POST', '/product-v2', unlimitedProduct)
  const endsAt = performance.now() + seconds * 1_000
  while (performance.now() < endsAt) {
    await buyOne(call, variants[0].id)
    await Bun.sleep(100)
  }
  for (const id of endpoints) await call('DELETE', `/webhook-endpoints/${id}`)
}

async function stallBodies(url: string, seconds: number, count: number): Promise<void> {
  const child = Bun.spawn(['bun', join(import.meta.dir, 'stalling.ts'), url, String(seconds), String(count)], {
    cwd: root,
    stderr: 'inherit',
  })
  children.add(child)
  await child.exited
  children.delete(child)
}

/** Signs up five customers of the shop. Returns their logins. */
async function signUpFiveCustomers(url: string, { shopName }: Seeded): Promise<Login[]> {
  const logins = [1, 2, 3, 4, 5].map((nth) => ({ shopName, email: `customer${nth}@example.com`, password: `password-of-customer-${nth}` }))
  for (const login of logins) await callerOf(url)('POST', '/customer/signup', login)
  return logins
}

/** Measures each abuse on a new server with the same file: reads alone and during the abuse, in rounds. */
export async function measureAbuse(): Promise<void> {
  const shop = await seed(join(work, 'abuse'), products)
  const otherData = await prepareTarget(shop)
  const paths = shop.ids.map((id) => `/product-v2/public/${id}`)
  for (const abuse of abuses.filter(({ what }) => what.includes(only))) {
    const souk = await start('souk.ts', shop.dataDir, 'FULL', JSON.stringify(abuse.settings ?? {}))
    const target = { url: souk.url, shop, ...otherData }
    print(abuse.what)
    report(`product by id, during ${abuse.what} (floor: without)`, '≥ 0.50', await measureAbuseOn(souk, abuse, target, paths))
    if (abuse.hasFloor) {
      const product = await fetch(`${souk.url}${paths[0]}`)
      const floor = await start('floor-abuse.ts', await product.text(), product.headers.get('etag') ?? '')
      // The cost of the generators and of receiving bytes: the upper limit for any server.
      report('the same by a bare server that only reads them', '', await measureAbuseOn(floor, abuse, { ...target, url: floor.url }, paths))
      await floor.stop()
    }
    await souk.stop()
  }
}

/** The floor of each comparison are the reads without the abuse. */
async function measureAbuseOn(server: Child, abuse: Abuse, target: Target, paths: readonly string[]): Promise<Pair> {
  const read = () => load(server.url, { paths }, { ...readLoad, connections: readers })
  await read()
  const reads: Pair = { souk: [], floor: [] }
  for (let round = 0; round < rounds; round++) {
    reads.floor.push(await read())
    const ended = abuse.begin(target, readLoad.seconds + 2 * leadSeconds)
    await Bun.sleep(leadSeconds * 1_000)
    reads.souk.push(await read())
    await ended
    await untilIdle(server)
  }
  return reads
}

/** Creates the data that an abuse needs, besides the shop. */
async function prepareTarget(shop: Seeded): Promise<Omit<Target, 'url' | 'shop'>> {
  const souk = await start('souk.ts', shop.dataDir, 'FULL', JSON.stringify({ PUBLIC_URL: 'http://souk.example' }))
  const customers = await signUpFiveCustomers(souk.url, shop)
  const call = callerOf(souk.url, shop.secretKey)
  const { variants } = await call('POST', '/product-v2', unlimitedProduct)
  const lines = [{ variantId: variants[0].id, quantity: 1 }]
  const draft = await call('POST', '/v2/orders/drafts', { lines, email: 'shopper@example.com' })
  const { order } = await buyOne(call, variants[0].id)
  await souk.stop()
  const pathOf = (url: string) => new URL(url).pathname
  return { customers, orderPath: pathOf(order.publicUrl), payPath: pathOf(draft.payUrl) }
}

/** Waits until the server is idle again, so that rounds do not affect each other. */
async function untilIdle({ url }: Child): Promise<void> {
  await (await fetch(`${url}/health/live`)).arrayBuffer()
  await Bun.sleep(quick ? 200 : 1_000)
}
