/** Tests live updates of open pages, and what happens to dialogs, messages and typed text when pages change. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests, type OpenOptions } from '../support/console-tests.ts'
import type { ConsoleVisitor, Login } from '../support/console-visitor.ts'
import { approveBusiness } from '../support/kyb.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { invitePerson, staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { pollUntilFound } from '../support/visit.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({ fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 50 }) }) })

/** A script for the page: the event stream can be cut, and the next stream waits until it may begin. */
const cuttable = `{
  const before = globalThis.fetch
  const said = (globalThis.streams = [])
  let mayBegin = sessionStorage.getItem('waits') ? new Promise((resolve) => (globalThis.mend = resolve)) : Promise.resolve()
  globalThis.fetch = async (request, options) => {
    if (new URL(request.url ?? request, location.origin).pathname !== '/v2/events') return before(request, options)
    globalThis.isStreamAsked = true
    await mayBegin
    const stream = { from: options.headers['last-event-id'], isPlaced: false }
    said.push(stream)
    const answer = await before(request, options)
    const reader = answer.body.getReader()
    const pieces = new ReadableStream({
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        stream.isPlaced ||= new TextDecoder().decode(value).includes('id: ')
        controller.enqueue(value)
      },
      cancel: () => reader.cancel(),
    })
    globalThis.cut = () => {
      const { promise, resolve } = Promise.withResolvers()
      mayBegin = promise
      globalThis.mend = resolve
      reader.cancel()
    }
    return new Response(pieces, { status: answer.status, headers: answer.headers })
  }
}`

/** Opens the orders of a shop with a stream that can be cut, and waits for its first position. */
async function openCuttable(open: (options: OpenOptions) => Promise<ConsoleVisitor>, selling: Login & { shop: { name: string } }) {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: cuttable })
  await visitor.reload()
  await visitor.until('globalThis.streams?.[0]?.isPlaced === true', 'the stream has said where it is')
  await visitor.settled()
  return visitor
}

test('a shop without events misses nothing when its stream is cut', async ({ open, data: { selling } }) => {
  const visitor = await openCuttable(open, selling)
  await visitor.page.evaluate('cut()')
  const { number } = await selling.placeOrder()
  await visitor.page.evaluate('mend()')
  await visitor.until('globalThis.streams[1] !== undefined', 'the next stream')
  await visitor.there(`#${number}`, { role: 'link' })
  expect(await visitor.page.evaluate('streams.map(({ from }) => typeof from)')).toEqual(['string', 'string'])
})

/** A script for the page: lists of orders cannot be read until `readable` is called. */
const unreadable = `{
  const before = globalThis.fetch
  globalThis.readable = () => (globalThis.fetch = before)
  globalThis.fetch = async (request, options) => {
    if (new URL(request.url ?? request, location.origin).pathname === '/v2/orders') throw new TypeError('away')
    return before(request, options)
  }
}`

test('a failed read is repeated', async ({ open, data: { selling } }) => {
  const visitor = await openCuttable(open, selling)
  await visitor.page.evaluate(unreadable)
  const first = await selling.placeOrder()
  await visitor.text('Can’t reach the server')
  await visitor.page.evaluate('readable()')
  await visitor.there(`#${first.number}`, { role: 'link' })
  expect(await visitor.has('Can’t reach the server')).toBe(false)
  // The server is briefly unreachable: a read fails without a stream, and the stream returns before the next read.
  await visitor.page.evaluate(unreadable)
  await visitor.page.evaluate('cut()')
  await visitor.text('Can’t reach the server')
  const second = await selling.placeOrder()
  await visitor.page.evaluate('readable()')
  await visitor.page.evaluate('mend()')
  await visitor.there(`#${second.number}`, { role: 'link' })
  await visitor.gone('Can’t reach the server')
})

test('a login long after a logout shows later events only', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: cuttable })
  await visitor.reload()
  await visitor.until('globalThis.streams?.[0]?.isPlaced === true', 'the stream has said where it is')
  await visitor.press('Log out', { role: 'button' })
  await visitor.heading('Log in to souk')
  await visitor.page.evaluate(`{
    const [now, before] = [performance.now.bind(performance), globalThis.fetch]
    performance.now = () => now() + 61_000
    globalThis.fetch = async (request, options) => {
      const answer = await before(request, options)
      if (request === '/console/session' && options.method === 'POST') globalThis.standsAt = answer.headers.get('last-event-id')
      return answer
    }
  }`)
  await selling.placeOrder()
  await visitor.signIn(selling)
  await visitor.heading('Orders')
  await visitor.until('globalThis.streams[1] !== undefined', 'the next stream')
  expect(await visitor.page.evaluate('typeof standsAt')).toBe('string')
  expect(await visitor.page.evaluate('streams[1].from === standsAt && streams[1].from !== streams[0].from')).toBe(true)
})

test('events between the read of a page and its stream are shown, because the stream starts before the read', async ({
  open,
  data: { selling },
}) => {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: cuttable })
  await visitor.page.evaluate(`sessionStorage.setItem('waits', 'yes')`)
  await visitor.reload()
  // The sale must follow the read of the list: a later read would show it without a stream.
  await visitor.until('globalThis.isStreamAsked === true', 'the page that waits with its stream')
  await visitor.heading('Orders')
  await visitor.settled()
  const { number } = await selling.placeOrder()
  await visitor.page.evaluate('mend()')
  await visitor.there(`#${number}`, { role: 'link' })
  expect(await visitor.page.evaluate('streams.map(({ from }) => typeof from)')).toEqual(['string'])
})

test('text in a dialog stays behind the login, which can be used', async ({ open, app, data: { selling } }) => {
  const { id } = await selling.placeOrder()
  const at = `s/${selling.shop.name}/orders/${id}`
  const visitor = await open({ as: selling, at: `${at}?do=cancel` })
  await visitor.there(/^Cancel order/, { role: 'dialog' })
  await visitor.keyFill(/^Reason/, 'They called')
  const { email, password } = selling
  const login = async () => ok(await app.call('POST', '/merchant/login', { body: { email, password } })).body.data.accessToken
  await app.call('DELETE', '/auth/sessions', { token: await login() })
  visitor.expects(/^(GET|POST) \S+ 401/)
  await visitor.keyPress('Cancel order', { role: 'button' })
  await visitor.heading('Log in to souk')
  expect(await visitor.has('They called')).toBe(false)
  await visitor.keyFill('Email', email)
  await visitor.keyFill('Password', password)
  await visitor.key('Enter')
  await visitor.there(/^Cancel order/, { role: 'dialog' })
  expect(await visitor.value(/^Reason/)).toBe('They called')
  // The focus is in the dialog again, and Escape asks for confirmation.
  await visitor.key('Escape')
  await visitor.there('Leave without saving?', { role: 'dialog' })
  await visitor.press('Leave')
})

test('a write with a lost response is reported as unknown and applied once', async ({ open, data: { selling } }) => {
  const { id } = await selling.placeOrder()
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders/${id}` })
  await visitor.fill('Note', 'Gift wrapped', { role: 'textbox' })
  await visitor.page.evaluate(`{
    const before = globalThis.fetch
    globalThis.fetch = async (request, ...more) => {
      const answer = await before(request, ...more)
      if (request.method !== 'POST') return answer
      globalThis.fetch = before
      throw new TypeError('lost')
    }
  }`)
  await visitor.press('Add note', { role: 'button' })
  await visitor.text('No answer from the server')
  await visitor.press('Add note', { role: 'button' })
  await visitor.text('Already done by an earlier attempt')
  const { notes } = await selling.order(id)
  expect(notes).toMatchObject([{ text: 'Gift wrapped' }])
})

test('a confirmation on one page does not apply to another', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.press('API keys')
  await visitor.heading('API keys')
  await visitor.press('Roll key', { role: 'button' })
  await visitor.there(/./, { role: 'dialog' })
  await visitor.back()
  await visitor.heading('Orders')
  await visitor.until(`document.querySelector('dialog') === null`, 'no question')
})

test('going back restores a list, and a page past its end says so', async ({ open, data: { selling } }) => {
  const { number } = await selling.placeOrder()
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders?paymentStatus=CAPTURED` })
  await visitor.press(`#${number}`, { role: 'link' })
  await visitor.heading(new RegExp(String(number)))
  await visitor.page.evaluate(`document.querySelector('a.back').click()`)
  await visitor.heading('Orders')
  expect(await visitor.path()).toEndWith('/orders?paymentStatus=CAPTURED')
  await visitor.go(`s/${selling.shop.name}/orders?page=999`)
  await visitor.text('Page 999 doesn’t exist')
  await visitor.press('Last page', { role: 'link' })
  await visitor.there(`#${number}`, { role: 'link' })
})

test('a session cookie of another site is not accepted', async ({ open, app, url, data: { selling } }) => {
  const attacker = await app.merchant()
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.reload()
  await visitor.heading('Orders')
  const { email, password } = attacker
  const otherSession = await fetch(`${url}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email, password }),
  })
  const [name = '', value = ''] = (otherSession.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? []
  await visitor.page.command('Network.setCookie', { name, value, url: `${url}/console/session`, path: '/console/session' })
  await visitor.reload()
  await visitor.heading('Log in to souk')
  await visitor.settled()
  expect(await visitor.has(attacker.shop.name)).toBe(false)
})

test('a plot fits a screen that became narrower', async ({ open, app, data: { selling } }) => {
  await selling.placeOrder()
  const visitor = await open({ as: await app.superAdmin(), at: 'net/figures/gmv' })
  await visitor.until(`document.querySelector('.drawing canvas') !== null`, 'the plot')
  await visitor.settled()
  await visitor.width('phone')
  await visitor.settled()
  await visitor.until(
    `document.querySelector('.drawing canvas').getBoundingClientRect().right <= document.documentElement.clientWidth`,
    'a plot as wide as there is room',
  )
  expect(await visitor.axe()).toEqual([])
})

test('the home of a shop loads without the chart library, until the pointer is over a chart', async ({ open, data: { selling } }) => {
  await selling.placeOrder()
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}` })
  await visitor.until(`document.querySelectorAll('.sketch path').length === 3`, 'sales with refunds, and orders')
  expect(await visitor.page.evaluate(`document.querySelector('.legend').innerText.split('\\n')`)).toEqual(['Net sales', 'Refunds'])
  const hasStream = () => pollUntilFound(async () => visitor.requests().includes('GET /v2/events 200'))
  await hasStream()
  await visitor.settled()
  // The page requests the session once, and each record once.
  visitor.page.events.length = 0
  await visitor.reload()
  await hasStream()
  await visitor.settled()
  expect(visitor.requests().filter((one) => !one.includes('/console/assets/') && !one.includes('favicon'))).toEqual([
    `GET /console/s/${selling.shop.name} 200`,
    'POST /console/session 200',
    'GET /shops/v2/overview 200',
    'GET /v2/events 200',
  ])
  // Later data is shown as well.
  const toSend = `Number(/(\\d+)\\s+orders? to fulfil/.exec(document.body.innerText)?.[1])`
  const waiting = Number(await visitor.page.evaluate(toSend))
  await selling.placeOrder()
  await visitor.until(`${toSend} === ${waiting + 1}`, 'one more order to send')
  const before = new Set(visitor.requests())
  expect(await visitor.axe()).toEqual([])
  const { x, y } = (await visitor.page.evaluate(`(() => {
    const plot = document.querySelector('.plot')
    plot.scrollIntoView({ block: 'center', behavior: 'instant' })
    const { x, y, width, height } = plot.getBoundingClientRect()
    return { x: x + width / 2, y: y + height / 2 }
  })()`)) as { x: number; y: number }
  await visitor.page.command('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y })
  await visitor.until(`document.querySelector('.plot .drawing canvas') !== null`, 'the plot that one points at')
  expect(visitor.requests().filter((one) => one.includes('/console/assets/') && !before.has(one))).toHaveLength(1)
})

test('an open page shows that its shop was suspended, restored or went live, and a change of the own role', async ({ open, app }) => {
  const [selling, operator] = [await sellingIn(app), await app.superAdmin()]
  await approveBusiness(app, selling, operator)
  const manager = await staffOf(app, selling, 'MANAGER')
  const at = `s/${selling.shop.name}`
  const [owner, managerTab] = [await open({ as: selling, at: `${at}/settings/keys` }), await open({ as: manager, at })]
  await owner.text('Test mode: no real money')
  for (const visitor of [owner, managerTab]) await pollUntilFound(async () => visitor.requests().includes('GET /v2/events 200'))
  const shopIs = (status: string) =>
    app.call('PATCH', `/admin/shops/${selling.shop.id}`, { token: operator.token, body: { status } }).then((answer) => ok(answer))
  await shopIs('SUSPENDED')
  await owner.text('This shop is suspended')
  await managerTab.text('This shop is suspended')
  await shopIs('KYB_VERIFIED')
  await owner.until(`!document.body.innerText.includes('This shop is suspended')`, 'a shop that is restored')
  const live = ok(await app.call('POST', '/shops/v2/go-live', { token: selling.token })).body
  for (const visitor of [owner, managerTab])
    await visitor.until(`!document.body.innerText.includes('Test mode: no real money')`, 'a shop that is live')
  await owner.text(live.publishableKey)

  // A changed role requires a new authorisation, which ends the stream.
  await managerTab.page.command('Page.addScriptToEvaluateOnNewDocument', { source: cuttable })
  await managerTab.reload()
  await managerTab.until('globalThis.streams?.[0]?.isPlaced === true', 'the stream has said where it is')
  await managerTab.there('Shipping', { role: 'link' })
  ok(await app.call('PATCH', `/shops/v2/staff/${manager.staffId}`, { token: selling.token, body: { role: 'READ_ONLY' } }))
  await managerTab.page.evaluate('cut()')
  await managerTab.page.evaluate('mend()')
  await managerTab.until(
    `![...document.querySelectorAll('nav a')].some(({ innerText }) => innerText.includes('Shipping'))`,
    'the menu of a reader',
  )
})

test('a list without live events is read again when a user returns to it', async ({ open, data: { selling } }) => {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/customers` })
  await visitor.heading('Customers')
  await visitor.settled()
  await visitor.page.evaluate(`{
    const now = performance.now.bind(performance)
    globalThis.looks = (how, later) => {
      performance.now = () => now() + later
      Object.defineProperty(document, 'visibilityState', { configurable: true, value: how })
      document.dispatchEvent(new Event('visibilitychange'))
    }
    looks('hidden', 0)
  }`)
  ok(await selling.post('/customer', { email: 'meanwhile@example.com' }), 201)
  await visitor.page.evaluate(`looks('visible', 10_000)`)
  await visitor.text('meanwhile@example.com')
})

test('switching to another shop shows its current state, although the stream continues from the previous shop', async ({ open, app }) => {
  const [ownShop, operator] = [await sellingIn(app), await app.superAdmin()]
  const other = await sellingIn(app)
  const managerOfBoth = await staffOf(app, other, 'MANAGER')
  const { token } = await invitePerson(app, ownShop, 'MANAGER', managerOfBoth.email)
  ok(await app.call('POST', '/auth/invitation', { body: { token, password: managerOfBoth.password } }))
  const visitor = await open({ as: managerOfBoth, at: `s/${ownShop.shop.name}` })
  await visitor.until(`document.querySelector('main h1') !== null`, 'the home of a shop')
  await pollUntilFound(async () => visitor.requests().includes('GET /v2/events 200'))
  ok(await app.call('PATCH', `/admin/shops/${other.shop.id}`, { token: operator.token, body: { status: 'SUSPENDED' } }))
  await visitor.settled()
  expect(await visitor.has('This shop is suspended')).toBe(false)
  await visitor.page.evaluate(`{
    const link = Object.assign(document.createElement('a'), { href: '/console/s/${other.shop.name}' })
    document.body.append(link)
    link.click()
  }`)
  await visitor.text('This shop is suspended')
})

test('of many tabs of one browser three hold a stream, so that every tab has connections and shows events', async ({
  open,
  app,
  data: { selling },
}) => {
  const at = `s/${selling.shop.name}/orders`
  const first = await open({ as: selling, at })
  const tabs = [first]
  for (let nth = 0; nth < 7; nth++) tabs.push(await open({ beside: first, at }))
  const streams = () => app.deps.live.figures().shop
  expect(await pollUntilFound(async () => streams() === 3)).toBe(true)
  const { number } = await selling.placeOrder()
  for (const tab of tabs) await tab.text(`#${number}`)
  expect(streams()).toBe(3)
  await tabs[7]?.press('Products', { role: 'link' })
  await tabs[7]?.heading('Products')
})
