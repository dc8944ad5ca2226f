/**
 * Measures complete exports of a shop's orders over HTTP and by `souk export`: rate, memory, and the remaining product
 * reads.
 */
import { join } from 'node:path'
import { type Load, load, type Requests } from './load.ts'
import {
  type Child,
  figure,
  type Pair,
  print,
  quick,
  readLoad,
  report,
  reportSingle,
  residentMb,
  root,
  rounds,
  start,
  work,
} from './runs.ts'
import { benchSettings, type Seeded, seed } from './seed.ts'
import { seedOrders } from './seed-orders.ts'

const products = 1_000
const orders = quick ? 100_000 : 1_000_000
const sampleEveryMs = 20

/** Returns the peak memory of a process during work, in MB. */
async function peakWhile<T>(pid: number, work: Promise<T>): Promise<[peak: number, T]> {
  let peak = residentMb(pid)
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMb(pid))
  }, sampleEveryMs)
  try {
    const result = await work
    return [peak, result]
  } finally {
    clearInterval(timer)
  }
}

/** Reads an export without storing it. Returns the number of bytes. */
async function exportOnce({ url }: Child, { secretKey }: Seeded, signal?: AbortSignal): Promise<number> {
  const headers = { accept: 'text/csv', 'x-service-api-key': secretKey }
  const answer = await fetch(`${url}/v2/orders`, { headers, ...(signal ? { signal } : {}) })
  if (answer.status !== 200 || !answer.body) throw new Error(`the export answered ${answer.status} ${await answer.text()}`)
  let bytes = 0
  for await (const chunk of answer.body) bytes += chunk.length
  return bytes
}

/** Exports repeatedly until stopped. */
async function exportRepeatedly(server: Child, shop: Seeded, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    await exportOnce(server, shop, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
}

/** Exports by the command, which reads the database next to the server. */
async function runCommandRepeatedly({ dataDir, shopName }: Seeded, signal: AbortSignal): Promise<void> {
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

/** Rates of product reads with and without other work, in turn. */
async function measureDuring(server: Child, requests: Requests, begin: (signal: AbortSignal) => Promise<void>): Promise<Pair> {
  const [quiet, busy]: [Load[], Load[]] = [[], []]
  await load(server.url, requests, { ...readLoad, seconds: 1 })
  for (let round = 0; round < rounds; round++) {
    quiet.push(await load(server.url, requests, readLoad))
    const stop = new AbortController()
    const work = begin(stop.signal)
    await Bun.sleep(500)
    busy.push(await load(server.url, requests, readLoad))
    stop.abort()
    await work
  }
  return { souk: busy, floor: quiet }
}

export async function measureExport(): Promise<void> {
  print(`an export of ${orders.toLocaleString('en-US')} orders, and product reads beside`)
  const shop = await seed(join(work, 'export'), products)
  seedOrders(shop, orders)
  const server = await start('souk.ts', shop.dataDir)
  await load(server.url, { paths: shop.ids.map((id) => `/product-v2/public/${id}`) }, { ...readLoad, seconds: 1 })
  const before = residentMb(server.pid)
  const startedAt = performance.now()
  const [peak, bytes] = await peakWhile(server.pid, exportOnce(server, shop))
  const seconds = (performance.now() - startedAt) / 1_000
  const count = figure(orders)
  reportSingle(
    `export of ${count} orders over HTTP, alone`,
    `${figure(orders / seconds)} orders/s, ${figure(bytes / 1e6)} MB in ${figure(seconds, 1)} s`,
    '',
  )
  reportSingle(
    `resident memory before it, at most, and after`,
    `${figure(before)} MB, ${figure(peak)} MB, ${figure(residentMb(server.pid))} MB`,
    'bounded',
  )
  const child = command(shop.dataDir, shop.shopName)
  const commandStartedAt = performance.now()
  const [commandPeak] = await peakWhile(child.pid, child.exited)
  const commandSeconds = (performance.now() - commandStartedAt) / 1_000
  reportSingle(
    `souk export of ${count} orders`,
    `${figure(orders / commandSeconds)} orders/s, at most ${figure(commandPeak)} MB`,
    'bounded',
  )
  const requests: Requests = { paths: shop.ids.map((id) => `/product-v2/public/${id}`) }
  report(
    'product reads by id beside an export (floor: without)',
    '≥ 0.8',
    await measureDuring(server, requests, (signal) => exportRepeatedly(server, shop, signal)),
  )
  report(
    'product reads by id beside souk export (floor: without)',
    '≥ 0.8',
    await measureDuring(server, requests, (signal) => runCommandRepeatedly(shop, signal)),
  )
  await server.stop()
}
