/** Compiles the storefront of docs/ and uses it in a real browser at two widths. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessorPayment } from '../../src/clients/processors/processor.ts'
import { passwordLength } from '../../src/modules/identity/auth/domain.ts'
import { insertAgentSession } from '../support/agent-sessions.ts'
import { chromium } from '../support/chromium.ts'
import { temporaryDir } from '../support/database.ts'
import { typesOf } from '../support/openapi-types.ts'
import { changeProcessor, confirmAtSandbox } from '../support/sandbox.ts'
import { ok } from '../support/selling.ts'
import { closeBrowser, type Shopper, shopper } from '../support/shopper.ts'
import { address, hostileTitle, type OpenShop, openShop } from '../support/storefront.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hasBrowser = chromium !== undefined
if (!hasBrowser) process.stderr.write('skipped: the storefront in a real browser, because there is no chromium on this machine\n')
const inBrowser = test.skipIf(!hasBrowser)
afterAll(closeBrowser)

/** Expects no browser error, and requests to the storefront and souk only. */
function expectNoErrors(visitor: Shopper, { origin, souk }: OpenShop): void {
  expect(visitor.complaints()).toEqual([])
  expect([...visitor.origins()].sort()).toEqual([origin, souk].sort())
}

async function fillAddress(visitor: Shopper, email?: string): Promise<void> {
  await visitor.heading('Checkout')
  if (email) await visitor.fill('Email', email)
  await visitor.fill('Name', 'Noor Haddad')
  await visitor.fill('Country', 'United States')
  await visitor.fill('Address', '1 Quay Street')
  await visitor.fill('City', 'Portland')
  await visitor.fill('State / province', 'Maine')
  await visitor.fill('Postal code', '04101')
}

describe('a guest on a phone', () => {
  inBrowser('searches, is declined, pays with another card, a discount and a gift card, and sees the order', async () => {
    await using shop = await openShop()
    const card = ok(await shop.shop.post('/giftcard', { amount: { amount: 1_000, currency: 'USD' } })).body
    await using visitor = await shopper(shop.origin, 'phone')
    await visitor.go('index.html')
    await visitor.heading('Souk & Söhne')
    await visitor.text(hostileTitle)
    expect(await visitor.breaches()).toEqual([])
    await visitor.fill('Search', 'lamp')
    await visitor.press('Search')
    await visitor.heading('Results for “lamp”')
    await visitor.text('1 product')
    await visitor.press('Filters')
    expect(await visitor.breaches()).toEqual([])
    await visitor.fill('Collection', 'Light')
    await visitor.fill('Price to (USD)', '20.50')
    await visitor.press('Show products', 'Filters')
    await visitor.heading('Light')
    await visitor.text('1 product')
    await visitor.press('Brass Lampfrom $20.00')
    await visitor.heading('Brass Lamp')
    await visitor.text('$20.00 · 5 left')
    await visitor.fill('Size', 'Large')
    await visitor.text('$35.00 · 3 left')
    await visitor.fill('Quantity', '2')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Add to cart')
    await visitor.press('Cart (2)')
    await visitor.heading('Your cart')
    await visitor.fill('Discount code', 'ten')
    await visitor.press('Apply', 'Discount')
    await visitor.text('Ten off −$7.00')
    await visitor.fill('Gift card code', card.code)
    await visitor.press('Apply', 'Gift cards')
    await visitor.text('Total due $53.00')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Check out')
    await fillAddress(visitor, 'guest@example.com')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Continue', 'Shipping address')
    await visitor.press('By courier · $12.00')
    await visitor.press('Continue', 'Shipping')
    await visitor.press('Test card (declined)')
    await visitor.press('Pay $65.00')
    await visitor.text('The payment was declined.')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Test card (approved)')
    await visitor.press('Pay $65.00')
    await visitor.heading('Order 1')
    await visitor.text('Thank you for your order')
    expect(await visitor.breaches()).toEqual([])
    expectNoErrors(visitor, shop)
    const { data } = ok(await shop.shop.get('/v2/orders')).body
    expect(data).toMatchObject([
      { status: 'CONFIRMED', email: 'guest@example.com', discountTotal: { amount: 700 }, giftCardTotal: { amount: 1_000 } },
    ])
    const [order] = data
    const link = String(await visitor.page.evaluate('location.search'))
    await visitor.back()
    await visitor.text('Your cart is empty.')
    for (const trackingNumber of ['P-1', 'P-2'])
      ok(
        await shop.shop.post(`/v2/orders/${order.id}/fulfilments`, {
          lines: [{ lineId: order.lines[0].id, quantity: 1 }],
          carrier: 'Swift',
          trackingNumber,
        }),
      )
    await visitor.go(`order.html${link}`)
    await visitor.text('Tracking Swift P-1')
    await visitor.text('Tracking Swift P-2')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Return items')
    await visitor.until(`document.querySelector('form[action*="/returns/"]') !== null`, 'the form for returns')
  })
})

describe('a cart of gift cards', () => {
  inBrowser('asks for an email address only, and for the shipping address once something is to be sent', async () => {
    await using shop = await openShop()
    const body = {
      title: 'Gift card',
      handle: 'gift-card',
      kind: 'GIFT_CARD',
      status: 'ACTIVE',
      variants: [{ price: { amount: 2_500, currency: 'USD' } }],
    }
    ok(await shop.shop.post('/product-v2', body), 201)
    await using visitor = await shopper(shop.origin, 'phone')
    await visitor.go('product.html?handle=gift-card')
    await visitor.press('Add to cart')
    await visitor.press('Cart (1)')
    await visitor.press('Check out')
    await visitor.heading('Checkout')
    await visitor.text('Contact information')
    expect(await visitor.page.evaluate(`[...document.querySelectorAll('main input, main select')].map(({ name }) => name).join()`)).toBe(
      'email',
    )
    await visitor.fill('Email', 'guest@example.com')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Continue', 'Contact information')
    await visitor.text('No shipping needed')
    expect(await visitor.breaches()).toEqual([])
    await visitor.go('product.html?handle=odd')
    await visitor.press('Add to cart')
    await visitor.press('Cart (2)')
    await visitor.press('Check out')
    await fillAddress(visitor)
    await visitor.press('Continue', 'Shipping address')
    await visitor.press('Continue', 'Shipping')
    await visitor.press('Pay $35.00')
    await visitor.heading('Order 1')
    expectNoErrors(visitor, shop)
  })
})

/** Places an earlier order as a guest. */
async function buyAsGuest({ app, shop }: OpenShop, email: string): Promise<void> {
  const { publishableKey: key, list } = shop
  const [product] = ok(await app.call('GET', `${list}?q=lamp`)).body.data
  const body = { email, shippingAddress: address, shippingMethod: 'post' }
  const { id } = ok(await app.call('POST', '/cart', { key, body })).body
  ok(await app.call('POST', `/cart/${id}/items`, { key, body: { variantId: product.variants[0].id, quantity: 1 } }))
  const { order } = ok(
    await app.call('POST', `/cart/${id}/checkout`, { key, body: { method: 'card' }, headers: { 'idempotency-key': 'guest' } }),
  ).body
  expect(order.status).toBe('CONFIRMED')
}

inBrowser('takes over the cart of an agent, and pays it; an ended link shows a message', async () => {
  await using shop = await openShop()
  const { app } = shop
  const { publishableKey: key, list } = shop.shop
  const [product] = ok(await app.call('GET', `${list}?q=lamp`)).body.data
  const { id } = ok(await app.call('POST', '/cart', { key, body: { email: 'ann@example.com' } })).body
  ok(await app.call('POST', `/cart/${id}/items`, { key, body: { variantId: product.variants[0].id, quantity: 1 } }))
  const session = await insertAgentSession(app, shop.shop.shop.id, id)
  await using visitor = await shopper(shop.origin, 'phone')
  await visitor.go(`handoff.html?token=${session.token}`)
  await fillAddress(visitor)
  expect(String(await visitor.page.evaluate('location.href'))).not.toContain(session.token)
  expect(await visitor.breaches()).toEqual([])
  await visitor.press('Continue', 'Shipping address')
  await visitor.press('By post · $5.00')
  await visitor.press('Continue', 'Shipping')
  await visitor.press('Test card (approved)')
  await visitor.press('Pay $25.00')
  await visitor.heading('Order 1')
  expectNoErrors(visitor, shop)
  await using secondVisitor = await shopper(shop.origin, 'desk')
  await secondVisitor.go(`handoff.html?token=${session.token}`)
  await secondVisitor.text('This link has expired.')
  expect(await secondVisitor.breaches()).toEqual([])
})

describe('a customer on a desktop', () => {
  inBrowser('signs up, verifies the address, sees earlier guest orders, and buys with a saved address', async () => {
    await using shop = await openShop()
    const email = 'noor@example.com'
    await buyAsGuest(shop, email)
    await using visitor = await shopper(shop.origin, 'desk')
    await visitor.go('account.html')
    await visitor.heading('Log in')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Create account')
    await visitor.heading('Create account')
    await visitor.fill('Name', 'Noor Haddad')
    await visitor.fill('Email', email)
    await visitor.fill('Password', 'a lamp of my own')
    expect(await visitor.page.evaluate(`document.querySelector('[name=password]').minLength`)).toBe(passwordLength.minLength)
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Create account', 'main')
    await visitor.text('No orders yet')
    await visitor.text('Verify your email')
    await visitor.go(await shop.mailedLink('verify'))
    await visitor.text('Thank you, your email is verified.')
    expect(await visitor.page.evaluate('location.search')).toBe('')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Your account', 'main')
    await visitor.text('Order 1')
    expect(await visitor.breaches()).toEqual([])
    await visitor.go('product.html?handle=odd')
    await visitor.press('Add to cart')
    await visitor.press('Cart (1)')
    await visitor.press('Check out')
    await visitor.heading('Checkout')
    expect([await visitor.value('Email'), await visitor.value('Name')]).toEqual([email, 'Noor Haddad'])
    await visitor.go('account.html')
    await visitor.press('Your addresses')
    await visitor.heading('Your addresses')
    await visitor.fill('Name', 'Noor at work')
    await visitor.fill('Country', 'United States')
    await visitor.fill('Address', hostileTitle)
    await visitor.fill('City', 'Portland')
    await visitor.press('Default address')
    await visitor.press('Save')
    await visitor.text(hostileTitle)
    expect(await visitor.breaches()).toEqual([])
    await visitor.go('checkout.html')
    await visitor.heading('Checkout')
    expect([await visitor.value('Email'), await visitor.value('Name'), await visitor.value('Address')]).toEqual([
      email,
      'Noor at work',
      hostileTitle,
    ])
    await visitor.press('Continue', 'Shipping address')
    await visitor.press('Continue', 'Shipping')
    await visitor.press('Pay $10.00')
    await visitor.heading('Order 2')
    await visitor.go(await shop.mailedLink('order'))
    await visitor.heading('Order 2')
    await visitor.press('Your account')
    await visitor.text('Order 2')
    await visitor.press('Log out')
    await visitor.heading('Souk & Söhne')
    expect(await visitor.page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')).toBe('[{},{}]')
    // The next user of the same computer sees nothing after going back.
    await visitor.back()
    await visitor.heading('Log in')
    expect(await visitor.has('Order 2')).toBe(false)
    expectNoErrors(visitor, shop)
  })

  inBrowser('resets the password with the link of the e-mail', async () => {
    await using shop = await openShop()
    const {
      app,
      shop: {
        shop: { name: shopName },
      },
    } = shop
    const email = 'noor@example.com'
    ok(await app.call('POST', '/customer/signup', { body: { shopName, email, password: 'the one before' } }))
    await using visitor = await shopper(shop.origin, 'phone')
    await visitor.go('login.html')
    await visitor.press('Forgot your password?')
    await visitor.heading('Forgot your password?')
    await visitor.fill('Email', email)
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Email me a link')
    await visitor.text('we sent it a link')
    await visitor.go(await shop.mailedLink('reset'))
    await visitor.heading('New password')
    expect(await visitor.page.evaluate('location.search')).toBe('')
    await visitor.fill('New password', 'the one after')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Save')
    await visitor.text('Password changed.')
    await visitor.press('Log in', 'main')
    await visitor.fill('Email', email)
    await visitor.fill('Password', 'the one after')
    await visitor.press('Log in', 'main')
    await visitor.heading('Your account')
    expectNoErrors(visitor, shop)
  })
})

describe('interruptions', () => {
  inBrowser('repeats a checkout with its key after a reload, and places one order', async () => {
    const keys: (string | null)[] = []
    let release = () => {}
    const untilReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    await using shop = await openShop({
      async between(request, answer) {
        if (request.method !== 'POST' || !request.url.endsWith('/checkout')) return answer()
        keys.push(request.headers.get('idempotency-key'))
        const answered = await answer()
        // The first response is lost, because the waiting page was closed.
        if (keys.length === 1) await untilReleased
        return answered
      },
    })
    await using visitor = await shopper(shop.origin)
    await visitor.go('product.html?handle=brass-lamp')
    await visitor.press('Add to cart')
    await visitor.press('Cart (1)')
    await visitor.press('Check out')
    await fillAddress(visitor, 'guest@example.com')
    await visitor.press('Continue', 'Shipping address')
    await visitor.press('Continue', 'Shipping')
    await visitor.press('Pay $25.00')
    await visitor.text('Processing your payment.')
    while (keys.length === 0) await Bun.sleep(10)
    await visitor.go('checkout.html')
    await visitor.heading('Order 1')
    release()
    expect(keys.length).toBe(2)
    expect(keys[1]).toBe(keys[0] ?? '')
    expect(ok(await shop.shop.get('/v2/orders')).body.total).toBe(1)
  })

  inBrowser('shows the order after a payment at a processor, and does not redirect again without one', async () => {
    await using shop = await openShop()
    const { app, origin } = shop
    const paid: string[] = []
    using bank = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch({ url, method }) {
        const paymentId = new URL(url).pathname.slice(1)
        const page = '<!doctype html><title>Bank</title><main><h1>Bank</h1><form method="post"><button>Pay</button></form></main>'
        if (method !== 'POST') return new Response(page, { headers: { 'content-type': 'text/html' } })
        paid.push(paymentId)
        await confirmAtSandbox(app, paymentId)
        // The processor is asked once in two seconds, by the clock of the test.
        app.clock.advance(3_000)
        return Response.redirect(`${origin}/checkout.html`, 303)
      },
    })
    /** A processor with its own page returns the page's URL with every status. */
    const withRedirect = (id: string, payment: ProcessorPayment): ProcessorPayment =>
      payment.state === 'REQUIRES_ACTION' ? { ...payment, clientParameters: { redirectUrl: `${bank.url}${id}` } } : payment
    changeProcessor(app, ({ create, retrieve }) => ({
      create: async (payment) => withRedirect(payment.paymentId, await create({ ...payment, token: 'tok_action' })),
      async retrieve(name) {
        const payment = await retrieve(name)
        return payment && withRedirect(name.paymentId, payment)
      },
    }))
    await using visitor = await shopper(origin, 'phone')
    await visitor.go('product.html?handle=odd')
    await visitor.press('Add to cart')
    await visitor.press('Cart (1)')
    await visitor.press('Check out')
    await fillAddress(visitor, 'guest@example.com')
    await visitor.press('Continue', 'Shipping address')
    await visitor.press('Continue', 'Shipping')
    await visitor.press('Pay $10.00')
    await visitor.heading('Bank')
    await visitor.go('cart.html')
    await visitor.text('Your order is awaiting payment.')
    // A shopper who returns from a bank's app may be in another tab.
    await visitor.page.evaluate('sessionStorage.clear()')
    await visitor.press('Continue to payment')
    await visitor.heading('Payment')
    await visitor.text('Edit cart')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Continue to payment')
    await visitor.heading('Bank')
    await visitor.press('Pay')
    await visitor.heading('Order 1')
    await visitor.text('Thank you for your order')
    expect(paid.length).toBe(1)
    expect(await visitor.page.evaluate('localStorage.length')).toBe(0)
  })

  inBrowser('shows errors with the request id: rate limits, unknown codes, missing products', async () => {
    await using shop = await openShop()
    await using visitor = await shopper(shop.origin, 'phone')
    await visitor.go('product.html?handle=nothing')
    await visitor.heading('Something went wrong')
    expect(await visitor.has(await lastRequestId(visitor))).toBe(true)
    expect(await visitor.breaches()).toEqual([])
    await visitor.go('product.html?handle=odd')
    await visitor.heading(hostileTitle)
    await visitor.fill('Quantity', '3')
    await visitor.press('Add to cart')
    await visitor.text('2 left')
    await visitor.until(`document.querySelector('[role=alert]')?.textContent.includes('2')`, 'how many are left, in the refusal')
    expect(await visitor.has(await lastRequestId(visitor))).toBe(true)
    await visitor.fill('Quantity', '2')
    await visitor.press('Add to cart')
    await visitor.press('Cart (2)')
    for (const [label, part] of [
      ['Discount code', 'Discount'],
      ['Gift card code', 'Gift cards'],
    ] as const) {
      await visitor.fill(label, 'NOSUCHCODE')
      await visitor.press('Apply', part)
      await visitor.until(`document.querySelectorAll('[role=alert]').length > ${part === 'Discount' ? 0 : 1}`, 'a refusal')
      await visitor.text('This code isn’t valid.')
    }
    expect(await visitor.breaches()).toEqual([])
    // The browser only reports error responses.
    expect(visitor.complaints().filter((one) => !/"source":"network"/.test(one))).toEqual([])
    await visitor.go('order.html')
    await visitor.text('Not found')
  })

  inBrowser('places an order to be paid by bank transfer, and shows how to pay', async () => {
    await using shop = await openShop()
    const manual = [{ code: 'bank', title: 'Bank transfer', instructions: 'IBAN DE00', expiresAfterDays: 7 }]
    ok(await shop.app.call('PUT', '/shops/v2/payment-methods', { token: shop.shop.token, body: { manual } }))
    await using visitor = await shopper(shop.origin)
    await visitor.go('product.html?handle=odd')
    await visitor.press('Add to cart')
    await visitor.press('Cart (1)')
    await visitor.press('Check out')
    await fillAddress(visitor, 'guest@example.com')
    await visitor.press('Continue', 'Shipping address')
    await visitor.press('Continue', 'Shipping')
    await visitor.press('Test card (approved)')
    await visitor.until(`[...document.querySelectorAll('button')].some((button) => button.textContent === 'Pay $10.00')`, 'the button')
    await visitor.press('Bank transfer')
    await visitor.press('Place order')
    await visitor.text('IBAN DE00')
    expect(await visitor.breaches()).toEqual([])
  })

  inBrowser('shows a price that rose during the checkout before it charges', async () => {
    await using shop = await openShop()
    await using visitor = await shopper(shop.origin)
    await visitor.go('product.html?handle=odd')
    await visitor.press('Add to cart')
    await visitor.press('Cart (1)')
    await visitor.press('Check out')
    await fillAddress(visitor, 'guest@example.com')
    await visitor.press('Continue', 'Shipping address')
    await visitor.press('Continue', 'Shipping')
    await visitor.until(`[...document.querySelectorAll('button')].some((button) => button.textContent === 'Pay $10.00')`, 'the button')
    const [product] = ok(await shop.app.call('GET', `${shop.shop.list}?q=alert`)).body.data
    const [variant] = product.variants
    const price = { amount: 700, currency: 'USD' }
    ok(await shop.shop.patch(`/product-v2/${product.id}`, { variants: [{ id: variant.id, price }] }))
    await visitor.press('Pay $10.00')
    await visitor.until(`document.querySelector('[role=alert]')?.textContent.includes('changed')`, 'what has changed')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Pay $12.00')
    await visitor.heading('Order 1')
  })

  inBrowser('refreshes an expired token once, and shows the login after the session ended', async () => {
    const refreshed: string[] = []
    await using shop = await openShop({
      between(request, answer) {
        if (request.method === 'POST' && request.url.endsWith('/auth/refresh')) refreshed.push(request.url)
        return answer()
      },
    })
    const login = { shopName: shop.shop.shop.name, email: 'noor@example.com', password: 'a lamp of my own' }
    ok(await shop.app.call('POST', '/customer/signup', { body: login }))
    await using visitor = await shopper(shop.origin)
    await visitor.go('login.html')
    await visitor.fill('Email', login.email)
    await visitor.fill('Password', login.password)
    await visitor.press('Log in', 'main')
    await visitor.heading('Your account')
    shop.app.clock.advance(2 * 60 * 60_000)
    await visitor.go('account.html')
    await visitor.until(`document.querySelector('main h2')`, 'the account')
    expect(refreshed.length).toBe(1)
    const { refreshToken } = JSON.parse(String(await visitor.page.evaluate(`sessionStorage.getItem('souk.session')`)))
    ok(await shop.app.call('POST', '/auth/logout', { body: { refreshToken } }), 204)
    await visitor.go('account.html')
    await visitor.heading('Log in')
  })
})

/** Returns the request id of the last error response. */
async function lastRequestId({ page }: Shopper): Promise<string> {
  const answers = page.events.filter(({ method }) => method === 'Network.responseReceived').map(({ params }) => params['response'])
  const refused = (answers as { status: number; headers: Record<string, string> }[]).filter(({ status }) => status >= 400).at(-1)
  const id = refused?.headers['x-request-id']
  if (!id) throw new Error('no refusal')
  return id
}

inBrowser('lays out an Arabic shop right to left, and translates a Mongolian one', async () => {
  await using shop = await openShop({ language: 'ar' })
  await using visitor = await shopper(shop.origin, 'phone')
  await visitor.go('index.html')
  await visitor.heading('Souk & Söhne')
  expect(await visitor.page.evaluate(`[document.documentElement.lang, document.documentElement.dir].join()`)).toBe('ar,rtl')
  expect(await visitor.breaches()).toEqual([])
  await visitor.go('product.html?handle=brass-lamp')
  await visitor.press('إضافة إلى السلة')
  await visitor.press('السلة (1)')
  await visitor.heading('سلتك')
  expect(await visitor.breaches()).toEqual([])
  await visitor.press('إتمام الشراء')
  await visitor.fill('البلد', 'الولايات المتحدة')
  ok(await shop.app.call('PUT', '/shops/v2/mail', { token: shop.shop.token, body: { language: 'mn' } }))
  await visitor.go('cart.html')
  await visitor.heading('Таны сагс')
  expectNoErrors(visitor, shop)
})

inBrowser('the checks notice a violated policy, foreign requests, overflow and covered buttons', async () => {
  const policy = "default-src 'self'; img-src *"
  const html = `<!doctype html><title>x</title><style>h1 { color: red }</style><main><h1>x</h1><button>Under</button>
    <svg width="2000" height="40" style="position: absolute"></svg><img src="http://other.invalid/x.png"></main>
    <link rel="stylesheet" href="over.css">`
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      url.endsWith('over.css')
        ? new Response('main::after { content: ""; position: fixed; inset: 0 }', { headers: { 'content-type': 'text/css' } })
        : new Response(html, { headers: { 'content-type': 'text/html', 'content-security-policy': policy } }),
  })
  await using visitor = await shopper(server.url.origin, 'phone')
  await visitor.go('')
  await visitor.heading('x')
  await visitor.until(`document.readyState === 'complete'`, 'all of it')
  expect(visitor.complaints().join()).toContain('Content Security Policy')
  expect([...visitor.origins()]).toContain('http://other.invalid')
  const breaches = await visitor.breaches()
  expect(breaches.filter((one) => one.startsWith('too wide')).length).toBeGreaterThan(0)
  expect(breaches.map((one) => one.split(':')[0])).toContain('image-alt')
  expect(await visitor.press('Under').catch((error: Error) => error.message)).toStartWith('Under is covered')
})

/** Mistakes that must not compile. */
const invalidCalls = `import { ask, shopName } from './api.ts'
import { askAsShopper } from './session.ts'

// @ts-expect-error there is no such route
ask('GET /carts/{id}', { path: { id: '' } })
// @ts-expect-error a route's path must be filled in
ask('GET /cart/{id}', {})
// @ts-expect-error there is no such field
askAsShopper('PATCH /cart/{id}', { path: { id: '' }, body: { emial: '' } })
// @ts-expect-error the answer has no such field
export const nothing = (await ask('GET /shops/v2/public/name/{shopName}', { path: { shopName } })).nothing
`

/** Returns the document with only the paths that the sources use, which is five times as fast to compile. */
async function documentFor(sources: string): Promise<object> {
  const document = await Bun.file(join(import.meta.dir, '../../docs/openapi.json')).json()
  const files = [...new Bun.Glob('**/*.ts').scanSync(sources)].filter((file) => file !== 'souk.d.ts')
  const text = (await Promise.all(files.map((file) => Bun.file(join(sources, file)).text()))).join('\n')
  const paths = Object.entries(document.paths).filter(([path]) => text.includes(` ${path}'`))
  expect(paths.length).toBeGreaterThan(20)
  return { ...document, paths: Object.fromEntries(paths) }
}

test('compiles the sources against the current document, and rejects mistakes', async () => {
  const dir = join(temporaryDir(), 'storefront')
  const sources = join(import.meta.dir, '../../docs/storefront')
  cpSync(sources, dir, { recursive: true })
  await Bun.write(join(dir, 'src/souk.d.ts'), await typesOf(await documentFor(join(sources, 'src'))))
  await Bun.write(join(dir, 'src/slips.ts'), invalidCalls)
  const tsc = Bun.spawn([join(import.meta.dir, '../../node_modules/.bin/tsc'), '--project', dir], { stdout: 'pipe', stderr: 'inherit' })
  expect([await new Response(tsc.stdout).text(), await tsc.exited]).toEqual(['', 0])
})
