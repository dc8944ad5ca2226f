/** What pages follow while they are open, and what becomes of what was asked, said or typed when they change. */
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

/** In the page, before anything else: the stream of events can be cut, and the next one waits until it may begin. */
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

/** Opens the orders of a shop, whose stream can be cut and has said where it is. */
async function openCuttable(open: (options: OpenOptions) => Promise<ConsoleVisitor>, selling: Login & { shop: { name: string } }) {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: cuttable })
  await visitor.reload()
  await visitor.until('globalThis.streams?.[0]?.isPlaced === true', 'the stream has said where it is')
  await visitor.settled()
  return visitor
}

test('a shop in which nothing has happened misses nothing when its stream is cut', async ({ open, data: { selling } }) => {
  const visitor = await openCuttable(open, selling)
  await visitor.page.evaluate('cut()')
  const { number } = await selling.placeOrder()
  await visitor.page.evaluate('mend()')
  await visitor.until('globalThis.streams[1] !== undefined', 'the next stream')
  await visitor.there(`#${number}`, { role: 'link' })
  expect(await visitor.page.evaluate('streams.map(({ from }) => typeof from)')).toEqual(['string', 'string'])
})

/** In the page: lists of orders cannot be read until it says so. */
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
  // The server away and back: a read fails while there is no stream, and the stream is back before the next one.
  await visitor.page.evaluate(unreadable)
  await visitor.page.evaluate('cut()')
  await visitor.text('Can’t reach the server')
  const second = await selling.placeOrder()
  await visitor.page.evaluate('readable()')
  await visitor.page.evaluate('mend()')
  await visitor.there(`#${second.number}`, { role: 'link' })
  await visitor.gone('Can’t reach the server')
})

test('whoever logs in long after somebody has left is told what happens from then on, and nothing from before', async ({
  open,
  data: { selling },
}) => {
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

test('what happens between the reading of a page and its stream of events is shown, by a stream that goes on from before the reading', async ({
  open,
  data: { selling },
}) => {
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.page.command('Page.addScriptToEvaluateOnNewDocument', { source: cuttable })
  await visitor.page.evaluate(`sessionStorage.setItem('waits', 'yes')`)
  await visitor.reload()
  // Not before: a list that is read only after the sale shows it without a stream.
  await visitor.until('globalThis.isStreamAsked === true', 'the page that waits with its stream')
  await visitor.heading('Orders')
  await visitor.settled()
  const { number } = await selling.placeOrder()
  await visitor.page.evaluate('mend()')
  await visitor.there(`#${number}`, { role: 'link' })
  expect(await visitor.page.evaluate('streams.map(({ from }) => typeof from)')).toEqual(['string'])
})

test('what is typed into a window stays behind the login, which can be used', async ({ open, app, data: { selling } }) => {
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

test('a question about one page is not answered on another', async ({ open, data: { selling } }) => {
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
  const begun = await fetch(`${url}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email, password }),
  })
  const [name = '', value = ''] = (begun.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? []
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

test('the home of a shop comes without the library that draws, until one points at a plot', async ({ open, data: { selling } }) => {
  await selling.placeOrder()
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}` })
  await visitor.until(`document.querySelectorAll('.sketch path').length === 3`, 'sales with refunds, and orders')
  const hasStream = () => pollUntilFound(async () => visitor.requests().includes('GET /v2/events 200'))
  await hasStream()
  await visitor.settled()
  // It asks once who is there, and once for what it shows, however early.
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
  // And what came first is not all that it ever shows.
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

test('a page that stays open shows that its shop was suspended, restored, went live, and what one may there by now', async ({
  open,
  app,
}) => {
  const [selling, operator] = [await sellingIn(app), await app.superAdmin()]
  await approveBusiness(app, selling, operator)
  const manager = await staffOf(app, selling, 'MANAGER')
  const at = `s/${selling.shop.name}`
  const [owner, beside] = [await open({ as: selling, at: `${at}/settings/keys` }), await open({ as: manager, at })]
  await owner.text('Test mode: no real money')
  for (const visitor of [owner, beside]) await pollUntilFound(async () => visitor.requests().includes('GET /v2/events 200'))
  const shopIs = (status: string) =>
    app.call('PATCH', `/admin/shops/${selling.shop.id}`, { token: operator.token, body: { status } }).then((answer) => ok(answer))
  await shopIs('SUSPENDED')
  await owner.text('This shop is suspended')
  await beside.text('This shop is suspended')
  await shopIs('KYB_VERIFIED')
  await owner.until(`!document.body.innerText.includes('This shop is suspended')`, 'a shop that is restored')
  const live = ok(await app.call('POST', '/shops/v2/go-live', { token: selling.token })).body
  for (const visitor of [owner, beside])
    await visitor.until(`!document.body.innerText.includes('Test mode: no real money')`, 'a shop that is live')
  await owner.text(live.publishableKey)

  // A changed role requires a new authorisation, which ends the stream.
  await beside.page.command('Page.addScriptToEvaluateOnNewDocument', { source: cuttable })
  await beside.reload()
  await beside.until('globalThis.streams?.[0]?.isPlaced === true', 'the stream has said where it is')
  await beside.there('Shipping', { role: 'link' })
  ok(await app.call('PATCH', `/shops/v2/staff/${manager.staffId}`, { token: selling.token, body: { role: 'READ_ONLY' } }))
  await beside.page.evaluate('cut()')
  await beside.page.evaluate('mend()')
  await beside.until(
    `![...document.querySelectorAll('nav a')].some(({ innerText }) => innerText.includes('Shipping'))`,
    'the menu of a reader',
  )
})

test('a list of what changes without being told of is read anew by whoever comes back to it', async ({ open, data: { selling } }) => {
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

test('whoever goes to another of their shops sees how that is by now, though its stream goes on from the one before', async ({
  open,
  app,
}) => {
  const [mine, operator] = [await sellingIn(app), await app.superAdmin()]
  const other = await sellingIn(app)
  const both = await staffOf(app, other, 'MANAGER')
  const { token } = await invitePerson(app, mine, 'MANAGER', both.email)
  ok(await app.call('POST', '/auth/invitation', { body: { token, password: both.password } }))
  const visitor = await open({ as: both, at: `s/${mine.shop.name}` })
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

test('of many tabs of one browser three hold a stream, which leaves connections to all: each works, and shows what happens', async ({
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
