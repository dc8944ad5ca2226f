/** Measures the catalog: durable writes, logins, and reads of small and large shops against the floor. */
import { join } from 'node:path'
import { load } from './load.ts'
import {
  type Child,
  figure,
  latencyText,
  measureInTurn,
  median,
  print,
  quick,
  readLoad,
  report,
  reportMemory,
  reportSingle,
  rounds,
  rows,
  start,
  work,
} from './runs.ts'
import { type Seeded, seed } from './seed.ts'

const largeShop = quick ? 20_000 : 1_000_000
const smallShop = 1_000
const writers = 64

/** Writes once a second to `url` until stopped, as a shop does while it is read. */
function writeEverySecond(url: string, key: string): () => Promise<void> {
  let stopped = false
  const loop = (async () => {
    for (let nth = 0; !stopped; nth++) {
      await fetch(`${url}/product-v2`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-api-key': key },
        body: JSON.stringify({ title: `Written meanwhile ${nth}`, status: 'ACTIVE' }),
      })
      await Bun.sleep(1_000)
    }
  })()
  return async () => {
    stopped = true
    await loop
  }
}

async function measureReads(shop: Seeded, label: string): Promise<{ byId: number; page: number }> {
  const floor = await start('floor.ts', join(shop.dataDir, 'souk.db'), shop.shopId)
  const souk = await start('souk.ts', shop.dataDir)
  const stopWriting = writeEverySecond(souk.url, shop.secretKey)
  const paths = shop.ids.map((id) => `/product-v2/public/${id}`)
  const byId = report(`product by id, ${label}`, '≥ 0.85', await measureInTurn(souk, floor, { souk: { paths }, floor: { paths } }))
  const parsed = await measureInTurn(souk, floor, { souk: { paths }, floor: { paths: shop.ids.map((id) => `/parsed/${id}`) } })
  report(`product by id, ${label}, floor by Response.json`, '≥ 0.85', parsed)
  const pages = Array.from({ length: 50 }, (_, at) => `/product-v2/public/shop/${shop.shopName}?page=${at + 1}`)
  const paged = await measureInTurn(souk, floor, { souk: { paths: pages }, floor: { paths: pages } })
  const page = report(`page of 20 with total, ${label}`, '≥ 0.80', paged)
  await measureNotModified(souk, floor, shop, label)
  reportMemory(label, '≤ +96 MB', souk, floor)
  await stopWriting()
  await measureLatencies(souk, shop, label)
  await floor.stop()
  await souk.stop()
  return { byId, page }
}

/** Measures requests of ids with their ETags. */
async function measureNotModified(souk: Child, floor: Child, shop: Seeded, label: string): Promise<void> {
  const paths = shop.ids.map((id) => `/product-v2/public/${id}`)
  const etags: string[] = []
  for (const path of paths) etags.push((await fetch(souk.url + path, { method: 'HEAD' })).headers.get('etag') ?? '')
  const smallest = shop.ids.map((id) => `/smallest/${id}`)
  report(`304, ${label}`, '≥ 0.85', await measureInTurn(souk, floor, { souk: { paths, etags }, floor: { paths: smallest, etags } }))
}

async function latencyOf(url: string, paths: readonly string[]): Promise<number> {
  const times: number[] = []
  for (const path of paths) {
    const startedAt = performance.now()
    await (await fetch(url + path)).arrayBuffer()
    times.push(performance.now() - startedAt)
  }
  return median(times)
}

const queries = 'red, shirt, red shirt, linen, blue cotton lamp, word17, care people made, ivory oak vase, harbour, red blue'.split(', ')
/** Searches whose last word is a prefix of many words or products. */
const prefixes = 'r, sh, s, w, word1, sku, 1, red sh, linen s, care people m, blue cotton la, red blu'.split(', ')

async function measureLatencies({ url }: Child, shop: Seeded, label: string): Promise<void> {
  const list = `/product-v2/public/shop/${shop.shopName}`
  const last = Math.floor((shop.ids.length < 10_000 ? smallShop : largeShop) / 20)
  for (const sort of ['newest', 'title', 'price']) {
    // Each request has another limit, so no cache answers.
    const at = (page: number) => Array.from({ length: 11 }, (_, nth) => `${list}?sort=${sort}&page=${page}&limit=${20 - nth}`)
    const [first, deep] = [await latencyOf(url, at(1)), await latencyOf(url, at(last))]
    reportSingle(
      `page ${figure(last)} by ${sort}, ${label}`,
      `first ${figure(first, 2)} ms, deep ${figure(deep, 2)} ms (${deep >= first ? '+' : ''}${figure(deep - first, 2)} ms)`,
      '≤ +1 ms',
    )
  }
  for (const [what, searches] of [
    ['queries', queries],
    ['beginnings', prefixes],
  ] as const) {
    const times = []
    for (const q of searches) {
      const paths = Array.from({ length: 11 }, (_, nth) => `${list}?q=${encodeURIComponent(q)}&limit=${10 + nth}`)
      times.push(await latencyOf(url, paths))
    }
    const worst = Math.max(...times)
    reportSingle(
      `search, worst of ${searches.length} ${what}, ${label}`,
      `${figure(worst, 2)} ms ("${searches[times.indexOf(worst)]}")`,
      '< 20 ms',
    )
  }
}

async function commitsAndWrites(url: string): Promise<{ writes: number; commits: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const value = (name: string) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
  return { writes: value('souk_database_writes_total'), commits: value('souk_database_commits_total') }
}

async function durableWrites(dir: string): Promise<void> {
  const rates = { FULL: [] as number[], OFF: [] as number[] }
  let commitsPerWrite = 0
  const shop = await seed(dir, smallShop)
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    for (const synchronous of ['OFF', 'FULL'] as const) {
      const souk = await start('souk.ts', shop.dataDir, synchronous)
      const before = await commitsAndWrites(souk.url)
      const variants = [{ price: { amount: 1_000, currency: 'USD' }, sku: 'S-{n}', onHand: 3 }]
      const body = JSON.stringify({ title: 'Product {n}', handle: 'p-{n}', status: 'ACTIVE', variants })
      const headers = { 'content-type': 'application/json', 'x-service-api-key': shop.secretKey }
      const creating = { method: 'POST', paths: ['/product-v2'], headers, body } as const
      const { perSecond, errors } = await load(souk.url, creating, { ...readLoad, connections: writers })
      if (errors > 0) throw new Error(`${errors} writes were refused`)
      const after = await commitsAndWrites(souk.url)
      if (synchronous === 'FULL') commitsPerWrite = (after.commits - before.commits) / (after.writes - before.writes)
      rates[synchronous].push(perSecond)
      await souk.stop()
    }
  }
  const ratio = median(rates.FULL) / median(rates.OFF)
  rows.push({
    what: `create a product, ${writers} callers, durable`,
    souk: `${figure(median(rates.FULL))}/s`,
    floor: `synchronous=OFF ${figure(median(rates.OFF))}/s`,
    ratio: ratio.toFixed(2),
    spread: '',
    target: '≥ 0.50',
  })
  reportSingle('commits a write', commitsPerWrite.toFixed(3), '≤ 0.15')
}

/** Measures reads during logins. */
async function measureLogins(dir: string): Promise<void> {
  const shop = await seed(dir, smallShop)
  const souk = await start('souk.ts', shop.dataDir)
  const paths = shop.ids.map((id) => `/product-v2/public/${id}`)
  const read = () => load(souk.url, { paths }, { ...readLoad, connections: 4 })
  const calm = await read()
  const body = JSON.stringify({ email: shop.email, password: shop.password })
  const loggingIn = { method: 'POST', paths: ['/merchant/login'], headers: { 'content-type': 'application/json' }, body } as const
  const [login, busy] = await Promise.all([load(souk.url, loggingIn, { ...readLoad, connections: 8 }), read()])
  const errors = login.errors > 0 ? ` (${login.errors} errors)` : ''
  reportSingle('logins, 8 callers, argon2id 19 MiB t=2', `${figure(login.perSecond, 1)}/s${errors}`, '')
  reportSingle('reads meanwhile (4 callers)', `${latencyText([busy])}; alone ${latencyText([calm])}`, 'undisturbed')
  await souk.stop()
}

/** Runs all parts. */
export async function measureCatalog(): Promise<void> {
  print('durable writes')
  await durableWrites(join(work, 'writes'))
  print('logins')
  await measureLogins(join(work, 'logins'))
  print(`reads at ${figure(smallShop)} products`)
  const small = await measureReads(await seed(join(work, 'small'), smallShop), figure(smallShop))
  print(`reads at ${figure(largeShop)} products (seeding takes a while)`)
  const large = await measureReads(await seed(join(work, 'large'), largeShop), figure(largeShop))
  reportSingle(`product by id, ${figure(largeShop)} to ${figure(smallShop)} products`, (large.byId / small.byId).toFixed(2), '≥ 0.67')
  reportSingle(`page of 20, ${figure(largeShop)} to ${figure(smallShop)} products`, (large.page / small.page).toFixed(2), '≥ 0.67')
}
