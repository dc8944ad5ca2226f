/** Tests logins, ended sessions, and what happens to typed text. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { ok } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { beginTotp, codeAt } from '../support/totp.ts'
import { pollUntilFound } from '../support/visit.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests()

test('a session that ends in the middle of an edit keeps what was typed behind the login', async ({ open, app }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings` })
  await visitor.keyFill('Shop name', 'A long thought')
  await app.call('DELETE', '/auth/sessions', { token: shop.token })
  // The stream may start before or after the session ends.
  visitor.expects(/^(PATCH \/shops\/v2|GET \/v2\/events) 401/)
  await visitor.keyPress('Save', { role: 'button' })
  await visitor.heading('Log in to souk')
  await visitor.text('Your session has expired. Log in again.')
  expect(await visitor.has('A long thought')).toBe(false)
  await visitor.keyFill('Email', shop.email)
  await visitor.keyFill('Password', shop.password)
  await visitor.key('Enter')
  await visitor.heading('Shop details')
  expect(await visitor.value('Shop name')).toBe('A long thought')
  // The error of the ended session is no longer shown.
  expect(await visitor.has('Something went wrong')).toBe(false)
})

test('the login asks for the second factor and focuses its field', async ({ open, app, clock }) => {
  const shop = await app.merchant()
  const secret = await beginTotp(app, shop)
  ok(await app.call('POST', '/auth/totp/confirm', { token: shop.token, body: { code: codeAt(secret, clock.now()) } }))
  const visitor = await open({ at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Log in to souk')
  await visitor.keyFill('Email', shop.email)
  await visitor.keyFill('Password', shop.password)
  await visitor.key('Enter')
  await visitor.keyboardAt('Authentication code', { role: 'textbox' })
  await visitor.text('Enter the code from your authenticator app.')
  expect(await visitor.axe()).toEqual([])
  // The code of the current step is used up.
  await visitor.type(codeAt(secret, clock.now(), 1))
  await visitor.key('Enter')
  await visitor.heading('Orders')
})

test('another account in a second tab inherits nothing', async ({ open, app }) => {
  const [first, second] = [await app.merchant(), await app.merchant()]
  const visitor = await open({ as: first, at: `s/${first.shop.name}/products/new` })
  await visitor.keyFill('Title', 'Of the first')
  const secondTab = await open({ beside: visitor })
  await secondTab.heading(/./)
  await secondTab.press('Log out', { role: 'button' })
  await visitor.heading('Log in to souk')
  await secondTab.keyFill('Email', second.email)
  await secondTab.keyFill('Password', second.password)
  await secondTab.key('Enter')
  await secondTab.until(`!document.querySelector('input[type=password]')`, 'the second is in')
  await visitor.until(`!document.querySelector('input[type=password]')`, 'the page follows')
  expect(await visitor.has('Of the first')).toBe(false)
})

test('a screen that fails to load shows an error and recovers', async ({ open, app }) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  visitor.expects(/ERR_INTERNET_DISCONNECTED/)
  await visitor.offline(true)
  await visitor.press('Discounts')
  await visitor.text('Can’t reach the server')
  await visitor.heading('Something went wrong')
  await visitor.offline(false)
  // The page checks periodically without input.
  await visitor.heading('Discounts')
})

test('a screen that fails to load during a login does not disturb it, and loads by itself afterwards', async ({ open, app }) => {
  const shop = await app.merchant()
  const at = `s/${shop.shop.name}`
  const before = await open({ as: shop, at: `${at}/orders` })
  await before.heading('Orders')
  await before.settled()
  const loadedBefore = new Set(before.requests())
  await before.press('Discounts')
  await before.heading('Discounts')
  const screenFiles = before
    .requests()
    .flatMap((one) => (loadedBefore.has(one) ? [] : (/^GET (\/console\/assets\/\S+\.js) /.exec(one)?.[1] ?? [])))
  expect(screenFiles).not.toEqual([])

  const visitor = await open()
  await visitor.heading('Log in to souk')
  const block = (urls: readonly string[]) => visitor.page.command('Network.setBlockedURLs', { urls })
  await block(screenFiles.map((file) => `*${file}`))
  visitor.expects(/^GET \/console\/assets\/\S+\.js inspector/)
  await visitor.page.evaluate('globalThis.isBefore = true')
  await visitor.go(`${at}/discounts`)
  await visitor.until(`!globalThis.isBefore && document.querySelector('input[type=password]') !== null`, 'the login of that screen')
  await visitor.fill('Email', shop.email)
  await visitor.settled()
  expect(await visitor.page.evaluate(`performance.getEntriesByType('navigation')[0].type`)).toBe('navigate')
  expect(await visitor.value('Email')).toBe(shop.email)
  await block([])
  await visitor.fill('Password', shop.password)
  await visitor.key('Enter')
  await visitor.heading('Discounts')
  expect(await visitor.page.evaluate(`performance.getEntriesByType('navigation')[0].type`)).toBe('navigate')
})

test('a page whose files are missing or fail shows that in every language, and a working page does not', async ({ open }) => {
  const visitor = await open()
  await visitor.heading('Log in to souk')
  const { command, evaluate } = visitor.page
  expect(await evaluate(`document.querySelector('.startup-message')`)).toBeNull()
  const [begin, late] = (await evaluate(`[...document.scripts].map(({ src }) => src)`)) as [string, string]
  const main = (await evaluate(`location.origin + document.scripts[0].dataset.then`)) as string
  const core = (await evaluate(`document.querySelector('link[rel=modulepreload]').href`)) as string
  const texts = ['This page didn’t start.', 'لم تبدأ هذه الصفحة.', 'Энэ хуудас эхэлсэнгүй.']
  const saysSo = async () => {
    for (const text of texts) await visitor.text(text)
  }
  await command('Network.setCacheDisabled', { cacheDisabled: true })
  visitor.expects(/^GET \/console\/assets\/\S+\.js inspector/)
  visitor.expects(/Failed to fetch dynamically imported module/)
  const reload = async (...urls: string[]) => {
    await command('Network.setBlockedURLs', { urls: urls.map((url) => `*${new URL(url).pathname}`) })
    await evaluate('globalThis.isBefore = true')
    await command('Page.reload')
    await visitor.until(`!globalThis.isBefore && document.readyState !== 'loading'`, 'the page anew')
  }

  // The page shows it at once if the browser reports missing files,
  for (const file of [main, core]) {
    await reload(file)
    await saysSo()
  }
  expect(await visitor.axe()).toEqual([])
  // also if the first script is missing,
  await reload(begin, main)
  await saysSo()

  // or if a script fails, here because the browser lacks a required API.
  visitor.expects(/BroadcastChannel is not a constructor/)
  const { identifier } = await command('Page.addScriptToEvaluateOnNewDocument', { source: 'globalThis.BroadcastChannel = undefined' })
  await reload()
  await saysSo()
  // Waits for the browser's report, which would be lost after a reload.
  const isReported = async () => visitor.page.events.some(({ params }) => JSON.stringify(params).includes('BroadcastChannel is not'))
  expect(await pollUntilFound(isReported)).toBe(true)
  await command('Page.removeScriptToEvaluateOnNewDocument', { identifier })

  // Without any script, the message appears after a while.
  await reload(begin, late)
  await visitor.until(`document.querySelector('.startup-message')?.getAnimations().length === 1`, 'a page that waits')
  expect(await evaluate(`getComputedStyle(document.querySelector('.startup-message')).visibility`)).toBe('hidden')
  await evaluate(`document.querySelector('.startup-message').getAnimations()[0].finish()`)
  await saysSo()

  await reload()
  await visitor.heading('Log in to souk')
})

test('without the script that requests the session early, or while it loads, the page requests the session itself', async ({
  open,
  shop,
}) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  const { command, evaluate, events } = visitor.page
  const begin = new URL((await evaluate(`document.scripts[0].src`)) as string).pathname
  await command('Network.setCacheDisabled', { cacheDisabled: true })
  const reload = async () => {
    await evaluate('globalThis.isBefore = true')
    await command('Page.reload')
    await visitor.until('!globalThis.isBefore', 'the page anew')
    await visitor.heading('Orders')
  }
  visitor.expects(/^GET \/console\/assets\/bootstrap-\S+\.js inspector/)
  await command('Network.setBlockedURLs', { urls: [`*${begin}`] })
  await reload()
  await command('Network.setBlockedURLs', { urls: [] })

  await command('Fetch.enable', { patterns: [{ urlPattern: `*${begin}` }] })
  await reload()
  // If the script arrives later, it makes no further request.
  const countRequests = () => visitor.requests().filter((one) => one.startsWith('POST /console/session ')).length
  const before = countRequests()
  const pausedRequests = events.filter(({ method }) => method === 'Fetch.requestPaused')
  expect(pausedRequests.length).toBe(1)
  await evaluate(`document.scripts[0].addEventListener('load', () => { globalThis.isLate = true })`)
  for (const { params } of pausedRequests) await command('Fetch.continueRequest', { requestId: params['requestId'] })
  await visitor.until('globalThis.isLate === true', 'the script that came late')
  await command('Fetch.disable')
  await visitor.settled()
  expect(countRequests()).toBe(before)
})

test('the session is requested without a lock if the browser refuses or never grants it', async ({ open, shop }) => {
  for (const request of [
    `() => Promise.reject(new DOMException('No lock here', 'SecurityError'))`,
    `() => new Promise(() => undefined); { const before = setTimeout; setTimeout = (then, ms, ...more) => before(then, ms === 3_000 ? 50 : ms, ...more) }`,
    // The timeout passes at once.
    `(name, { signal }) => new Promise((_, refuse) => setTimeout(() => refuse(new DOMException('', signal ? 'TimeoutError' : 'AbortError'))))`,
  ]) {
    const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
    await visitor.heading('Orders')
    await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: `navigator.locks.request = ${request}` })
    await visitor.reload()
    await visitor.heading('Orders')
  }
})

test('a slow screen shows progress and finally an error', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.settled()
  const { command, evaluate, events } = visitor.page
  await command('Fetch.enable', { patterns: [{ urlPattern: '*/console/assets/*.js' }] })
  const pausedRequests = () => events.filter(({ method }) => method === 'Fetch.requestPaused')
  await visitor.press('Discounts')
  await visitor.until(`document.querySelector('.screen-loading.on') !== null`, 'a sign that it is on its way')
  for (const { params } of pausedRequests()) await command('Fetch.continueRequest', { requestId: params['requestId'] })
  await command('Fetch.disable')
  await visitor.heading('Discounts')
  expect(await evaluate(`document.querySelector('.screen-loading.on')`)).toBeNull()

  // The timeout passes at once, and the next one has started.
  await evaluate(`{
    sessionStorage.setItem('souk-console-reloaded', Date.now())
    const before = globalThis.setTimeout
    globalThis.setTimeout = (then, ms, ...more) => before(then, ms === 20_000 ? 500 : ms, ...more)
  }`)
  await command('Fetch.enable', { patterns: [{ urlPattern: '*/console/assets/*.js' }] })
  await visitor.press('Gift cards')
  await visitor.text('Can’t reach the server')
  await command('Fetch.disable')
  // The page retries by itself, so the button may already be gone.
  await visitor.heading('Gift cards')
})

test('without mails the password reset does not claim to have sent one', async ({ open, shop }) => {
  const visitor = await open()
  await visitor.heading('Log in to souk')
  await visitor.keyPress('Forgot your password?')
  await visitor.keyFill('Email', shop.email)
  await visitor.key('Enter')
  await visitor.text('This installation can’t send email.')
  expect(await visitor.axe()).toEqual([])
})

test('a merchant on an operator page sees a message and can go home', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: 'net/jobs' })
  await visitor.text('Only the administrator of this installation can see these pages.')
  expect(await visitor.has('Ask the shop’s owner to change your role')).toBe(false)
  await visitor.press('Home', { role: 'link' })
  await visitor.until(`location.pathname === '/console/s/${shop.shop.name}'`, 'their shop')
})

test('a removed staff member sees a message on the open page', async ({ open, app, shop }) => {
  const packer = await staffOf(app, shop, 'FULFILMENT')
  const visitor = await open({ as: packer, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.settled()
  visitor.expects(/^GET \/v2\/(events|orders\S*) 40[134]/)
  const { data } = ok(await app.call('GET', '/shops/v2/staff', { token: shop.token })).body
  const { id } = data.find(({ email }: { email: string }) => email === packer.email)
  await app.call('DELETE', `/shops/v2/staff/${id}`, { token: shop.token })
  await visitor.heading('You no longer have access to this shop')
  expect(await visitor.axe()).toEqual([])
})

test('the phone’s menu closes when the focus leaves it', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders`, width: 'phone' })
  await visitor.heading('Orders')
  await visitor.press('Menu', { role: 'button' })
  await visitor.tabTo('Appearance', { role: 'combobox' })
  expect(await visitor.page.evaluate(`document.querySelector('.frame.open') !== null`)).toBe(true)
  await visitor.key('Tab')
  await visitor.until(`document.querySelector('.frame.open') === null`, 'no menu')
  expect(await visitor.page.evaluate(`document.querySelector('main').contains(document.activeElement)`)).toBe(true)
})
