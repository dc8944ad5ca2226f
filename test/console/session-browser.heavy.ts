/** Tests the session of the console in browsers without cookies, after a sleep, with duplicate cookies, and in tabs. */
import { test as bunTest, expect, setDefaultTimeout } from 'bun:test'
import { desktopChromium } from '../support/chromium.ts'
import { consoleTests, type InConsole } from '../support/console-tests.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'
import { pollUntilFound } from '../support/visit.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests()
const hourMs = 3_600_000
const isAtLogin = 'Log in to souk'

type In = InConsole<undefined>
type Visitor = Awaited<ReturnType<In['open']>>
/** Logs in again on the current page. */
async function logInAgain(visitor: Visitor, { email, password }: { email: string; password: string }): Promise<void> {
  await visitor.keyFill('Email', email)
  await visitor.keyFill('Password', password)
  await visitor.key('Enter')
  await visitor.until(`!document.querySelector('input[autocomplete="current-password"]')`, 'in again')
}

const withoutCookies = desktopChromium ? test : (name: string, _: (inConsole: In) => Promise<void>) => bunTest.skip(name, () => undefined)

withoutCookies(
  'without cookies, the user sees one notice, can work until the token ends, and keeps typed text',
  async ({ open, app, clock }) => {
    const shop = await app.merchant()
    const visitor = await open({ cookies: false, at: `s/${shop.shop.name}/settings` })
    await visitor.heading(isAtLogin)
    await visitor.text('Cookies are blocked')
    expect(await visitor.axe()).toEqual([])
    await logInAgain(visitor, shop)
    await visitor.heading('Shop details')
    expect(await visitor.has('Cookies are blocked')).toBe(false)
    // Locks are unavailable too, and events still arrive.
    expect(await pollUntilFound(async () => app.deps.live.figures().shop > 0)).toBe(true)
    await visitor.press('Orders')
    await visitor.heading('Orders')
    await visitor.back()
    await visitor.heading('Shop details')
    await visitor.keyFill('Shop name', 'Of an hour ago')
    // Another tab starts at the login, and does not affect this one.
    const secondTab = await open({ beside: visitor, cookies: false, at: `s/${shop.shop.name}` })
    await secondTab.heading(isAtLogin)
    expect(await visitor.value('Shop name')).toBe('Of an hour ago')
    clock.advance(hourMs + 60_000)
    // Any of these requests may be the first.
    visitor.expects(/^(PATCH \/shops\/v2|GET \/v2\/events|GET \/merchant\/me) 401/)
    await visitor.keyPress('Save', { role: 'button' })
    await visitor.heading(isAtLogin)
    await visitor.text('Your session has expired. Log in again.')
    await logInAgain(visitor, shop)
    await visitor.heading('Shop details')
    expect(await visitor.value('Shop name')).toBe('Of an hour ago')
    await visitor.keyPress('Save', { role: 'button' })
    await visitor.notice('Saved')
    const sessions = async () => ok(await app.call('GET', '/auth/sessions', { token: otherLogin.data.accessToken })).body.total
    const { email, password } = shop
    const { body: otherLogin } = ok(await app.call('POST', '/merchant/login', { body: { email, password } }))
    const before = await sessions()
    await visitor.press('Log out', { role: 'button' })
    await visitor.heading(isAtLogin)
    await visitor.settled()
    expect(await sessions()).toBe(before - 1)
    await visitor.reload()
    await visitor.heading(isAtLogin)
  },
)

withoutCookies('without browser storage, the language can still be changed', async ({ open }) => {
  const visitor = await open({ cookies: false })
  await visitor.heading(isAtLogin)
  await visitor.fill('Language', 'Монгол')
  await visitor.until(`document.documentElement.lang === 'mn' && document.querySelector('main h1') !== null`, 'the page in Mongolian')
})

test('a token that ends after an hour is renewed in the background, and typed text is saved', async ({ open, app, clock }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings` })
  await visitor.keyFill('Shop name', 'An hour later')
  clock.advance(hourMs + 60_000)
  // Any of these requests may be the first.
  visitor.expects(/^(PATCH \/shops\/v2|GET \/v2\/events|GET \/merchant\/me) 401/)
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.notice('Saved')
  expect(await visitor.has(isAtLogin)).toBe(false)
})

test('a machine that slept for three hours asks for the password, and keeps typed text', async ({ open, app, clock }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings` })
  await visitor.keyFill('Shop name', 'Before the night')
  visitor.sessionEnds()
  clock.advance(3 * hourMs)
  // The wall clock advances during sleep; the monotonic clock stops.
  await visitor.page.evaluate(`{ const right = Date.now; Date.now = () => right.call(Date) + ${3 * hourMs} }`)
  await visitor.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await visitor.heading(isAtLogin)
  await visitor.text('You were logged out after 30 minutes')
  expect(await visitor.has('Before the night')).toBe(false)
  await logInAgain(visitor, shop)
  await visitor.heading('Shop details')
  expect(await visitor.value('Shop name')).toBe('Before the night')
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.notice('Saved')
})

test('a duplicate cookie of another program on the host is removed, and the user can log in again', async ({ open, app, url }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  const name = `souk_console_${new URL(url).port}`
  for (const path of ['/', '/console', '/console/'])
    await visitor.page.command('Network.setCookie', { name, value: 'x', path, url: `${url}${path}`, httpOnly: true })
  await visitor.reload()
  await visitor.heading(isAtLogin)
  await logInAgain(visitor, shop)
  await visitor.heading('Orders')
  await visitor.page.evaluate('globalThis.isBefore = true')
  await visitor.reload()
  await visitor.until(`!globalThis.isBefore && document.querySelector('main h1') !== null`, 'the page anew')
  await visitor.heading('Orders')
})

/** Returns a script for the page, which replaces the first response to the session request. */
const firstAnswer = (through: string) => `{
  const before = globalThis.fetch
  let isFirst = true
  globalThis.fetch = async (request, options) => {
    if (!isFirst || String(request) !== '/console/session') return before(request, options)
    isFirst = false
    ${through}
  }
}`
const unauthorized = `return new Response('{"statusCode":401,"message":"","error":"Unauthorized"}', { status: 401, headers: { 'content-type': 'application/json' } })`

test('a missing session is requested again before the login, because another tab may have logged in', async ({ open, app }) => {
  const shop = await app.merchant()
  const at = `s/${shop.shop.name}/orders`
  const visitor = await open({ as: shop, at })
  await visitor.heading('Orders')
  const secondTab = await open({ beside: visitor, at })
  await secondTab.page.command('Page.addScriptToEvaluateOnNewDocument', { source: firstAnswer(unauthorized) })
  await secondTab.reload()
  await secondTab.heading('Orders')
  await visitor.press('Discounts')
  await visitor.heading('Discounts')
})

test('a log-out wins over a sign-in in another tab', async ({ open, app }) => {
  const shop = await app.merchant()
  const at = `s/${shop.shop.name}/orders`
  const visitor = await open({ as: shop, at })
  await visitor.heading('Orders')
  const secondTab = await open({ beside: visitor, at })
  await secondTab.page.command('Page.addScriptToEvaluateOnNewDocument', {
    source: firstAnswer(`const answer = await before(request, options)
    await new Promise((resume) => (globalThis.go = resume))
    return answer`),
  })
  await secondTab.reload()
  await secondTab.until('globalThis.go !== undefined', 'an answer that waits')
  await visitor.press('Log out', { role: 'button' })
  await visitor.heading(isAtLogin)
  await secondTab.page.evaluate('go()')
  await secondTab.heading(isAtLogin)
  await visitor.settled()
  await visitor.heading(isAtLogin)
})

test('a page that starts while another tab renews the session waits for it', async ({ open, app }) => {
  const shop = await app.merchant()
  const at = `s/${shop.shop.name}/orders`
  const visitor = await open({ as: shop, at })
  await visitor.heading('Orders')
  const secondTab = await open({ beside: visitor })
  await visitor.page.evaluate(
    `new Promise((held) => void navigator.locks.request('souk-console-session', () => (held(), new Promise((resume) => (globalThis.letGo = resume)))))`,
  )
  await secondTab.page.open('about:blank')
  secondTab.page.events.length = 0
  await secondTab.go(at)
  await secondTab.until(`document.querySelector('.splash') !== null`, 'that it loads')
  expect(secondTab.requests().filter((one) => one.startsWith('POST'))).toEqual([])
  await visitor.page.evaluate('letGo()')
  await secondTab.heading('Orders')
})

test('a browser without locks, as without TLS, starts and requests the session once', async ({ open, app }) => {
  const shop = await app.merchant()
  const at = `s/${shop.shop.name}/orders`
  const visitor = await open({ as: shop, at })
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: 'delete Navigator.prototype.locks' })
  await visitor.page.open('about:blank')
  visitor.page.events.length = 0
  await visitor.go(at)
  await visitor.heading('Orders')
  expect(await visitor.page.evaluate(`'locks' in navigator`)).toBe(false)
  expect(visitor.requests().filter((one) => one.startsWith('POST'))).toEqual(['POST /console/session 200'])
})
