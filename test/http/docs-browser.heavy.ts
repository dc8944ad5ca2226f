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
/** Opens a page in the browser that the tests of this file share. */
async function openPage(): Promise<Page> {
  browser ??= startBrowser(chromium ?? '')
  return (await browser).openPage()
}

/** Serves the app on a real socket. */
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
/** Opens the documentation. Tests share one page and run in order, because its layout is slow. */
async function visitDocumentation() {
  visit ??= (async () => {
    const serving = await serveApp()
    const page = await openPage()
    await page.open(`${serving.origin}/docs`)
    expect(await page.evaluate(untilPresent('.opblock-tag'))).toBe(true)
    return { ...serving, page }
  })()
  return visit
}

afterAll(async () => {
  await (await browser)?.[Symbol.asyncDispose]()
  await (await visit)?.[Symbol.asyncDispose]()
})

const axe = await Bun.file(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url)).text()
/** Operations with a body, with fields in path and query, with a file, and with an empty response. */
const expandedPaths = ['/merchant/login', '/webhook-endpoints/{id}', '/product-v2/import']

/** Returns a script that resolves once the element exists. */
const untilPresent = (selector: string) => `new Promise((resolve) => {
  const look = () => document.querySelector('${selector}') && resolve(true)
  new MutationObserver(look).observe(document, { childList: true, subtree: true })
  look()
})`
const requested = (events: BrowserEvent[]) =>
  events.filter(({ method }) => method === 'Network.requestWillBeSent').map(({ params }) => (params['request'] as { url: string }).url)
/** Returns the errors of the browser: violated policies, missing files and failed scripts. */
const browserErrors = (events: BrowserEvent[]) =>
  events.filter(
    ({ method, params }) =>
      method === 'Runtime.exceptionThrown' || (method === 'Log.entryAdded' && (params['entry'] as { level: string }).level === 'error'),
  )

/** Expects no browser errors and no requests to other hosts. */
function expectNoErrors({ events }: Page, origin: string, path: string): void {
  expect(browserErrors(events)).toEqual([])
  const others = requested(events).filter((url) => !url.startsWith('data:') && new URL(url).origin !== origin)
  expect(others).toEqual([])
  expect(requested(events)).toContain(`${origin}${path}`)
}

test.skipIf(!hasBrowser)('in a browser, / loads without errors or requests to other hosts', async () => {
  await using serving = await serveApp()
  await using page = await openPage()
  await page.open(`${serving.origin}/`)
  expect(await page.evaluate(untilPresent('main h1'))).toBe(true)
  expectNoErrors(page, serving.origin, '/')
})

test.skipIf(!hasBrowser)('in a browser, /docs loads without errors or requests to other hosts', async () => {
  const { page, origin } = await visitDocumentation()
  expectNoErrors(page, origin, '/docs')
})

/** Runs all rules of axe-core in the page. Returns the violations as text. */
async function axeViolations(page: Page, part = 'html'): Promise<string[]> {
  await page.evaluate(axe)
  return (await page.evaluate(`axe.run('${part}', { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.length + ', ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary))`)) as string[]
}

test.skipIf(!hasBrowser)('in a browser, axe reports no problem on the home page', async () => {
  await using serving = await serveApp()
  await using page = await openPage()
  await page.open(`${serving.origin}/`)
  await page.evaluate(untilPresent('main h1'))
  expect(await axeViolations(page)).toEqual([])
})

test.skipIf(!hasBrowser)('in a browser, axe reports no problem in the documentation as it opens', async () => {
  const { page } = await visitDocumentation()
  expect(await axeViolations(page)).toEqual([])
})

/** Expands or collapses a part of the documentation. */
const toggle = (page: Page, id: string, state: 'open' | 'shut') =>
  page.evaluate(`(async () => {
    document.querySelector('#${id} button.expand-operation').click()
    await ${untilPresent(`#${id}[data-is-open="${state === 'open'}"]`)}
  })()`)

test.skipIf(!hasBrowser)('in a browser, the documentation lists every operation and shows one with its responses', async () => {
  const { app, page } = await visitDocumentation()
  await toggle(page, 'operations-tag-Login', 'open')
  await page.evaluate(untilPresent('#operations-Login-logInMerchant .opblock-summary'))
  await page.evaluate(`document.querySelector('#operations-Login-logInMerchant .opblock-summary-control').click()`)
  await page.evaluate(untilPresent('#operations-Login-logInMerchant .responses-table'))
  await toggle(page, 'operations-tag-Login', 'shut')
  const { paths, webhooks } = (await app.call('GET', '/docs/json')).body as Record<string, Record<string, object>>
  const all = [...Object.values(paths ?? {}), ...Object.values(webhooks ?? {})].flatMap((methods) => Object.keys(methods))
  let listed = Number(await page.evaluate(`document.querySelectorAll('.opblock').length`))
  for (const id of (await page.evaluate(`[...document.querySelectorAll('.opblock-tag')].map(({ id }) => id)`)) as string[]) {
    const before = Number(await page.evaluate(`document.querySelectorAll('.opblock').length`))
    await toggle(page, id, 'open')
    listed += Number(await page.evaluate(`document.querySelectorAll('.opblock').length`)) - before
    await toggle(page, id, 'shut')
  }
  expect(listed).toBe(all.length)
  expect(browserErrors(page.events)).toEqual([])
})

test.skipIf(!hasBrowser)('in a browser, axe reports no problem in the documentation when expanded, tried out and authorized', async () => {
  await using app = await testApp()
  const { paths, webhooks, ...rest } = (await app.call('GET', '/docs/json')).body
  // Expands one operation of each kind, because a document of many is slow to expand.
  const some = Object.fromEntries(expandedPaths.map((path) => [path, paths[path]]))
  const shortDocument = { ...rest, paths: some, webhooks: { 'order.confirmed': webhooks['order.confirmed'] } }
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, self) =>
      new URL(request.url).pathname === '/docs/json' ? Response.json(shortDocument) : app.edge.fetch(request, self),
  })
  await using page = await openPage()
  await page.open(`${server.url.origin}/docs`)
  await page.evaluate(untilPresent('.opblock-tag'))
  for (const id of (await page.evaluate(`[...document.querySelectorAll('.opblock-tag')].map(({ id }) => id)`)) as string[])
    await toggle(page, id, 'open')
  await page.evaluate(untilPresent('.opblock-summary'))
  const closed = '.opblock:not(.is-open)'
  while (await page.evaluate(`document.querySelector('${closed}') !== null`)) {
    await page.evaluate(`document.querySelector('${closed}').setAttribute('data-next', '')`)
    await page.evaluate(`document.querySelector('[data-next] .opblock-summary-control').click()`)
    await page.evaluate(untilPresent('[data-next] .responses-table'))
    await page.evaluate(`document.querySelector('[data-next]').removeAttribute('data-next')`)
  }
  expect(await axeViolations(page)).toEqual([])
  await page.evaluate(`document.querySelectorAll('.try-out__btn').forEach((button) => button.click())`)
  await page.evaluate(untilPresent('.execute'))
  await page.evaluate(`document.querySelector('.btn.authorize').click()`)
  await page.evaluate(untilPresent('.modal-ux-content'))
  expect(await axeViolations(page, '.modal-ux')).toEqual([])
  expect(browserErrors(page.events)).toEqual([])
})

test.skipIf(!hasBrowser)('axe finds the problems of a faulty page', async () => {
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('<!doctype html><title>x</title><select></select>', { headers: { 'content-type': 'text/html' } }),
  })
  await using page = await openPage()
  await page.open(server.url.href)
  await page.evaluate(untilPresent('select'))
  expect((await axeViolations(page)).map((violation) => violation.split(':')[0])).toContain('select-name')
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
  expect(browserErrors(page.events).length).toBeGreaterThan(0)
  expect(requested(page.events)).toContain('http://other.invalid/x.png')
})
