/**
 * Measures whether memory stops growing. Runs mixed load on a demo: reads, searches, orders, event streams, imports,
 * mails, webhooks and logins. Ends when two heap samples, ten minutes apart, differ by at most 2 %, or when time is up.
 * The table lists the growth by object type. The exit status is 1 if memory still grows.
 * `--minutes=N` sets the longest time (default 60; 6 with `--quick`, which compares samples two minutes apart).
 * `--snapshots` keeps a heap snapshot of each sample.
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { demoCustomer, demoShop } from '../src/demo/data.ts'
import { minuteMs } from '../src/lib/day.ts'
import { mailServer } from '../test/support/mail-server.ts'
import { type Demo, startDemo } from './demo.ts'
import { figure, print, quick, reportSingle, root, work } from './runs.ts'

const minutesArgument = Bun.argv.find((argument) => argument.startsWith('--minutes='))?.slice('--minutes='.length)
const minutesMax = Number(minutesArgument ?? (quick ? 6 : 60))
const apartMinutes = quick ? 2 : 10
const steadyShare = 0.02
const mb = 1024 * 1024
const streams = 28
const readersAtOnce = 4
const betweenReadsMs = 100
const betweenOrdersMs = 70
const betweenImportsMs = 20_000
const productsOfAnImport = 200
const plenty = 1_000_000

type MemorySample = {
  heapSize: number
  extraMemorySize: number
  objectCount: number
  objectTypeCounts: Record<string, number>
  rss: number
}

/** The heap probe appends its samples there. */
const probe = join(work, 'heap.jsonl')

/** Starts a demo from source with the heap probe. */
const startProbedDemo = (settings: Readonly<Record<string, string>>): Promise<Demo> =>
  startDemo([process.execPath, '--preload', join(import.meta.dir, 'heap-probe.ts'), join(root, 'src/main.ts'), 'demo'], {
    HEAP_PROBE_FILE: probe,
    ...(Bun.argv.includes('--snapshots') ? { HEAP_PROBE_SNAPSHOTS: '1' } : {}),
    ...settings,
  })

async function sampleMemory({ pid }: Demo): Promise<MemorySample> {
  const linesOf = () => (existsSync(probe) ? readFileSync(probe, 'utf8').split('\n').slice(0, -1) : [])
  const before = linesOf().length
  process.kill(pid, 'SIGUSR2')
  for (let waits = 0; waits < 600; waits++) {
    const line = linesOf()[before]
    if (line !== undefined) return JSON.parse(line) as MemorySample
    await Bun.sleep(100)
  }
  throw new Error('the heap probe gave no answer within a minute')
}

type Counts = Record<'reads' | 'orders' | 'events' | 'imports' | 'webhooks' | 'logins' | 'refused', number>

/**
 * Starts the mixed load.
 * @returns ends it and waits for every loop
 */
function startLoad(souk: Demo, counts: Counts): () => Promise<void> {
  const ending = new AbortController()
  const { signal } = ending
  const { url, publishableKey, secretKey } = souk
  const call = async (method: string, path: string, body?: object, key = publishableKey) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', 'x-service-api-key': key, 'idempotency-key': crypto.randomUUID() },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    if (!response.ok) counts.refused++
    return response.ok && text ? (JSON.parse(text) as Record<string, unknown>) : {}
  }
  /** Repeats an action with pauses until the load ends. */
  const repeat = async (pauseMs: number, action: (nth: number) => Promise<void>) => {
    for (let nth = 0; !signal.aborted; nth++) {
      await action(nth).catch(() => counts.refused++)
      await Bun.sleep(pauseMs)
    }
  }
  type Listed = { data: { id: string; handle: string; title: string; variants: { id: string }[] }[] }
  const loops: Promise<unknown>[] = []
  const begin = async () => {
    const { data } = (await call('GET', `/product-v2/public/shop/${demoShop.name}?limit=100`)) as Listed
    const variants = data.flatMap(({ id, variants: list }) => list.map((variant) => ({ id: variant.id, productId: id })))
    for (const { id, productId } of variants)
      await call('POST', `/product-v2/${productId}/variants/${id}/stock`, { delta: plenty }, secretKey)
    const at = <T>(all: readonly T[], nth: number) => all[nth % all.length] as T
    const read = async (nth: number) => {
      const product = at(data, nth * 7)
      const term = product.title.split(' ')[nth % 2] ?? ''
      await call('GET', `/product-v2/public/${product.id}`)
      await call(
        'GET',
        `/product-v2/public/shop/${demoShop.name}?q=${encodeURIComponent(term)}&page=${1 + (nth % 5)}&minPrice=${nth % 5_000}`,
      )
      await call('GET', `/v2/orders?page=${1 + (nth % 50)}`, undefined, secretKey)
      counts.reads += 3
    }
    const buy = async (nth: number) => {
      const address = { name: 'Ada Lovelace', line1: '1 Quay Street', city: 'Portland', province: 'ME', countryCode: 'US' }
      const cart = await call('POST', '/cart', { email: `shopper${nth}@example.com`, shippingAddress: address, shippingMethod: 'standard' })
      await call('POST', `/cart/${cart['id']}/items`, { variantId: at(variants, nth).id, quantity: 1 })
      const { order } = (await call('POST', `/cart/${cart['id']}/checkout`, { method: 'card', processor: 'sandbox' })) as {
        order?: { id: string }
      }
      if (!order) return
      counts.orders++
      if (nth % 5 === 0) await call('POST', `/v2/orders/${order.id}/fulfil`, {}, secretKey)
      if (nth % 11 === 0) await call('POST', `/v2/orders/${order.id}/refunds`, { all: true }, secretKey)
    }
    const importProducts = async (nth: number) => {
      const rows = Array.from(
        { length: productsOfAnImport },
        (_, at) => `soak-${(nth % 20) * productsOfAnImport + at},Soak ${nth} ${at},${at + 1}.00,active`,
      )
      const response = await fetch(`${url}/product-v2/import?overwrite=true`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv', 'x-service-api-key': secretKey },
        body: ['Handle,Title,Variant Price,Status', ...rows].join('\n'),
      })
      await response.text()
      if (response.ok) counts.imports++
    }
    const logIn = async () => {
      await call('POST', '/customer/login', { shopName: demoShop.name, email: demoCustomer.email, password: demoCustomer.password })
      counts.logins++
    }
    const listen = async () => {
      const response = await fetch(`${url}/v2/events`, { headers: { 'x-service-api-key': secretKey }, signal })
      for await (const _ of response.body ?? []) counts.events++
    }
    for (let nth = 0; nth < readersAtOnce; nth++) loops.push(repeat(betweenReadsMs, read))
    loops.push(repeat(betweenOrdersMs, buy), repeat(betweenImportsMs, importProducts), repeat(5_000, logIn))
    // Streams end occasionally, as those of browsers do, and are replaced.
    for (let nth = 0; nth < streams; nth++) loops.push(repeat(1_000, listen))
  }
  loops.push(begin())
  return async () => {
    ending.abort()
    await loops[0]
    await Promise.allSettled(loops)
  }
}

/** The object types that grew most. */
function listGrownTypes(from: MemorySample, to: MemorySample): string {
  return Object.entries(to.objectTypeCounts)
    .map(([type, count]) => [type, count - (from.objectTypeCounts[type] ?? 0)] as const)
    .sort(([, one], [, other]) => other - one)
    .slice(0, 8)
    .map(([type, more]) => `${type} ${more >= 0 ? '+' : ''}${figure(more)}`)
    .join(', ')
}

/** Runs the soak. */
export async function measureSoak(): Promise<void> {
  const counts: Counts = { reads: 0, orders: 0, events: 0, imports: 0, webhooks: 0, logins: 0, refused: 0 }
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      await request.arrayBuffer()
      counts.webhooks++
      return new Response(null, { status: 204 })
    },
  })
  await using mails = await mailServer()
  const souk = await startProbedDemo({
    STOREFRONT_WRITES_PER_MINUTE: '1000000',
    UNPAID_ORDERS_PER_ADDRESS: '1000000',
    UNPAID_ORDERS_PER_SHOP: '1000000',
    OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8',
    MAIL_TEST_SHOPS: 'true',
    SMTP_URL: mails.url,
    MAIL_FROM: 'shop@souk.example',
  })
  const endpoint = await fetch(`${souk.url}/webhook-endpoints`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': souk.secretKey },
    body: JSON.stringify({ url: `http://127.0.0.1:${receiver.port}/`, events: ['order.confirmed', 'order.refunded'] }),
  })
  if (!endpoint.ok) print(`soak: the webhook endpoint was refused: ${await endpoint.text()}`)
  const stop = startLoad(souk, counts)
  const samples: MemorySample[] = []
  let steady: { from: MemorySample; to: MemorySample; minutes: number } | undefined
  for (let minutes = 1; minutes <= minutesMax && !steady; minutes++) {
    await Bun.sleep(minuteMs)
    const to = await sampleMemory(souk)
    samples.push(to)
    const from = samples.at(-1 - apartMinutes)
    print(
      `soak: ${minutes} min: heap ${figure(to.heapSize / mb, 2)} MB, ${figure(to.objectCount)} objects, resident ${figure(to.rss / mb)} MB, ${JSON.stringify({ ...counts, mails: mails.received.length })}`,
    )
    if (from && Math.abs(to.heapSize - from.heapSize) <= steadyShare * from.heapSize) steady = { from, to, minutes }
  }
  await stop()
  await souk.stop()
  receiver.stop(true)
  const [from, to] = steady ? [steady.from, steady.to] : [samples.at(-1 - apartMinutes) ?? samples[0], samples.at(-1)]
  if (!steady) process.exitCode = 1
  if (!from || !to) return
  const sizes = (sample: MemorySample) => `${figure(sample.heapSize / mb, 2)} MB (${figure(sample.rss / mb)} MB resident)`
  reportSingle(
    `soak: ${figure(counts.reads)} reads, ${figure(counts.orders)} orders, ${figure(counts.webhooks)} webhooks, ${mails.received.length} mails, ${counts.imports} imports, ${counts.refused} refused`,
    steady ? `steady after ${steady.minutes} min` : `not steady after ${samples.length} min`,
    `two samples ${apartMinutes} min apart within 2 %`,
  )
  reportSingle('  heap at the first and at the second look', `${sizes(from)} → ${sizes(to)}`, '')
  reportSingle('  types of objects that grew most', listGrownTypes(from, to), '')
}
