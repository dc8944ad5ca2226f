/**
 * The console open for a day, at speed: one visitor goes through every screen of the menu again and again while orders come in and are told of.
 * Every half a minute, at home and after the browser has collected what nobody holds: what the page and the server have in memory.
 */
import { demoShop } from '../src/demo/data.ts'
import { chromium } from '../test/support/chromium.ts'
import { type ConsoleVisitor, consoleVisitor } from '../test/support/console-visitor.ts'
import { closeBrowser } from '../test/support/visit.ts'
import { type Demo, startDemo } from './console-demo.ts'
import { figure, only, quick, residentMb, say } from './runs.ts'

/** `--minutes=N` for others. */
const named = Bun.argv.find((argument) => argument.startsWith('--minutes='))?.slice('--minutes='.length)
const minutes = Number(named ?? (quick ? 1 : 10))
const everyMs = quick ? 5_000 : 30_000
/** Until then caches fill, and each screen comes for the first time. */
const warmMs = quick ? 20_000 : 120_000
const betweenOrdersMs = 500
/** Of more than 200 changes of the address in ten seconds Chromium leaves out the rest. */
const betweenScreensMs = 75
/** So that nothing is sold out. */
const plenty = 100_000
const minuteMs = 60_000
const mb = 1024 * 1024

/** Of the page: its heap in MB, the nodes and listeners that there are, in its document or not. Of the server: MB resident. */
type Look = { atMs: number; heap: number; nodes: number; listeners: number; server: number }
const kinds = [
  ['heap of the page, MB', 'heap', 2],
  ['nodes of the page', 'nodes', 0],
  ['listeners of the page', 'listeners', 0],
  ['resident memory of the server, MB', 'server', 1],
] as const

/** Measures it; skipped on a machine without Chromium. */
export async function measureOpen(): Promise<void> {
  if (!chromium) {
    say('skipped: the console open for long, because there is no chromium on this machine')
    return
  }
  const demo = await startDemo({ STOREFRONT_WRITES_PER_MINUTE: '1000000', UNPAID_ORDERS_PER_ADDRESS: '1000000' })
  try {
    const visitor = await consoleVisitor(demo.url)
    await visitor.go(`s/${demoShop.name}`)
    await visitor.signIn(demoShop.merchant)
    await visitor.settled()
    await going(visitor, demo)
  } finally {
    await closeBrowser()
    demo.stop()
  }
}

/** Places an order every half a second until it is stopped. @returns stops it, and says how many there were and how many were refused */
function ordering({ url, publishableKey, secretKey }: Demo): () => Promise<{ placed: number; refused: number }> {
  const made = { placed: 0, refused: 0 }
  let stopped = false
  const shippingAddress = { name: 'Ada Lovelace', line1: '1 Quay Street', city: 'Portland', province: 'ME', countryCode: 'US' }
  const post = async (path: string, body: object, key = publishableKey) => {
    const headers = { 'content-type': 'application/json', 'x-service-api-key': key, 'idempotency-key': crypto.randomUUID() }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { isMade: answer.status === 201, id: ((await answer.json()) as { id?: string }).id ?? '' }
  }
  const loop = (async () => {
    type Listed = { data: { id: string; variants: { id: string }[] }[] }
    const list = (await (await fetch(`${url}/product-v2/public/shop/${demoShop.name}?limit=100`)).json()) as Listed
    const variants = list.data.flatMap(({ id, variants }) => variants.map((variant) => ({ id: variant.id, of: id })))
    for (const { id, of } of variants) await post(`/product-v2/${of}/variants/${id}/stock`, { delta: plenty }, secretKey)
    for (let nth = 0; !stopped; nth++) {
      const cart = await post('/cart', { email: `shopper${nth}@example.com`, shippingAddress, shippingMethod: 'standard' })
      await post(`/cart/${cart.id}/items`, { variantId: variants[nth % variants.length]?.id, quantity: 1 })
      const { isMade } = await post(`/cart/${cart.id}/checkout`, { method: 'card' })
      made[isMade ? 'placed' : 'refused']++
      await Bun.sleep(betweenOrdersMs)
    }
  })()
  return async () => {
    stopped = true
    await loop
    return made
  }
}

/** The addresses that the menu has. */
const inMenu = `[...document.querySelectorAll('#menu a[href*="/console/s/"]')].map(({ pathname }) => pathname)`
const gone = (path: string) => `document.querySelector('#menu a[href="${path}"]').click()`

async function going(visitor: ConsoleVisitor, demo: Demo): Promise<void> {
  const { page } = visitor
  await page.command('Performance.enable')
  // What it keeps for whoever debugs is not the page's.
  await page.command('Network.enable', { maxTotalBufferSize: 1_000_000, maxResourceBufferSize: 100_000 })
  const paths = (await page.evaluate(inMenu)) as string[]
  const home = paths[0] ?? ''
  const open = async (path: string) => {
    await page.evaluate(gone(path))
    await visitor.until(`location.pathname === '${path}' && document.querySelector('main h1') !== null`, path)
    await visitor.settled()
    page.events.length = 0
  }
  const looks: Look[] = []
  const look = async (atMs: number) => {
    await open(home)
    // Twice: what the first one lets go of holds nodes that the second one takes away.
    await page.command('HeapProfiler.collectGarbage')
    await page.command('HeapProfiler.collectGarbage')
    const { metrics } = (await page.command('Performance.getMetrics')) as { metrics: { name: string; value: number }[] }
    const of = (name: string) => metrics.find((one) => one.name === name)?.value ?? 0
    const [heap, nodes, listeners] = [of('JSHeapUsedSize') / mb, of('Nodes'), of('JSEventListeners')]
    looks.push({ atMs, heap, nodes, listeners, server: residentMb(demo.pid) })
  }
  const stop = ordering(demo)
  const startedAt = performance.now()
  let [shown, lookAt] = [0, 0]
  for (let atMs = 0; atMs < minutes * minuteMs; atMs = performance.now() - startedAt) {
    if (atMs >= lookAt) {
      await look(atMs)
      lookAt += everyMs
      say(
        `open for ${(atMs / 1_000).toFixed()} s, ${shown} screens: ${JSON.stringify(looks.at(-1), (_, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value))}`,
      )
    }
    await open(paths[shown % paths.length] ?? home)
    await Bun.sleep(betweenScreensMs)
    shown++
  }
  await look(performance.now() - startedAt)
  const { placed, refused } = await stop()
  only(`console open for ${minutes} minutes: screens shown, orders placed`, `${figure(shown)}, ${figure(placed)} (${refused} refused)`, '')
  for (const [what, kind, digits] of kinds) only(`  ${what}`, growth(looks, kind, digits), 'no growth')
}

/** From when all was warm to the end, and by how much a minute, by the least squares. */
function growth(looks: readonly Look[], kind: keyof Look, digits: number): string {
  const warm = looks.filter(({ atMs }) => atMs >= warmMs)
  const [first, last] = [warm[0]?.[kind] ?? 0, warm.at(-1)?.[kind] ?? 0]
  const middle = (of: keyof Look) => warm.reduce((sum, one) => sum + one[of], 0) / warm.length
  const [time, value] = [middle('atMs'), middle(kind)]
  const above = warm.reduce((sum, one) => sum + (one.atMs - time) * (one[kind] - value), 0)
  const below = warm.reduce((sum, { atMs }) => sum + (atMs - time) ** 2, 0)
  const slope = below === 0 ? 0 : (above / below) * minuteMs
  const sign = (number: number) => `${number >= 0 ? '+' : ''}${figure(number, digits)}`
  return `${figure(first, digits)} → ${figure(last, digits)} (${sign(last - first)}; ${sign(slope)} a minute)`
}
