/** The catalog: start-up, durable writes, logins, and reads of small and large shops against the floor. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from './load.ts'
import {
  type Child,
  figure,
  inTurn,
  median,
  only,
  quick,
  reading,
  report,
  residentMb,
  root,
  rounds,
  rows,
  say,
  start,
  work,
} from './runs.ts'
import { benchSettings, type Seeded, seed } from './seed.ts'

const largeShop = quick ? 20_000 : 1_000_000
const smallShop = 1_000
const writers = 64

/** One write a second to `url` until stopped, as a shop has them while it is read. */
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

async function reads(shop: Seeded, label: string): Promise<{ byId: number; page: number }> {
  const floor = await start('floor.ts', join(shop.dataDir, 'souk.db'), shop.shopId)
  const souk = await start('souk.ts', shop.dataDir)
  const stopWriting = writeEverySecond(souk.url, shop.secretKey)
  const paths = shop.ids.map((id) => `/product-v2/public/${id}`)
  const byId = report(`product by id, ${label}`, '≥ 0.85', await inTurn(souk, floor, { souk: { paths }, floor: { paths } }))
  const parsed = shop.ids.map((id) => `/parsed/${id}`)
  report(
    `product by id, ${label}, floor by Response.json`,
    '≥ 0.85',
    await inTurn(souk, floor, { souk: { paths }, floor: { paths: parsed } }),
  )
  const pages = Array.from({ length: 50 }, (_, at) => `/product-v2/public/shop/${shop.shopName}?page=${at + 1}`)
  const page = report(
    `page of 20 with total, ${label}`,
    '≥ 0.80',
    await inTurn(souk, floor, { souk: { paths: pages }, floor: { paths: pages } }),
  )
  await notModified(souk, floor, shop, label)
  rows.push({
    what: `resident memory under load, ${label}`,
    souk: `${figure(residentMb(souk.pid))} MB`,
    floor: `${figure(residentMb(floor.pid))} MB`,
    ratio: `+${figure(residentMb(souk.pid) - residentMb(floor.pid))} MB`,
    spread: '',
    target: '≤ +96 MB',
  })
  await stopWriting()
  await latencies(souk, shop, label)
  await floor.stop()
  await souk.stop()
  return { byId, page }
}

/** Everybody asks for one of the ids with the ETag that they hold. */
async function notModified(souk: Child, floor: Child, shop: Seeded, label: string): Promise<void> {
  const paths = shop.ids.map((id) => `/product-v2/public/${id}`)
  const etags: string[] = []
  for (const path of paths) etags.push((await fetch(souk.url + path, { method: 'HEAD' })).headers.get('etag') ?? '')
  report(
    `304, ${label}`,
    '≥ 0.85',
    await inTurn(souk, floor, { souk: { paths, etags }, floor: { paths: shop.ids.map((id) => `/smallest/${id}`), etags } }),
  )
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

const queries = [
  'red',
  'shirt',
  'red shirt',
  'linen',
  'blue cotton lamp',
  'word17',
  'care people made',
  'ivory oak vase',
  'harbour',
  'red blue',
]

async function latencies({ url }: Child, shop: Seeded, label: string): Promise<void> {
  const list = `/product-v2/public/shop/${shop.shopName}`
  const last = Math.floor((shop.ids.length < 10_000 ? smallShop : largeShop) / 20)
  for (const sort of ['newest', 'title', 'price']) {
    // Other limits are other answers: none of these comes from memory.
    const at = (page: number) => Array.from({ length: 11 }, (_, nth) => `${list}?sort=${sort}&page=${page}&limit=${20 - nth}`)
    const [first, deep] = [await latencyOf(url, at(1)), await latencyOf(url, at(last))]
    only(
      `page ${figure(last)} by ${sort}, ${label}`,
      `first ${figure(first, 2)} ms, deep ${figure(deep, 2)} ms (${deep >= first ? '+' : ''}${figure(deep - first, 2)} ms)`,
      '≤ +1 ms',
    )
  }
  const times = []
  for (const q of queries)
    times.push(
      await latencyOf(
        url,
        Array.from({ length: 11 }, (_, nth) => `${list}?q=${encodeURIComponent(q)}&limit=${10 + nth}`),
      ),
    )
  const worst = Math.max(...times)
  only(`search, worst of ten queries, ${label}`, `${figure(worst, 2)} ms ("${queries[times.indexOf(worst)]}")`, '< 20 ms')
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
      const body = JSON.stringify({
        title: 'Product {n}',
        handle: 'p-{n}',
        status: 'ACTIVE',
        variants: [{ price: { amount: 1_000, currency: 'USD' }, sku: 'S-{n}', onHand: 3 }],
      })
      const { perSecond, errors } = await load(
        souk.url,
        {
          method: 'POST',
          paths: ['/product-v2'],
          headers: { 'content-type': 'application/json', 'x-service-api-key': shop.secretKey },
          body,
        },
        { ...reading, connections: writers },
      )
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
  only('commits a write', commitsPerWrite.toFixed(3), '≤ 0.15')
}

/** How reads fare while people log in. */
async function logins(dir: string): Promise<void> {
  const shop = await seed(dir, smallShop)
  const souk = await start('souk.ts', shop.dataDir)
  const paths = shop.ids.map((id) => `/product-v2/public/${id}`)
  const calm = await load(souk.url, { paths }, { seconds: reading.seconds, connections: 4 })
  const body = JSON.stringify({ email: shop.email, password: shop.password })
  const [login, busy] = await Promise.all([
    load(
      souk.url,
      { method: 'POST', paths: ['/merchant/login'], headers: { 'content-type': 'application/json' }, body },
      { seconds: reading.seconds, connections: 8 },
    ),
    load(souk.url, { paths }, { seconds: reading.seconds, connections: 4 }),
  ])
  only(
    'logins, 8 callers, argon2id 19 MiB t=2',
    `${figure(login.perSecond, 1)}/s${login.errors > 0 ? ` (${login.errors} errors)` : ''}`,
    '',
  )
  only(
    'reads meanwhile (4 callers)',
    `p50 ${figure(busy.p50Ms, 2)} ms, p99 ${figure(busy.p99Ms, 2)} ms; alone p50 ${figure(calm.p50Ms, 2)} ms, p99 ${figure(calm.p99Ms, 2)} ms`,
    'undisturbed',
  )
  await souk.stop()
}

/** From the start of the process to the first 200, on a database that is there. */
async function startUp(dir: string): Promise<void> {
  await seed(dir, smallShop)
  const binary = join(work, 'souk')
  const scripts = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts
  const build = (scripts['build'] ?? '').replace(/^.*?&& /, '').replace(/--outfile \S+/, `--outfile ${binary}`)
  const built = Bun.spawnSync(['sh', '-c', build], { cwd: root, stdout: 'ignore', stderr: 'inherit' })
  if (built.exitCode !== 0) throw new Error('the binary was not built')
  const times: number[] = []
  for (let round = 0; round < 7; round++) {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    const startedAt = performance.now()
    const child = Bun.spawn([binary, 'serve'], {
      cwd: work,
      env: { ...Bun.env, ...benchSettings(dir), PORT: String(port) },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    for (let tries = 0; tries < 2_000; tries++) {
      const ok = await fetch(`http://127.0.0.1:${port}/health/ready`)
        .then(({ status }) => status === 200)
        .catch(() => false)
      if (ok) break
      await Bun.sleep(2)
    }
    times.push(performance.now() - startedAt)
    child.kill('SIGTERM')
    await child.exited
  }
  only(
    'start of the binary to the first 200',
    `${figure(median(times))} ms (${figure(Math.min(...times))}–${figure(Math.max(...times))})`,
    '< 200 ms',
  )
}

/** All of it. */
export async function measureCatalog(): Promise<void> {
  say('start-up')
  await startUp(join(work, 'start'))
  say('durable writes')
  await durableWrites(join(work, 'writes'))
  say('logins')
  await logins(join(work, 'logins'))
  say(`reads at ${figure(smallShop)} products`)
  const small = await reads(await seed(join(work, 'small'), smallShop), figure(smallShop))
  say(`reads at ${figure(largeShop)} products (seeding takes a while)`)
  const large = await reads(await seed(join(work, 'large'), largeShop), figure(largeShop))
  only(`product by id, ${figure(largeShop)} to ${figure(smallShop)} products`, (large.byId / small.byId).toFixed(2), '≥ 0.67')
  only(`page of 20, ${figure(largeShop)} to ${figure(smallShop)} products`, (large.page / small.page).toFixed(2), '≥ 0.67')
}
