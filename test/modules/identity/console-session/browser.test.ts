/** What a real browser makes of the cookie and of whose page asks. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../../../db/columns.ts'
import { testApp } from '../../../support/app.ts'
import { type Browser, chromium, type Page, startBrowser } from '../../../support/chromium.ts'
import { path } from '../../../support/console.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hasBrowser = chromium !== undefined && engine === 'sqlite'
if (!hasBrowser) process.stderr.write('skipped: the console’s cookie in a real browser (there is none, or the engine is Postgres)\n')

let browser: Promise<Browser> | undefined
afterAll(async () => (await browser)?.[Symbol.asyncDispose]())

/** The program behind a real socket. */
async function served() {
  const app = await testApp()
  type Seen = { method: string; origin: string | null; cookie: boolean }
  const seen: Seen[] = []
  const elsewhere: Seen[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request, self) {
      const { method, headers } = request
      const list = new URL(request.url).pathname === path ? seen : elsewhere
      list.push({ method, origin: headers.get('origin'), cookie: headers.has('cookie') })
      return app.edge.fetch(request, self)
    },
  })
  return {
    app,
    seen,
    elsewhere,
    origin: server.url.origin,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await app.close()
    },
  }
}

/** Opens an address in a page, and waits until it is there. */
async function open(page: Page, url: string): Promise<void> {
  await page.open(url)
  while ((await page.evaluate(`location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`)) !== true);
}
/** Asks from within a page: the status, and what roles the answer names. */
const ask = (page: Page, url: string, options: object) =>
  page.evaluate(
    `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)})
      .then(async (answer) => [answer.status, (await answer.json().catch(() => ({}))).roles?.join() ?? null])
      .catch((error) => [error.name, null])`,
  )
const json = { 'content-type': 'application/json' }

test.skipIf(!hasBrowser)(
  'no script reads the cookie, a reload goes on by it, no other path gets it, and it is gone at the end',
  async () => {
    await using s = await served()
    const { email, password } = await s.app.superAdmin()
    browser ??= startBrowser(chromium ?? '')
    const page = await (await browser).openPage()
    await open(page, `${s.origin}/none`)
    // The policy of pages that tell nobody where they are.
    const body = JSON.stringify({ email, password })
    expect(await ask(page, path, { method: 'POST', headers: json, body, referrerPolicy: 'no-referrer' })).toEqual([200, 'SUPER_ADMIN'])
    expect(await page.evaluate('document.cookie')).toBe('')
    await open(page, `${s.origin}/none?again`)
    expect(await ask(page, path, { method: 'POST' })).toEqual([200, 'SUPER_ADMIN'])
    expect(await ask(page, path, { method: 'POST', credentials: 'omit' })).toEqual([401, null])
    expect(await ask(page, path, { method: 'POST' })).toEqual([200, 'SUPER_ADMIN'])
    expect(await ask(page, path, { method: 'DELETE' })).toEqual([204, null])
    expect(await ask(page, path, { method: 'POST' })).toEqual([401, null])
    expect(s.seen.map(({ method, cookie }) => `${method} ${cookie}`)).toEqual([
      'POST false',
      'POST true',
      'POST false',
      'POST true',
      'DELETE true',
      'POST false',
    ])
    for (const { origin } of s.seen) expect(origin).toBe(s.origin)
    expect(s.elsewhere.length).toBeGreaterThan(1)
    expect(s.elsewhere.some(({ cookie }) => cookie)).toBe(false)
  },
)

test.skipIf(!hasBrowser)(
  'a page of another port, which is the same site to a browser, sends the cookie and gets nothing by it',
  async () => {
    await using s = await served()
    await using other = await served()
    const { email, password } = await s.app.superAdmin()
    browser ??= startBrowser(chromium ?? '')
    const page = await (await browser).openPage()
    await open(page, `${s.origin}/none`)
    expect(await ask(page, path, { method: 'POST', headers: json, body: JSON.stringify({ email, password }) })).toEqual([
      200,
      'SUPER_ADMIN',
    ])
    await open(page, `${other.origin}/none`)
    const url = `${s.origin}${path}`
    const withCookie = { method: 'POST', credentials: 'include' }
    for (const options of [
      withCookie,
      { ...withCookie, headers: json, body: '{}' },
      { ...withCookie, method: 'DELETE' },
      { ...withCookie, mode: 'no-cors' },
      { ...withCookie, mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: '{}' },
    ]) {
      const [what] = (await ask(page, url, options)) as unknown[]
      // What may not be read, or is nothing to read.
      expect([JSON.stringify(options), what]).toEqual([JSON.stringify(options), 'mode' in options ? 0 : 'TypeError'])
    }
    expect(s.seen.some(({ origin, cookie }) => origin === other.origin && cookie)).toBe(true)
    // Nothing was spent or ended, and the other program's page keeps a cookie of its own beside it.
    const admin = await other.app.superAdmin()
    const body = JSON.stringify({ email: admin.email, password: admin.password })
    expect(await ask(page, path, { method: 'POST', headers: json, body })).toEqual([200, 'SUPER_ADMIN'])
    await open(page, `${s.origin}/none`)
    expect(await ask(page, path, { method: 'POST' })).toEqual([200, 'SUPER_ADMIN'])
  },
)
