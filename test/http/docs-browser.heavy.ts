/** Tests the pages in a real browser: they follow their content security policy and use no other host. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../db/columns.ts'
import { testApp } from '../support/app.ts'
import { type Browser, type BrowserEvent, chromium, type Page, startBrowser } from '../support/chromium.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hasBrowser = chromium !== undefined && engine === 'sqlite'
if (!chromium) process.stderr.write('skipped: pages in a real browser, because there is no chromium on this machine\n')
else if (!hasBrowser) process.stderr.write('skipped on Postgres: pages in a real browser, which are the same files whatever the engine\n')

let browser: Promise<Browser> | undefined
/** A page of its own in the one browser of this file. */
async function openPage(): Promise<Page> {
  browser ??= startBrowser(chromium ?? '')
  return (await browser).openPage()
}

/** Our pages, behind a real socket. */
async function serveApp() {
  const app = await testApp()
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request, self) => app.edge.fetch(request, self) })
  return {
    app,
    origin: server.url.origin,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await app.close()
    },
  }
}

let visit: Promise<Awaited<ReturnType<typeof serveApp>> & { page: Page }> | undefined
/** The documentation as it opens. Laying out all of it is dear, so the tests that look at it whole look at one, in their order. */
async function visitDocumentation() {
  visit ??= (async () => {
    const serving = await serveApp()
    const page = await openPage()
    await page.open(`${serving.origin}/docs`)
    expect(await page.evaluate(appears('.opblock-tag'))).toBe(true)
    return { ...serving, page }
  })()
  return visit
}

afterAll(async () => {
  await (await browser)?.[Symbol.asyncDispose]()
  await (await visit)?.[Symbol.asyncDispose]()
})

const axe = await Bun.file(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url)).text()
/** A body, fields in the path and in the query, a file, an answer without a body. */
const unfoldedPaths = ['/merchant/login', '/webhook-endpoints/{id}', '/product-v2/import']

/** Resolves once the element is there. */
const appears = (selector: string) => `new Promise((resolve) => {
  const look = () => document.querySelector('${selector}') && resolve(true)
  new MutationObserver(look).observe(document, { childList: true, subtree: true })
  look()
})`
const requested = (events: BrowserEvent[]) =>
  events.filter(({ method }) => method === 'Network.requestWillBeSent').map(({ params }) => (params['request'] as { url: string }).url)
/** What the browser complained about: a policy that was broken, a file that was missing, a script that failed. */
const complaints = (events: BrowserEvent[]) =>
  events.filter(
    ({ method, params }) =>
      method === 'Runtime.exceptionThrown' || (method === 'Log.entryAdded' && (params['entry'] as { level: string }).level === 'error'),
  )

/** Nothing to complain about, and nothing asked of another host. */
function expectPeace({ events }: Page, origin: string, path: string): void {
  expect(complaints(events)).toEqual([])
  const others = requested(events).filter((url) => !url.startsWith('data:') && new URL(url).origin !== origin)
  expect(others).toEqual([])
  expect(requested(events)).toContain(`${origin}${path}`)
}

test.skipIf(!hasBrowser)('in a browser, / loads without errors or requests to other hosts', async () => {
  await using serving = await serveApp()
  await using page = await openPage()
  await page.open(`${serving.origin}/`)
  expect(await page.evaluate(appears('main h1'))).toBe(true)
  expectPeace(page, serving.origin, '/')
})

test.skipIf(!hasBrowser)('in a browser, /docs loads without errors or requests to other hosts', async () => {
  const { page, origin } = await visitDocumentation()
  expectPeace(page, origin, '/docs')
})

/** axe-core in the page, every rule that it has. What it finds, as text. */
async function breachesOf(page: Page, part = 'html'): Promise<string[]> {
  await page.evaluate(axe)
  return (await page.evaluate(`axe.run('${part}', { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.length + ', ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary))`)) as string[]
}

test.skipIf(!hasBrowser)('in a browser, axe reports no problem on the home page', async () => {
  await using serving = await serveApp()
  await using page = await openPage()
  await page.open(`${serving.origin}/`)
  await page.evaluate(appears('main h1'))
  expect(await breachesOf(page)).toEqual([])
})

test.skipIf(!hasBrowser)('in a browser, axe reports no problem in the documentation as it opens', async () => {
  const { page } = await visitDocumentation()
  expect(await breachesOf(page)).toEqual([])
})

/** Folds a part of the documentation open, or together again. */
const turn = (page: Page, id: string, how: 'open' | 'shut') =>
  page.evaluate(`(async () => {
    document.querySelector('#${id} button.expand-operation').click()
    await ${appears(`#${id}[data-is-open="${how === 'open'}"]`)}
  })()`)

test.skipIf(!hasBrowser)('in a browser, the documentation lists every operation and shows one with its responses', async () => {
  const { app, page } = await visitDocumentation()
  await turn(page, 'operations-tag-Login', 'open')
  await page.evaluate(appears('#operations-Login-logInMerchant .opblock-summary'))
  await page.evaluate(`document.querySelector('#operations-Login-logInMerchant .opblock-summary-control').click()`)
  await page.evaluate(appears('#operations-Login-logInMerchant .responses-table'))
  await turn(page, 'operations-tag-Login', 'shut')
  const { paths, webhooks } = (await app.call('GET', '/docs/json')).body as Record<string, Record<string, object>>
  const all = [...Object.values(paths ?? {}), ...Object.values(webhooks ?? {})].flatMap((methods) => Object.keys(methods))
  let listed = Number(await page.evaluate(`document.querySelectorAll('.opblock').length`))
  for (const id of (await page.evaluate(`[...document.querySelectorAll('.opblock-tag')].map(({ id }) => id)`)) as string[]) {
    const before = Number(await page.evaluate(`document.querySelectorAll('.opblock').length`))
    await turn(page, id, 'open')
    listed += Number(await page.evaluate(`document.querySelectorAll('.opblock').length`)) - before
    await turn(page, id, 'shut')
  }
  expect(listed).toBe(all.length)
  expect(complaints(page.events)).toEqual([])
})

test.skipIf(!hasBrowser)('in a browser, axe reports no problem in the documentation when unfolded, tried out and authorized', async () => {
  await using app = await testApp()
  const { paths, webhooks, ...rest } = (await app.call('GET', '/docs/json')).body
  // Of all operations one of each kind: unfolding is dear in a document of many.
  const some = Object.fromEntries(unfoldedPaths.map((path) => [path, paths[path]]))
  const cut = { ...rest, paths: some, webhooks: { 'order.confirmed': webhooks['order.confirmed'] } }
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, self) => (new URL(request.url).pathname === '/docs/json' ? Response.json(cut) : app.edge.fetch(request, self)),
  })
  await using page = await openPage()
  await page.open(`${server.url.origin}/docs`)
  await page.evaluate(appears('.opblock-tag'))
  for (const id of (await page.evaluate(`[...document.querySelectorAll('.opblock-tag')].map(({ id }) => id)`)) as string[])
    await turn(page, id, 'open')
  await page.evaluate(appears('.opblock-summary'))
  const closed = '.opblock:not(.is-open)'
  while (await page.evaluate(`document.querySelector('${closed}') !== null`)) {
    await page.evaluate(`document.querySelector('${closed}').setAttribute('data-next', '')`)
    await page.evaluate(`document.querySelector('[data-next] .opblock-summary-control').click()`)
    await page.evaluate(appears('[data-next] .responses-table'))
    await page.evaluate(`document.querySelector('[data-next]').removeAttribute('data-next')`)
  }
  expect(await breachesOf(page)).toEqual([])
  await page.evaluate(`document.querySelectorAll('.try-out__btn').forEach((button) => button.click())`)
  await page.evaluate(appears('.execute'))
  await page.evaluate(`document.querySelector('.btn.authorize').click()`)
  await page.evaluate(appears('.modal-ux-content'))
  expect(await breachesOf(page, '.modal-ux')).toEqual([])
  expect(complaints(page.events)).toEqual([])
})

test.skipIf(!hasBrowser)('axe finds the problems of a faulty page', async () => {
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('<!doctype html><title>x</title><select></select>', { headers: { 'content-type': 'text/html' } }),
  })
  await using page = await openPage()
  await page.open(server.url.href)
  await page.evaluate(appears('select'))
  expect((await breachesOf(page)).map((breach) => breach.split(':')[0])).toContain('select-name')
})

test.skipIf(!hasBrowser)('the browser test detects a violated policy and a request to another host', async () => {
  const policy = "default-src 'self'; img-src *"
  const html = '<!doctype html><style>h1 { color: red }</style><h1>x</h1><img src="http://other.invalid/x.png">'
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(html, { headers: { 'content-type': 'text/html', 'content-security-policy': policy } }),
  })
  await using page = await openPage()
  await page.open(server.url.href)
  await page.evaluate(`new Promise((resolve) => document.readyState === 'complete' ? resolve(true) : addEventListener('load', resolve))`)
  expect(complaints(page.events).length).toBeGreaterThan(0)
  expect(requested(page.events)).toContain('http://other.invalid/x.png')
})
