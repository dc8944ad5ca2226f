/** A shop's orders told whole, over HTTP and by `souk export`: how fast, by how much the process grows, and what it leaves of product reads beside. */
import { join } from 'node:path'
import { type Load, load, type Requests } from './load.ts'
import { type Child, figure, median, only, quick, reading, residentMb, root, rounds, rows, say, spreadOf, start, work } from './runs.ts'
import { benchSettings, type Seeded, seed } from './seed.ts'
import { seedOrders } from './seed-orders.ts'

const products = 1_000
const orders = quick ? 100_000 : 1_000_000
const lookEveryMs = 20

/** The most that a process has in memory while something is done, in MB. */
async function peakWhile<T>(pid: number, work: Promise<T>): Promise<[peak: number, T]> {
  let peak = residentMb(pid)
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMb(pid))
  }, lookEveryMs)
  try {
    const done = await work
    return [peak, done]
  } finally {
    clearInterval(timer)
  }
}

/** Reads a whole export and keeps nothing of it; how many bytes it was. */
async function exported({ url }: Child, { secretKey }: Seeded, signal?: AbortSignal): Promise<number> {
  const headers = { accept: 'text/csv', 'x-service-api-key': secretKey }
  const answer = await fetch(`${url}/v2/orders`, { headers, ...(signal ? { signal } : {}) })
  if (answer.status !== 200 || !answer.body) throw new Error(`the export answered ${answer.status} ${await answer.text()}`)
  let bytes = 0
  for await (const chunk of answer.body) bytes += chunk.length
  return bytes
}

/** Exports one after the other until it is stopped. */
async function exporting(server: Child, shop: Seeded, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    await exported(server, shop, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
}

/** The same by the command, which reads the database beside the server. */
async function commanding({ dataDir, shopName }: Seeded, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const child = command(dataDir, shopName)
    const stop = () => child.kill('SIGKILL')
    signal.addEventListener('abort', stop, { once: true })
    await child.exited
    signal.removeEventListener('abort', stop)
  }
}

const command = (dataDir: string, shopName: string) =>
  Bun.spawn(['bun', join(root, 'src', 'main.ts'), 'export', 'orders', '-', '--shop', shopName], {
    env: { ...Bun.env, ...benchSettings(dataDir) },
    stdout: Bun.file('/dev/null'),
    stderr: 'inherit',
  })

/** Rates of product reads with something beside and without, in turn. */
async function beside(
  server: Child,
  requests: Requests,
  begin: (signal: AbortSignal) => Promise<void>,
): Promise<{ quiet: Load[]; busy: Load[] }> {
  const [quiet, busy]: [Load[], Load[]] = [[], []]
  await load(server.url, requests, { ...reading, seconds: 1 })
  for (let round = 0; round < rounds; round++) {
    quiet.push(await load(server.url, requests, reading))
    const stop = new AbortController()
    const work = begin(stop.signal)
    await Bun.sleep(500)
    busy.push(await load(server.url, requests, reading))
    stop.abort()
    await work
  }
  return { quiet, busy }
}

function tell(what: string, { quiet, busy }: { quiet: Load[]; busy: Load[] }): void {
  const ratios = busy.map((one, at) => one.perSecond / (quiet[at]?.perSecond ?? 1))
  const errors = [...busy, ...quiet].reduce((sum, one) => sum + one.errors, 0)
  const rate = (loads: Load[]) =>
    `${figure(median(loads.map(({ perSecond }) => perSecond)))}/s p99 ${figure(median(loads.map(({ p99Ms }) => p99Ms)), 2)} ms`
  const ratio = `${median(ratios).toFixed(2)}${errors > 0 ? ` (${errors} errors)` : ''}`
  rows.push({ what, souk: rate(busy), floor: rate(quiet), ratio, spread: spreadOf(ratios), target: '≥ 0.8' })
}

export async function measureExport(): Promise<void> {
  say(`an export of ${orders.toLocaleString('en-US')} orders, and product reads beside`)
  const shop = await seed(join(work, 'export'), products)
  seedOrders(shop, orders)
  const server = await start('souk.ts', shop.dataDir)
  await load(server.url, { paths: shop.ids.map((id) => `/product-v2/public/${id}`) }, { ...reading, seconds: 1 })
  const before = residentMb(server.pid)
  const startedAt = performance.now()
  const [peak, bytes] = await peakWhile(server.pid, exported(server, shop))
  const seconds = (performance.now() - startedAt) / 1_000
  const told = figure(orders)
  only(
    `export of ${told} orders over HTTP, alone`,
    `${figure(orders / seconds)} orders/s, ${figure(bytes / 1e6)} MB in ${figure(seconds, 1)} s`,
    '',
  )
  only(
    `resident memory before it, at most, and after`,
    `${figure(before)} MB, ${figure(peak)} MB, ${figure(residentMb(server.pid))} MB`,
    'bounded',
  )
  const child = command(shop.dataDir, shop.shopName)
  const commandStartedAt = performance.now()
  const [commandPeak] = await peakWhile(child.pid, child.exited)
  const commandSeconds = (performance.now() - commandStartedAt) / 1_000
  only(`souk export of ${told} orders`, `${figure(orders / commandSeconds)} orders/s, at most ${figure(commandPeak)} MB`, 'bounded')
  const requests: Requests = { paths: shop.ids.map((id) => `/product-v2/public/${id}`) }
  tell('product reads by id beside an export (floor: without)', await beside(server, requests, (signal) => exporting(server, shop, signal)))
  tell('product reads by id beside souk export (floor: without)', await beside(server, requests, (signal) => commanding(shop, signal)))
  await server.stop()
}
