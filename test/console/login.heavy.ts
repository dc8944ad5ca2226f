/** Who comes in, who is put out, and what becomes of what they typed meanwhile. */
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
  // Its stream may begin before that or after it.
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
  // What was refused of the session before is no refusal any more.
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
  // That of the step at hand is used up.
  await visitor.type(codeAt(secret, clock.now(), 1))
  await visitor.key('Enter')
  await visitor.heading('Orders')
})

test('another account in a second tab inherits nothing', async ({ open, app }) => {
  const [first, second] = [await app.merchant(), await app.merchant()]
  const visitor = await open({ as: first, at: `s/${first.shop.name}/products/new` })
  await visitor.keyFill('Title', 'Of the first')
  const beside = await open({ beside: visitor })
  await beside.heading(/./)
  await beside.press('Log out', { role: 'button' })
  await visitor.heading('Log in to souk')
  await beside.keyFill('Email', second.email)
  await beside.keyFill('Password', second.password)
  await beside.key('Enter')
  await beside.until(`!document.querySelector('input[type=password]')`, 'the second is in')
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

test('a screen that does not come while somebody logs in takes nothing from them, and comes by itself once they are in', async ({
  open,
  app,
}) => {
  const shop = await app.merchant()
  const at = `s/${shop.shop.name}`
  const before = await open({ as: shop, at: `${at}/orders` })
  await before.heading('Orders')
  await before.settled()
  const known = new Set(before.requests())
  await before.press('Discounts')
  await before.heading('Discounts')
  const parts = before.requests().flatMap((one) => (known.has(one) ? [] : (/^GET (\/console\/assets\/\S+\.js) /.exec(one)?.[1] ?? [])))
  expect(parts).not.toEqual([])

  const visitor = await open()
  await visitor.heading('Log in to souk')
  const block = (urls: readonly string[]) => visitor.page.command('Network.setBlockedURLs', { urls })
  await block(parts.map((part) => `*${part}`))
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

test('a page whose files do not come, or do not run, says so in every language, and says nothing of it where they do', async ({ open }) => {
  const visitor = await open()
  await visitor.heading('Log in to souk')
  const { command, evaluate } = visitor.page
  expect(await evaluate(`document.querySelector('.not-begun')`)).toBeNull()
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

  // At once if the browser reports that they are missing,
  for (const file of [main, core]) {
    await reload(file)
    await saysSo()
  }
  expect(await visitor.axe()).toEqual([])
  // also where it is not the first script that sees it,
  await reload(begin, main)
  await saysSo()

  // or that they do not run: here in a browser that lacks something they take for granted.
  visitor.expects(/BroadcastChannel is not a constructor/)
  const { identifier } = await command('Page.addScriptToEvaluateOnNewDocument', { source: 'globalThis.BroadcastChannel = undefined' })
  await reload()
  await saysSo()
  // The page may know before the browser has told of it, and to another page it would not tell.
  const isTold = async () => visitor.page.events.some(({ params }) => JSON.stringify(params).includes('BroadcastChannel is not'))
  expect(await pollUntilFound(isTold)).toBe(true)
  await command('Page.removeScriptToEvaluateOnNewDocument', { identifier })

  // By itself, after a while, where there is no script that could say it.
  await reload(begin, late)
  await visitor.until(`document.querySelector('.not-begun')?.getAnimations().length === 1`, 'a page that waits')
  expect(await evaluate(`getComputedStyle(document.querySelector('.not-begun')).visibility`)).toBe('hidden')
  await evaluate(`document.querySelector('.not-begun').getAnimations()[0].finish()`)
  await saysSo()

  await reload()
  await visitor.heading('Log in to souk')
})

test('without the script that asks ahead, or while that does not come, the page asks by itself', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  const { command, evaluate, events } = visitor.page
  const begin = new URL((await evaluate(`document.scripts[0].src`)) as string).pathname
  await command('Network.setCacheDisabled', { cacheDisabled: true })
  const again = async () => {
    await evaluate('globalThis.isBefore = true')
    await command('Page.reload')
    await visitor.until('!globalThis.isBefore', 'the page anew')
    await visitor.heading('Orders')
  }
  visitor.expects(/^GET \/console\/assets\/bootstrap-\S+\.js inspector/)
  await command('Network.setBlockedURLs', { urls: [`*${begin}`] })
  await again()
  await command('Network.setBlockedURLs', { urls: [] })

  await command('Fetch.enable', { patterns: [{ urlPattern: `*${begin}` }] })
  await again()
  // Where it comes after all, it asks for nothing more.
  const asked = () => visitor.requests().filter((one) => one.startsWith('POST /console/session ')).length
  const before = asked()
  const held = events.filter(({ method }) => method === 'Fetch.requestPaused')
  expect(held.length).toBe(1)
  await evaluate(`document.scripts[0].addEventListener('load', () => { globalThis.isLate = true })`)
  for (const { params } of held) await command('Fetch.continueRequest', { requestId: params['requestId'] })
  await visitor.until('globalThis.isLate === true', 'the script that came late')
  await command('Fetch.disable')
  await visitor.settled()
  expect(asked()).toBe(before)
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
  const held = () => events.filter(({ method }) => method === 'Fetch.requestPaused')
  await visitor.press('Discounts')
  await visitor.until(`document.querySelector('.coming.on') !== null`, 'a sign that it is on its way')
  for (const { params } of held()) await command('Fetch.continueRequest', { requestId: params['requestId'] })
  await command('Fetch.disable')
  await visitor.heading('Discounts')
  expect(await evaluate(`document.querySelector('.coming.on')`)).toBeNull()

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
  // It is asked for again by itself; whoever presses first may find the button gone.
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

test('a merchant at an operator page is told and can go home', async ({ open, shop }) => {
  const visitor = await open({ as: shop, at: 'net/jobs' })
  await visitor.text('Only the administrator of this installation can see these pages.')
  expect(await visitor.has('Ask the shop’s owner to change your role')).toBe(false)
  await visitor.press('Home', { role: 'link' })
  await visitor.until(`location.pathname === '/console/s/${shop.shop.name}'`, 'their shop')
})

test('a removed staff member is told while working', async ({ open, app, shop }) => {
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
