/**
 * A day with the console at high speed: a visitor opens every screen repeatedly while orders arrive.
 * Every half minute, at home and after garbage collection, it samples the memory of page and server.
 */

import { demoShop } from '../src/demo/data.ts'
import { minuteMs } from '../src/lib/day.ts'
import { chromium } from '../test/support/chromium.ts'
import { type ConsoleVisitor, consoleVisitor } from '../test/support/console-visitor.ts'
import { closeBrowser } from '../test/support/visit.ts'
import { type Demo, startDemo } from './console-demo.ts'
import { figure, print, quick, reportSingle, residentMb } from './runs.ts'

/** `--minutes=N` for another duration. */
const named = Bun.argv.find((argument) => argument.startsWith('--minutes='))?.slice('--minutes='.length)
const minutes = Number(named ?? (quick ? 1 : 10))
const everyMs = quick ? 5_000 : 30_000
/** Caches fill and each screen opens for the first time. */
const warmMs = quick ? 20_000 : 120_000
const betweenOrdersMs = 500
/** Chromium drops more than 200 changes of the address in ten seconds. */
const betweenScreensMs = 75
/** Prevents products from selling out. */
const plenty = 100_000
const mb = 1024 * 1024

/** The page: heap in MB, nodes and listeners, attached or not. The server: resident MB. */
type MemorySample = { atMs: number; heap: number; nodes: number; listeners: number; server: number }
const kinds = [
  ['heap of the page, MB', 'heap', 2],
  ['nodes of the page', 'nodes', 0],
  ['listeners of the page', 'listeners', 0],
  ['resident memory of the server, MB', 'server', 1],
] as const

/** Measures the memory, unless the machine lacks Chromium. */
export async function measureOpen(): Promise<void> {
  if (!chromium) {
    print('skipped: the console open for long, because there is no chromium on this machine')
    return
  }
  const demo = await startDemo({ STOREFRONT_WRITES_PER_MINUTE: '1000000', UNPAID_ORDERS_PER_ADDRESS: '1000000' })
  try {
    const visitor = await consoleVisitor(demo.url)
    await visitor.go(`s/${demoShop.name}`)
    await visitor.signIn(demoShop.merchant)
    await visitor.settled()
    await visitScreens(visitor, demo)
  } finally {
    await closeBrowser()
    demo.stop()
  }
}

/**
 * Places an order every half second until stopped.
 * @returns stops it and returns the numbers of orders and refusals
 */
function placeOrders({ url, publishableKey, secretKey }: Demo): () => Promise<{ placed: number; refused: number }> {
  const counts = { placed: 0, refused: 0 }
  let stopped = false
  const shippingAddress = { name: 'Ada Lovelace', line1: '1 Quay Street', city: 'Portland', province: 'ME', countryCode: 'US' }
  const post = async (path: string, body: object, key = publishableKey) => {
    const headers = { 'content-type': 'application/json', 'x-service-api-key': key, 'idempotency-key': crypto.randomUUID() }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { isCreated: answer.status === 201, id: ((await answer.json()) as { id?: string }).id ?? '' }
  }
  const loop = (async () => {
    type Listed = { data: { id: string; variants: { id: string }[] }[] }
    const list = (await (await fetch(`${url}/product-v2/public/shop/${demoShop.name}?limit=100`)).json()) as Listed
    const variants = list.data.flatMap(({ id, variants }) => variants.map((variant) => ({ id: variant.id, of: id })))
    for (const { id, of } of variants) await post(`/product-v2/${of}/variants/${id}/stock`, { delta: plenty }, secretKey)
    for (let nth = 0; !stopped; nth++) {
      const cart = await post('/cart', { email: `shopper${nth}@example.com`, shippingAddress, shippingMethod: 'standard' })
      await post(`/cart/${cart.id}/items`, { variantId: variants[nth % variants.length]?.id, quantity: 1 })
      const { isCreated } = await post(`/cart/${cart.id}/checkout`, { method: 'card' })
      counts[isCreated ? 'placed' : 'refused']++
      await Bun.sleep(betweenOrdersMs)
    }
  })()
  return async () => {
    stopped = true
    await loop
    return counts
  }
}

/** The addresses in the menu. */
const menuAddresses = `[...document.querySelectorAll('#menu a[href*="/console/s/"]')].map(({ pathname }) => pathname)`
const goTo = (path: string) => `document.querySelector('#menu a[href="${path}"]').click()`

async function visitScreens(visitor: ConsoleVisitor, demo: Demo): Promise<void> {
  const { page } = visitor
  await page.command('Performance.enable')
  // Memory for debuggers does not belong to the page.
  await page.command('Network.enable', { maxTotalBufferSize: 1_000_000, maxResourceBufferSize: 100_000 })
  const paths = (await page.evaluate(menuAddresses)) as string[]
  const home = paths[0] ?? ''
  const open = async (path: string) => {
    await page.evaluate(goTo(path))
    await visitor.until(`location.pathname === '${path}' && document.querySelector('main h1') !== null`, path)
    await visitor.settled()
    page.events.length = 0
  }
  const samples: MemorySample[] = []
  const takeSample = async (atMs: number) => {
    await open(home)
    // Twice: the first collection releases holders of nodes, the second the nodes.
    await page.command('HeapProfiler.collectGarbage')
    await page.command('HeapProfiler.collectGarbage')
    const { metrics } = (await page.command('Performance.getMetrics')) as { metrics: { name: string; value: number }[] }
    const of = (name: string) => metrics.find((one) => one.name === name)?.value ?? 0
    const [heap, nodes, listeners] = [of('JSHeapUsedSize') / mb, of('Nodes'), of('JSEventListeners')]
    samples.push({ atMs, heap, nodes, listeners, server: residentMb(demo.pid) })
  }
  const stop = placeOrders(demo)
  const startedAt = performance.now()
  let [screenCount, nextSampleAt] = [0, 0]
  for (let atMs = 0; atMs < minutes * minuteMs; atMs = performance.now() - startedAt) {
    if (atMs >= nextSampleAt) {
      await takeSample(atMs)
      nextSampleAt += everyMs
      print(
        `open for ${(atMs / 1_000).toFixed()} s, ${screenCount} screens: ${JSON.stringify(samples.at(-1), (_, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value))}`,
      )
    }
    await open(paths[screenCount % paths.length] ?? home)
    await Bun.sleep(betweenScreensMs)
    screenCount++
  }
  await takeSample(performance.now() - startedAt)
  const { placed, refused } = await stop()
  reportSingle(
    `console open for ${minutes} minutes: screens shown, orders placed`,
    `${figure(screenCount)}, ${figure(placed)} (${refused} refused)`,
    '',
  )
  for (const [what, kind, digits] of kinds) reportSingle(`  ${what}`, growthText(samples, kind, digits), 'no growth')
}

/** The growth since the warm-up and per minute, by least squares. */
function growthText(samples: readonly MemorySample[], kind: keyof MemorySample, digits: number): string {
  const warm = samples.filter(({ atMs }) => atMs >= warmMs)
  const [first, last] = [warm[0]?.[kind] ?? 0, warm.at(-1)?.[kind] ?? 0]
  const middle = (of: keyof MemorySample) => warm.reduce((sum, one) => sum + one[of], 0) / warm.length
  const [time, value] = [middle('atMs'), middle(kind)]
  const above = warm.reduce((sum, one) => sum + (one.atMs - time) * (one[kind] - value), 0)
  const below = warm.reduce((sum, { atMs }) => sum + (atMs - time) ** 2, 0)
  const slope = below === 0 ? 0 : (above / below) * minuteMs
  const sign = (number: number) => `${number >= 0 ? '+' : ''}${figure(number, digits)}`
  return `${figure(first, digits)} → ${figure(last, digits)} (${sign(last - first)}; ${sign(slope)} a minute)`
}
