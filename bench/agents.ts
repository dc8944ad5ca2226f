/**
 * Measures requests of agents against those of shoppers on the same server: search, sessions, profile, MCP, signatures,
 * checkouts. Also measures the cost of strangers, who name a new profile with every request.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { createPublicKey, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { parseConfig } from '../src/config.ts'
import { system } from '../src/core/command-context.ts'
import { openInstance } from '../src/instance.ts'
import { type HttpMessage, signaturesOf, signMessage, verifySignature } from '../src/lib/http-signatures.ts'
import { capabilityNames, fullNameOf, newestRelease } from '../src/lib/ucp/releases.ts'
import { newSigningKey, openSigningKey } from '../src/lib/ucp/signing-key.ts'
import { setAgentSettings } from '../src/modules/agents/agent-settings/index.ts'
import { contextOf, readShop } from '../src/modules/shop/shop/index.ts'
import { runBuyers } from './buyers.ts'
import type { Buying, BuyingResult } from './callers.ts'
import { callerOf } from './http.ts'
import { type Load, load, type Requests } from './load.ts'
import {
  type Child,
  children,
  figure,
  measureInTurn,
  median,
  print,
  quick,
  readLoad,
  report,
  reportRatios,
  reportSingle,
  residentMb,
  root,
  rounds,
  start,
  work,
} from './runs.ts'
import { benchSettings, disableStockTracking, type Seeded, seed } from './seed.ts'

const products = 1_000
const publicUrl = 'http://souk.example'
/** Fewer profiles than may be fetched for the first time in a minute. */
const platforms = 20
/** Records that are read at random. */
const records = 200
/** Client addresses, so that none is limited. */
const clients = 9_000
const callers = 32
const strangers = quick ? 20_000 : 100_000
/** Requests a second of strangers while others are measured. */
const strangersPerSecond = 200
const settings = {
  AGENTS_ENABLED: 'true',
  AGENTS_PROFILE_NETWORKS: '127.0.0.0/8',
  PUBLIC_URL: publicUrl,
  TRUSTED_PROXIES: '127.0.0.1',
}

type Key = ReturnType<typeof newSigningKey>
type Shop = Seeded & { variantIds: string[] }
type Platforms = { readonly urls: readonly string[]; readonly strangersUrl: string; fetches(): number }

/** Serves the profiles of platforms that sign with `key`, and one for every stranger. */
function servePlatforms(key: Key) {
  let fetches = 0
  const capabilities = Object.fromEntries(capabilityNames.map((name) => [fullNameOf(name), [{ version: newestRelease }]]))
  const profile = {
    ucp: { version: newestRelease, capabilities },
    keys: [{ ...key.publicKey, kid: key.kid, use: 'sig', alg: 'ES256' }],
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      if (url.includes('/stranger/')) fetches++
      return Response.json(profile, { headers: { 'cache-control': 'max-age=86400' } })
    },
  })
  const urls = Array.from({ length: platforms }, (_, nth) => `${server.url}platform/${nth}`)
  const served: Platforms = { urls, strangersUrl: `${server.url}stranger/`, fetches: () => fetches }
  return { ...served, stop: () => server.stop(true) }
}

/** Seeds a shop that agents buy from without limits. */
async function shopForAgents(): Promise<Shop> {
  const seeded = await seed(join(work, 'agents'), products)
  disableStockTracking(seeded)
  const db = new Sqlite(join(seeded.dataDir, 'souk.db'), { strict: true })
  const variantIds = db.query<{ id: string }, []>('select id from variants order by id limit 1000').all()
  db.close()
  const { deps, close } = await openInstance({ config: parseConfig({ ...benchSettings(seeded.dataDir), ...settings }), as: 'command' })
  const shop = await readShop(deps, seeded.shopId)
  await setAgentSettings(deps, { shop: contextOf(shop), actor: system }, { enabled: true, access: 'OPEN', policies: [] })
  await close()
  return { ...seeded, variantIds: variantIds.map(({ id }) => id) }
}

const json = { 'content-type': 'application/json' }
const agentOf = (profile: string) => ({ 'ucp-agent': `profile="${profile}"` })
const endpoint = '/ucp/bench'

export async function measureAgents(): Promise<void> {
  print('agents')
  const shop = await shopForAgents()
  const key = newSigningKey((count) => crypto.getRandomValues(new Uint8Array(count)))
  const served = servePlatforms(key)
  const souk = await start('souk.ts', shop.dataDir, 'FULL', JSON.stringify(settings))
  for (const profile of served.urls) await search(souk.url, profile)
  const [profile = ''] = served.urls
  await measureReads(souk, shop, profile)
  await measureProof(souk, served, key)
  await measureStrangers(souk, shop, served)
  await souk.stop()
  await measureCheckouts(shop, profile)
  served.stop()
}

const searchBody = JSON.stringify({ query: 'shirt', pagination: { limit: 20 } })

/** Searches once, so that the profile is cached. */
async function search(url: string, profile: string): Promise<void> {
  const answer = await fetch(`${url}${endpoint}/catalog/search`, {
    method: 'POST',
    headers: { ...json, ...agentOf(profile) },
    body: searchBody,
  })
  const { products: results = [] } = (await answer.json()) as { products?: unknown[] }
  if (results.length !== 20) throw new Error(`a search answered ${answer.status} with ${results.length} products`)
}

/** Measures requests of agents against others to the same server. */
async function compare(souk: Child, what: string, target: string, agents: Requests, others: Requests): Promise<void> {
  report(what, target, await measureInTurn(souk, souk, { souk: { clients, ...agents }, floor: { clients, ...others } }))
}

async function measureReads(souk: Child, shop: Shop, profile: string): Promise<void> {
  const agent = { ...json, ...agentOf(profile) }
  const { sessions, carts } = await recordsAt(souk.url, shop, profile)
  const searching: Requests = { method: 'POST', paths: [`${endpoint}/catalog/search`], headers: agent, body: searchBody }
  const listing = `/product-v2/public/shop/${shop.shopName}?q=shirt&limit=20`
  await compare(souk, 'search (floor: the public listing of the same 20 products)', '≥ 0.70', searching, { paths: [listing] })
  const sessionReads: Requests = { paths: sessions.map((id) => `${endpoint}/checkout-sessions/${id}`), headers: agent }
  const cartsRead: Requests = { paths: carts.map((id) => `/cart/${id}`), headers: { 'x-service-api-key': shop.publishableKey } }
  await compare(souk, 'session by id (floor: cart by id)', '≥ 0.70', sessionReads, cartsRead)
  const resolver: Requests = { paths: [`/checkout/${shop.shopName}/payment-intent-resolver`] }
  await compare(souk, 'profile (floor: the resolver)', '≥ 0.90', { paths: ['/.well-known/ucp'] }, resolver)
  const tool = (name: string, args: object): Requests => ({
    method: 'POST',
    paths: [`${endpoint}/mcp`],
    headers: agent,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  const meta = { 'ucp-agent': { profile } }
  const searchTool = tool('search_catalog', { meta, catalog: JSON.parse(searchBody) })
  await compare(souk, 'search over MCP (floor: over REST)', '≥ 0.80', searchTool, searching)
  const [id = ''] = sessions
  const one = { ...sessionReads, paths: [`${endpoint}/checkout-sessions/${id}`] }
  await compare(souk, 'session over MCP (floor: over REST)', '≥ 0.80', tool('get_checkout', { meta, id }), one)
}

/** Sessions of a platform and carts of shoppers with the same three lines. */
async function recordsAt(url: string, { publishableKey, variantIds }: Shop, profile: string) {
  const lines = variantIds.slice(0, 3).map((id) => ({ item: { id }, quantity: 1 }))
  let requestCount = 0
  const create = async (path: string, body: unknown, headers: Record<string, string>): Promise<string> => {
    const from = `10.0.${requestCount >> 6}.${requestCount++ & 63}`
    return (await callerOf(url)('POST', path, body, { 'x-forwarded-for': from, ...headers })).id
  }
  const sessions: string[] = []
  const carts: string[] = []
  for (let nth = 0; nth < records; nth++) {
    const email = `shopper${nth}@example.com`
    const agent = { ...agentOf(profile), 'idempotency-key': randomUUID() }
    sessions.push(await create(`${endpoint}/checkout-sessions`, { line_items: lines, buyer: { email } }, agent))
    const key = { 'x-service-api-key': publishableKey }
    const cart = await create('/cart', { email }, key)
    for (const { item, quantity } of lines) await create(`/cart/${cart}/items`, { variantId: item.id, quantity }, key)
    carts.push(cart)
  }
  return { sessions, carts }
}

/** Signed searches against the same in OPEN, by platforms in turn, and one verification. */
async function measureProof(souk: Child, { urls }: Platforms, key: Key): Promise<void> {
  const path = `${endpoint}/catalog/search`
  const signer = { kid: key.kid, privateKey: openSigningKey(key.privateKey) }
  const url = new URL(publicUrl + path)
  const created = Math.floor(Date.now() / 1_000)
  const signed = urls.map((profile) =>
    signMessage({ method: 'POST', url, headers: { ...json, ...agentOf(profile) }, body: searchBody }, signer, created),
  )
  const paths = urls.map(() => path)
  const open = urls.map((profile) => ({ ...json, ...agentOf(profile) }))
  const requests = (each: Requests['each'] & object): Requests => ({ method: 'POST', paths, each, body: searchBody })
  await compare(souk, 'signed search (floor: the same in OPEN)', '≥ 0.50', requests(signed), requests(open))

  const [headers = {}] = signed
  const message: HttpMessage = { method: 'POST', url, headers: new Headers(headers) }
  const publicKey = createPublicKey({ key: key.publicKey, format: 'jwk' })
  const times: number[] = []
  for (let nth = 0; nth < 2_000; nth++) {
    const startedAt = performance.now()
    const [signature] = signaturesOf(headers['signature-input'] ?? '', headers['signature'] ?? '') ?? []
    if (!signature || !verifySignature(signature, message, publicKey)) throw new Error('a signature does not verify')
    times.push(performance.now() - startedAt)
  }
  reportSingle('parsing and verifying a signature', `${figure(median(times), 3)} ms`, '≤ 0.3 ms')
}

/** Measures requests that each name another profile: fetches, memory, and the effect on other clients. */
async function measureStrangers(souk: Child, shop: Shop, { urls, strangersUrl, fetches }: Platforms): Promise<void> {
  const before = residentMb(souk.pid)
  const fetchedBefore = fetches()
  const startedAt = performance.now()
  await begin(souk.url, strangersUrl, { count: strangers, perSecond: 0 })
  const minutes = (performance.now() - startedAt) / 60_000
  const budget = 30 * Math.ceil(minutes + 1)
  const fetched = `${figure(fetches() - fetchedBefore)} in ${figure(minutes, 1)} minutes`
  reportSingle(`fetches for ${figure(strangers)} new profiles of strangers`, fetched, `≤ ${budget}`)
  const memory = `${figure(before)} MB before, ${figure(residentMb(souk.pid))} MB after`
  reportSingle('resident memory, the same', memory, 'bounded: 1,000 profiles and 1,000 failures')

  const agent = { ...json, ...agentOf(urls[1] ?? '') }
  const cached: Requests = { method: 'POST', paths: [`${endpoint}/catalog/search`], headers: agent, body: searchBody, clients }
  const shoppers: Requests = { paths: shop.ids.map((id) => `/product-v2/public/${id}`) }
  const withStrangers = `${strangersPerSecond} strangers a second`
  await measureWithStrangers(souk, strangersUrl, {
    what: `search by a cached platform, beside ${withStrangers}`,
    target: '≥ 0.90',
    requests: cached,
  })
  await measureWithStrangers(souk, strangersUrl, { what: `product by id, beside ${withStrangers}`, target: '≥ 0.95', requests: shoppers })
}

type Comparison = { what: string; target: string; requests: Requests }

/**
 * Measures requests while strangers name a new profile with every request, against the same number of requests that
 * name the profile of one platform: the difference is what new profiles cost.
 */
async function measureWithStrangers(souk: Child, strangersUrl: string, { what, target, requests }: Comparison): Promise<void> {
  const loads: { withStrangers: Load[]; alone: Load[] } = { withStrangers: [], alone: [] }
  const measure = async (isNew: boolean): Promise<Load> => {
    const count = (readLoad.seconds + 2) * strangersPerSecond
    const others = begin(souk.url, strangersUrl, { count, perSecond: strangersPerSecond, isNew })
    await Bun.sleep(500)
    const measured = await load(souk.url, requests, { ...readLoad, connections: 8 })
    await others
    return measured
  }
  for (let round = 0; round < rounds; round++) {
    loads.alone.push(await measure(false))
    loads.withStrangers.push(await measure(true))
  }
  report(what, target, { souk: loads.withStrangers, floor: loads.alone })
}

type Strangers = { count: number; perSecond: number; isNew?: boolean }

/** Starts the strangers, and resolves when all of their requests are answered. */
async function begin(url: string, strangersUrl: string, strangersOptions: Strangers): Promise<void> {
  const input = JSON.stringify({ url: `${url}${endpoint}/catalog/search`, strangersUrl, ...strangersOptions })
  const child = Bun.spawn(['bun', join(import.meta.dir, 'strangers.ts'), input], { cwd: root, stdout: 'ignore', stderr: 'inherit' })
  children.add(child)
  const code = await child.exited
  children.delete(child)
  if (code !== 0) throw new Error('the strangers broke off')
}

/** Create, PUT and complete against the three calls of a shopper, in turn. */
async function measureCheckouts({ dataDir, shopId, shopName, publishableKey, variantIds }: Shop, profile: string): Promise<void> {
  const shops = [{ shopId, shopName, publishableKey, variantIds }]
  const input: Buying = { dataDir, shops, callers, seconds: quick ? 3 : 10, processor: 'sandbox', synchronous: 'FULL', settings }
  const agents: BuyingResult[] = []
  const shoppers: BuyingResult[] = []
  for (let round = 0; round < (quick ? 2 : 3); round++) {
    shoppers.push(await runBuyers('buying.ts', input))
    agents.push(await runBuyers('buying.ts', { ...input, profile }))
  }
  // The ratio compares times, which are the inverse of rates.
  const ratios = agents.map((one, at) => (shoppers[at]?.perSecond ?? 0) / one.perSecond)
  const text = (all: readonly BuyingResult[]) => {
    const of = (part: keyof Omit<BuyingResult, 'errors'>, digits = 0) => figure(median(all.map((one) => one[part])), digits)
    return `${of('perSecond')}/s p50 ${of('p50Ms')} ms, ${of('cpuMsEach', 1)} ms of processor, ${of('writesEach', 1)} writes, ${of('refused')} × 503`
  }
  const what = `create, PUT and complete, ${callers} callers (floor: cart, item, checkout), time`
  reportRatios({ what, souk: text(agents), floor: text(shoppers), target: '≤ 1.3' }, ratios)
}
