/** Tests how a real browser treats the cookie and requests of other pages. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../../../db/columns.ts'
import { testApp } from '../../../support/app.ts'
import { type Browser, chromium, type Page, startBrowser } from '../../../support/chromium.ts'
import { sessionPath } from '../../../support/console.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hasBrowser = chromium !== undefined && engine === 'sqlite'
if (!hasBrowser) process.stderr.write('skipped: the console’s cookie in a real browser (there is none, or the engine is Postgres)\n')

let browser: Promise<Browser> | undefined
afterAll(async () => (await browser)?.[Symbol.asyncDispose]())

/** Starts the app behind a real socket. Records its requests. */
async function serve() {
  const app = await testApp()
  type ReceivedRequest = { method: string; origin: string | null; cookie: boolean }
  const sessionRequests: ReceivedRequest[] = []
  const otherRequests: ReceivedRequest[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request, self) {
      const { method, headers } = request
      const list = new URL(request.url).pathname === sessionPath ? sessionRequests : otherRequests
      list.push({ method, origin: headers.get('origin'), cookie: headers.has('cookie') })
      return app.edge.fetch(request, self)
    },
  })
  return {
    app,
    sessionRequests,
    otherRequests,
    origin: server.url.origin,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await app.close()
    },
  }
}

/** Opens a URL in a page and waits until it is loaded. */
async function open(page: Page, url: string): Promise<void> {
  await page.open(url)
  while ((await page.evaluate(`location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`)) !== true);
}
/** Sends a request from within a page. Returns the status and the roles in the response. */
const fetchIn = (page: Page, url: string, options: object) =>
  page.evaluate(
    `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)})
      .then(async (answer) => [answer.status, (await answer.json().catch(() => ({}))).roles?.join() ?? null])
      .catch((error) => [error.name, null])`,
  )
const json = { 'content-type': 'application/json' }

test.skipIf(!hasBrowser)(
  'scripts cannot read the cookie, a reload continues the session, other paths do not get it, and a logout removes it',
  async () => {
    await using s = await serve()
    const { email, password } = await s.app.superAdmin()
    browser ??= startBrowser(chromium ?? '')
    const page = await (await browser).openPage()
    await open(page, `${s.origin}/none`)
    // A page with this policy sends no referrer.
    const body = JSON.stringify({ email, password })
    expect(await fetchIn(page, sessionPath, { method: 'POST', headers: json, body, referrerPolicy: 'no-referrer' })).toEqual([
      200,
      'SUPER_ADMIN',
    ])
    expect(await page.evaluate('document.cookie')).toBe('')
    await open(page, `${s.origin}/none?again`)
    expect(await fetchIn(page, sessionPath, { method: 'POST' })).toEqual([200, 'SUPER_ADMIN'])
    expect(await fetchIn(page, sessionPath, { method: 'POST', credentials: 'omit' })).toEqual([401, null])
    expect(await fetchIn(page, sessionPath, { method: 'POST' })).toEqual([200, 'SUPER_ADMIN'])
    expect(await fetchIn(page, sessionPath, { method: 'DELETE' })).toEqual([204, null])
    expect(await fetchIn(page, sessionPath, { method: 'POST' })).toEqual([401, null])
    expect(s.sessionRequests.map(({ method, cookie }) => `${method} ${cookie}`)).toEqual([
      'POST false',
      'POST true',
      'POST false',
      'POST true',
      'DELETE true',
      'POST false',
    ])
    for (const { origin } of s.sessionRequests) expect(origin).toBe(s.origin)
    expect(s.otherRequests.length).toBeGreaterThan(1)
    expect(s.otherRequests.some(({ cookie }) => cookie)).toBe(false)
  },
)

test.skipIf(!hasBrowser)('a page of another port, which browsers treat as the same site, sends the cookie but is refused', async () => {
  await using s = await serve()
  await using other = await serve()
  const { email, password } = await s.app.superAdmin()
  browser ??= startBrowser(chromium ?? '')
  const page = await (await browser).openPage()
  await open(page, `${s.origin}/none`)
  expect(await fetchIn(page, sessionPath, { method: 'POST', headers: json, body: JSON.stringify({ email, password }) })).toEqual([
    200,
    'SUPER_ADMIN',
  ])
  await open(page, `${other.origin}/none`)
  const url = `${s.origin}${sessionPath}`
  const withCookie = { method: 'POST', credentials: 'include' }
  for (const options of [
    withCookie,
    { ...withCookie, headers: json, body: '{}' },
    { ...withCookie, method: 'DELETE' },
    { ...withCookie, mode: 'no-cors' },
    { ...withCookie, mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: '{}' },
  ]) {
    const [status] = (await fetchIn(page, url, options)) as unknown[]
    // The response is not readable (TypeError) or opaque (0).
    expect([JSON.stringify(options), status]).toEqual([JSON.stringify(options), 'mode' in options ? 0 : 'TypeError'])
  }
  expect(s.sessionRequests.some(({ origin, cookie }) => origin === other.origin && cookie)).toBe(true)
  // The session still works, and the page of the other app has its own cookie.
  const admin = await other.app.superAdmin()
  const body = JSON.stringify({ email: admin.email, password: admin.password })
  expect(await fetchIn(page, sessionPath, { method: 'POST', headers: json, body })).toEqual([200, 'SUPER_ADMIN'])
  await open(page, `${s.origin}/none`)
  expect(await fetchIn(page, sessionPath, { method: 'POST' })).toEqual([200, 'SUPER_ADMIN'])
})
