/**
 * Measures the console in Chromium: time until the home screen is usable, against an empty page with two API calls;
 * bytes of the first load and of later screens; the cost for product reads.
 * Uses the binary with the demo's shops.
 */
import { demoShop } from '../src/demo/data.ts'
import { chromium } from '../test/support/chromium.ts'
import { addressOf, listedScreens } from '../test/support/console-screens.ts'
import { type ConsoleVisitor, consoleVisitor } from '../test/support/console-visitor.ts'
import { closeBrowser } from '../test/support/visit.ts'
import { demoOfBinary, startDemo } from './demo.ts'
import { load } from './load.ts'
import { figure, median, type Pair, print, quick, readLoad, report, reportRatios, reportSingle, rounds } from './runs.ts'

const loads = quick ? 5 : 20
const firstLoadMax = 60_000
const laterMax = 25_000
/** First visits of the console per second during product reads. */
const openingsPerSecond = 5
const { email, password } = demoShop.merchant

export async function measureConsole(): Promise<void> {
  if (!chromium) {
    print('skipped: the console, because there is no chromium on this machine')
    return
  }
  const demo = await startDemo(await demoOfBinary())
  try {
    const visitor = await consoleVisitor(demo.url)
    await visitor.go()
    await visitor.signIn({ email, password })
    await visitor.heading(/./)
    await measureUsable(visitor, demo.url)
    await bytes(visitor, demo.url)
    await closeBrowser()
    await measureReads(demo.url)
  } finally {
    await closeBrowser()
    await demo.stop()
  }
}

/**
 * Runs in the page from its start. Stores when a screen with a heading has loaded, and when the best sellers below the
 * first view are shown.
 */
const watchHome = `(() => {
  if (!location.pathname.startsWith('/console')) return
  const look = () => {
    const isThere = document.querySelector('main h1') && location.pathname.includes('/s/')
    if (isThere && !document.querySelector('.splash, .skeleton, [aria-busy="true"]')) globalThis.usableMs ??= performance.now()
    if (globalThis.usableMs && document.querySelector('main table')) globalThis.wholeMs = performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
})()`

/** Runs in an empty page from the start: logs in by the cookie and requests what the home screen shows first. */
const emptyPage = (shop: string) => `(() => {
  if (location.pathname !== '/health/live') return
  const json = { 'content-type': 'application/json' }
  fetch('/console/session', { method: 'POST', headers: json, body: '{}' })
    .then((answer) => answer.json())
    .then(({ accessToken, shops }) => fetch('/v2/orders?limit=20', { headers: { authorization: 'Bearer ' + accessToken, 'x-shop-id': shops.find(({ name }) => name === ${JSON.stringify(shop)}).id } }))
    .then((answer) => answer.json())
    .then(() => { globalThis.usableMs = performance.now() })
})()`

async function measureUsable(visitor: ConsoleVisitor, url: string): Promise<void> {
  const { page } = visitor
  for (const source of [watchHome, emptyPage(demoShop.name)]) await page.command('Page.addScriptToEvaluateOnNewDocument', { source })
  const timeOf = async (address: string, name = 'usableMs'): Promise<number> => {
    await page.open(url + address)
    return Number(await visitor.until(`location.pathname.startsWith('${address}') && globalThis.${name}`, address))
  }
  const home = `/console/s/${demoShop.name}`
  for (const [what, target, isCold] of [
    ['home usable, files at hand', '≤ 1.2', false],
    ['home usable, for the first time', '', true],
  ] as const) {
    const [souk, allShown, floor]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < loads; round++) {
      print(`${what}: ${round + 1} of ${loads}`)
      if (isCold) await page.command('Network.clearBrowserCache')
      floor.push(await timeOf('/health/live'))
      allShown.push(await timeOf(home, 'wholeMs'))
      souk.push(Number(await page.evaluate('usableMs')))
    }
    const text = (times: readonly number[]) => `${figure(median(times))} ms (min ${figure(Math.min(...times))})`
    const ratios = souk.map((one, at) => one / (floor[at] ?? 1))
    reportRatios({ what: `${what}; floor: an empty page, two calls`, souk: text(souk), floor: text(floor), target }, ratios)
    reportSingle(`${what.replace('usable', 'whole')}, with what lies below`, text(allShown), '')
  }
}

/** Returns the transferred bytes of the page's files since counting began. */
function bytesSent(visitor: ConsoleVisitor, since: number): Map<string, number> {
  const names = new Map<unknown, string>()
  const sizes = new Map<string, number>()
  for (const { method, params } of visitor.page.events.slice(since)) {
    const { url = '' } = (params['request'] as { url?: string } | undefined) ?? {}
    if (method === 'Network.requestWillBeSent' && url.includes('/console/assets/')) names.set(params['requestId'], url)
    const name = names.get(params['requestId'])
    if (method === 'Network.loadingFinished' && name) sizes.set(name, Number(params['encodedDataLength']))
  }
  return sizes
}
const sum = (sizes: Iterable<number>) => [...sizes].reduce((all, one) => all + one, 0)

async function bytes(visitor: ConsoleVisitor, url: string): Promise<void> {
  const { page } = visitor
  const json = { 'content-type': 'application/json' }
  const login = await fetch(`${url}/merchant/login`, { method: 'POST', headers: json, body: JSON.stringify({ email, password }) })
  const { data } = (await login.json()) as { data: { accessToken: string } }
  const headers = { authorization: `Bearer ${data.accessToken}` }
  const ask = async (path: string) => (await fetch(url + path, { headers })).json()
  // Creates the only record that a screen needs and the demo lacks.
  const endpoint = { url: 'https://hooks.example/souk', events: ['order.confirmed'] }
  await fetch(`${url}/webhook-endpoints`, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(endpoint) })
  /** Returns what a cold browser loads for an address. */
  const loadCold = async (address: string, isThere: string): Promise<Map<string, number>> => {
    await page.command('Network.clearBrowserCache')
    const since = page.events.length
    await visitor.go(address)
    await visitor.until(isThere, address)
    await visitor.settled()
    // Later loads count, too.
    await page.evaluate('new Promise((done) => setTimeout(done, 300))')
    await visitor.settled()
    return bytesSent(visitor, since)
  }
  const headingIsShown = `document.querySelector('main h1') !== null`
  const home = await loadCold(`s/${demoShop.name}`, headingIsShown)
  reportSingle('bytes of the first load, home shown', `${figure(sum(home.values()))} in ${home.size} files`, `≤ ${figure(firstLoadMax)}`)
  const laterScreens: { path: string; size: number; files: number }[] = []
  const screens = (await listedScreens()).filter(({ area }) => area !== 'net')
  for (const screen of screens) {
    const all = await loadCold(await addressOf(screen, demoShop.name, ask), headingIsShown)
    const more = [...all].filter(([name]) => !home.has(name)).map(([, size]) => size)
    laterScreens.push({ path: screen.path, size: sum(more), files: more.length })
  }
  const largest = laterScreens.toSorted((a, b) => b.size - a.size)
  for (const { path, size, files } of largest.slice(0, 5))
    reportSingle(`bytes of ${path} after that`, `${figure(size)} in ${files} files`, `≤ ${figure(laterMax)}`)
  reportSingle(`bytes of a later screen, median of ${laterScreens.length}`, figure(median(laterScreens.map(({ size }) => size))), '')
  for (const { path, size } of laterScreens) if (size > laterMax) print(`more than ${laterMax} bytes: ${path}, ${size}`)
}

/** Product reads alone, and during repeated visits of the console with a cold browser. */
async function measureReads(url: string): Promise<void> {
  const list = (await (await fetch(`${url}/product-v2/public/shop/${demoShop.name}?limit=100`)).json()) as { data: { id: string }[] }
  const paths = list.data.map(({ id }) => `/product-v2/public/${id}`)
  const files = [...(await (await fetch(`${url}/console`)).text()).matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
  const open = async () => {
    for (const path of ['/console', ...files])
      await (await fetch(url + path, { headers: { 'accept-encoding': 'br' }, decompress: false })).arrayBuffer()
  }
  const readDuringVisits = async () => {
    const opening = setInterval(() => void open().catch(() => undefined), 1_000 / openingsPerSecond)
    try {
      return await load(url, { paths }, readLoad)
    } finally {
      clearInterval(opening)
    }
  }
  await load(url, { paths }, readLoad)
  const pair: Pair = { souk: [], floor: [] }
  for (let round = 0; round < rounds; round++) {
    pair.floor.push(await load(url, { paths }, readLoad))
    pair.souk.push(await readDuringVisits())
  }
  report(`product by id while the console is opened ${openingsPerSecond} times a second; floor: while it is not`, '≥ 0.97', pair)
}
