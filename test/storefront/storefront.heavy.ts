/** The storefront of docs/, compiled as it stands, and in a real browser, on a telephone's and a desk's width: what a reader copies works, and breaks no policy. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessorPayment } from '../../src/clients/processors/processor.ts'
import { chromium } from '../support/chromium.ts'
import { temporaryDir } from '../support/database.ts'
import { typesOf } from '../support/openapi-types.ts'
import { changeProcessor, confirmAtSandbox } from '../support/sandbox.ts'
import { ok } from '../support/selling.ts'
import { closeBrowser, type Shopper, shopper } from '../support/shopper.ts'
import { address, hostile, type OpenShop, openShop } from '../support/storefront.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hasBrowser = chromium !== undefined
if (!hasBrowser) process.stderr.write('skipped: the storefront in a real browser, because there is no chromium on this machine\n')
const inBrowser = test.skipIf(!hasBrowser)
afterAll(closeBrowser)

/** Nothing to complain about, and nobody asked but the storefront and souk. */
function expectPeace(visitor: Shopper, { origin, souk }: OpenShop): void {
  expect(visitor.complaints()).toEqual([])
  expect([...visitor.origins()].sort()).toEqual([origin, souk].sort())
}

async function fillAddress(visitor: Shopper, email?: string): Promise<void> {
  await visitor.heading('Checkout')
  if (email) await visitor.fill('E-mail', email)
  await visitor.fill('Name', 'Noor Haddad')
  await visitor.fill('Country', 'United States')
  await visitor.fill('Street and number', '1 Quay Street')
  await visitor.fill('Town', 'Portland')
  await visitor.fill('State or province', 'Maine')
  await visitor.fill('Postal code', '04101')
}

describe('a guest on a telephone', () => {
  inBrowser('finds something, is declined, pays with another card, a discount and a gift card, and sees the order', async () => {
    await using shop = await openShop()
    const card = ok(await shop.shop.post('/giftcard', { amount: { amount: 1_000, currency: 'USD' } })).body
    await using visitor = await shopper(shop.origin, 'phone')
    await visitor.go('index.html')
    await visitor.heading('Souk & Söhne')
    await visitor.text(hostile)
    expect(await visitor.breaches()).toEqual([])
    await visitor.fill('Search', 'lamp')
    await visitor.fill('Collection', 'Light')
    await visitor.fill('Price to (USD)', '20.50')
    await visitor.press('Search')
    await visitor.heading('Light')
    await visitor.text('1 item found')
    await visitor.press('Brass Lampfrom $20.00')
    await visitor.heading('Brass Lamp')
    await visitor.text('$20.00 · 5 left')
    await visitor.fill('Size', 'Large')
    await visitor.text('$35.00 · 3 left')
    await visitor.fill('Quantity', '2')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Add to the basket')
    await visitor.press('Basket (2)')
    await visitor.heading('Your basket')
    await visitor.fill('Discount code', 'ten')
    await visitor.press('Apply', 'Discount')
    await visitor.text('Ten off −$7.00')
    await visitor.fill('Gift card code', card.code)
    await visitor.press('Apply', 'Gift cards')
    await visitor.text('To pay $53.00')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Go to the checkout')
    await fillAddress(visitor, 'guest@example.com')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Continue', 'Where it goes')
    await visitor.press('By courier · $12.00')
    await visitor.press('Continue', 'Shipping')
    await visitor.press('Test card that is declined')
    await visitor.press('Pay $65.00')
    await visitor.text('The payment was declined.')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Test card that pays')
    await visitor.press('Pay $65.00')
    await visitor.heading('Order 1')
    await visitor.text('Thank you for your order')
    expect(await visitor.breaches()).toEqual([])
    expectPeace(visitor, shop)
    const { data } = ok(await shop.shop.get('/v2/orders')).body
    expect(data).toMatchObject([
      { status: 'CONFIRMED', email: 'guest@example.com', discountTotal: { amount: 700 }, giftCardTotal: { amount: 1_000 } },
    ])
    const [order] = data
    const link = String(await visitor.page.evaluate('location.search'))
    await visitor.back()
    await visitor.text('Your basket is empty.')
    for (const trackingNumber of ['P-1', 'P-2'])
      ok(
        await shop.shop.post(`/v2/orders/${order.id}/fulfilments`, {
          lines: [{ lineId: order.lines[0].id, quantity: 1 }],
          carrier: 'Swift',
          trackingNumber,
        }),
      )
    await visitor.go(`order.html${link}`)
    await visitor.text('Parcel Swift P-1')
    await visitor.text('Parcel Swift P-2')
    expect(await visitor.breaches()).toEqual([])
  })
})

/** What somebody bought before, as a guest. */
async function boughtAsGuest({ app, shop }: OpenShop, email: string): Promise<void> {
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

describe('a customer at a desk', () => {
  inBrowser('signs up, proves the address by mail, has what was bought as a guest, keeps an address and buys with it', async () => {
    await using shop = await openShop()
    const email = 'noor@example.com'
    await boughtAsGuest(shop, email)
    await using visitor = await shopper(shop.origin, 'desk')
    await visitor.go('account.html')
    await visitor.heading('Log in')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Create an account')
    await visitor.heading('Create an account')
    await visitor.fill('Name', 'Noor Haddad')
    await visitor.fill('E-mail', email)
    await visitor.fill('Password', 'a lamp of my own')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Create an account', 'main')
    await visitor.text('You have not ordered anything yet.')
    await visitor.text('Please confirm your e-mail address')
    await visitor.go(await shop.mailedLink('verify'))
    await visitor.text('Thank you, your e-mail address is confirmed.')
    expect(await visitor.page.evaluate('location.search')).toBe('')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Your account', 'main')
    await visitor.text('Order 1')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Your addresses')
    await visitor.heading('Your addresses')
    await visitor.fill('Name', 'Noor at work')
    await visitor.fill('Country', 'United States')
    await visitor.fill('Street and number', hostile)
    await visitor.fill('Town', 'Portland')
    await visitor.press('Where my orders usually go')
    await visitor.press('Save')
    await visitor.text(hostile)
    expect(await visitor.breaches()).toEqual([])
    await visitor.go('product.html?handle=odd')
    await visitor.heading(hostile)
    await visitor.press('Add to the basket')
    await visitor.press('Basket (1)')
    await visitor.press('Go to the checkout')
    await visitor.heading('Checkout')
    expect([await visitor.value('E-mail'), await visitor.value('Name'), await visitor.value('Street and number')]).toEqual([
      email,
      'Noor at work',
      hostile,
    ])
    await visitor.press('Continue', 'Where it goes')
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
    // Who comes after them at the same computer and goes back is shown nothing of theirs.
    await visitor.back()
    await visitor.heading('Log in')
    expect(await visitor.has('Order 2')).toBe(false)
    expectPeace(visitor, shop)
  })

  inBrowser('who has forgotten the password chooses another one by the link of the mail, which leads to the storefront', async () => {
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
    await visitor.fill('E-mail', email)
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Send me a link')
    await visitor.text('a mail with a link is on its way')
    await visitor.go(await shop.mailedLink('reset'))
    await visitor.heading('New password')
    expect(await visitor.page.evaluate('location.search')).toBe('')
    await visitor.fill('New password', 'the one after')
    expect(await visitor.breaches()).toEqual([])
    await visitor.press('Save')
    await visitor.text('Your new password is saved.')
    await visitor.press('Log in', 'main')
    await visitor.fill('E-mail', email)
    await visitor.fill('Password', 'the one after')
    await visitor.press('Log in', 'main')
    await visitor.heading('Your account')
    expectPeace(visitor, shop)
  })
})

describe('whatever happens on the way', () => {
  inBrowser('a checkout that is loaded anew while it is on its way is sent again under its key, and done once', async () => {
    const keys: (string | null)[] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await using shop = await openShop({
      async between(request, answer) {
        if (request.method !== 'POST' || !request.url.endsWith('/checkout')) return answer()
        keys.push(request.headers.get('idempotency-key'))
        const answered = await answer()
        // The first answer gets lost: the page that waits for it is gone.
        if (keys.length === 1) await held
        return answered
      },
    })
    await using visitor = await shopper(shop.origin)
    await visitor.go('product.html?handle=brass-lamp')
    await visitor.press('Add to the basket')
    await visitor.press('Basket (1)')
    await visitor.press('Go to the checkout')
    await fillAddress(visitor, 'guest@example.com')
    await visitor.press('Continue', 'Where it goes')
    await visitor.press('Continue', 'Shipping')
    await visitor.press('Pay $25.00')
    await visitor.text('Your payment is on its way.')
    while (keys.length === 0) await Bun.sleep(10)
    await visitor.go('checkout.html')
    await visitor.heading('Order 1')
    release()
    expect(keys.length).toBe(2)
    expect(keys[1]).toBe(keys[0] ?? '')
    expect(ok(await shop.shop.get('/v2/orders')).body.total).toBe(1)
  })

  inBrowser(
    'who pays at a processor and comes back without having paid is not sent away again, and who has paid sees the order',
    async () => {
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
      /** As processors with a page of their own do: whenever they are asked they say where it is. */
      const at = (id: string, made: ProcessorPayment): ProcessorPayment =>
        made.state === 'REQUIRES_ACTION' ? { ...made, clientParameters: { redirectUrl: `${bank.url}${id}` } } : made
      changeProcessor(app, ({ create, retrieve }) => ({
        create: async (payment) => at(payment.paymentId, await create({ ...payment, token: 'tok_action' })),
        async retrieve(name) {
          const found = await retrieve(name)
          return found && at(name.paymentId, found)
        },
      }))
      await using visitor = await shopper(origin, 'phone')
      await visitor.go('product.html?handle=odd')
      await visitor.press('Add to the basket')
      await visitor.press('Basket (1)')
      await visitor.press('Go to the checkout')
      await fillAddress(visitor, 'guest@example.com')
      await visitor.press('Continue', 'Where it goes')
      await visitor.press('Continue', 'Shipping')
      await visitor.press('Pay $10.00')
      await visitor.heading('Bank')
      await visitor.go('cart.html')
      await visitor.text('Your order waits for its payment.')
      // Who comes back from a bank's app may be in another tab.
      await visitor.page.evaluate('sessionStorage.clear()')
      await visitor.press('Go to the payment')
      await visitor.heading('Payment')
      await visitor.text('Change the basket')
      expect(await visitor.breaches()).toEqual([])
      await visitor.press('Go to the payment')
      await visitor.heading('Bank')
      await visitor.press('Pay')
      await visitor.heading('Order 1')
      await visitor.text('Thank you for your order')
      expect(paid.length).toBe(1)
      expect(await visitor.page.evaluate('localStorage.length')).toBe(0)
    },
  )

  inBrowser('a refusal is shown with the id that the shop finds it by: too many, unknown codes, a product that is not there', async () => {
    await using shop = await openShop()
    await using visitor = await shopper(shop.origin, 'phone')
    await visitor.go('product.html?handle=nothing')
    await visitor.heading('That did not work')
    expect(await visitor.has(await lastRequestId(visitor))).toBe(true)
    expect(await visitor.breaches()).toEqual([])
    await visitor.go('product.html?handle=odd')
    await visitor.heading(hostile)
    await visitor.fill('Quantity', '3')
    await visitor.press('Add to the basket')
    await visitor.text('2 left')
    await visitor.until(`document.querySelector('[role=alert]')?.textContent.includes('2')`, 'how many are left, in the refusal')
    expect(await visitor.has(await lastRequestId(visitor))).toBe(true)
    await visitor.fill('Quantity', '2')
    await visitor.press('Add to the basket')
    await visitor.press('Basket (2)')
    for (const [label, part] of [
      ['Discount code', 'Discount'],
      ['Gift card code', 'Gift cards'],
    ] as const) {
      await visitor.fill(label, 'NOSUCHCODE')
      await visitor.press('Apply', part)
      await visitor.until(`document.querySelectorAll('[role=alert]').length > ${part === 'Discount' ? 0 : 1}`, 'a refusal')
      await visitor.text('This code cannot be used.')
    }
    expect(await visitor.breaches()).toEqual([])
    // Refused requests are all that the browser has to say.
    expect(visitor.complaints().filter((one) => !/"source":"network"/.test(one))).toEqual([])
    await visitor.go('order.html')
    await visitor.text('Not found')
  })

  inBrowser('a price that rose while somebody was at the checkout is said, and nothing is charged that was not shown', async () => {
    await using shop = await openShop()
    await using visitor = await shopper(shop.origin)
    await visitor.go('product.html?handle=odd')
    await visitor.press('Add to the basket')
    await visitor.press('Basket (1)')
    await visitor.press('Go to the checkout')
    await fillAddress(visitor, 'guest@example.com')
    await visitor.press('Continue', 'Where it goes')
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

  inBrowser('a token that ran out is traded for another once, and a session that was ended leads to the login', async () => {
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
    await visitor.fill('E-mail', login.email)
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

/** The request id of the last answer that was a refusal. */
async function lastRequestId({ page }: Shopper): Promise<string> {
  const answers = page.events.filter(({ method }) => method === 'Network.responseReceived').map(({ params }) => params['response'])
  const refused = (answers as { status: number; headers: Record<string, string> }[]).filter(({ status }) => status >= 400).at(-1)
  const id = refused?.headers['x-request-id']
  if (!id) throw new Error('no refusal')
  return id
}

inBrowser('a shop that speaks Arabic is laid out right to left, and one that speaks Mongolian speaks it', async () => {
  await using shop = await openShop({ language: 'ar' })
  await using visitor = await shopper(shop.origin, 'phone')
  await visitor.go('index.html')
  await visitor.heading('Souk & Söhne')
  expect(await visitor.page.evaluate(`[document.documentElement.lang, document.documentElement.dir].join()`)).toBe('ar,rtl')
  expect(await visitor.breaches()).toEqual([])
  await visitor.go('product.html?handle=brass-lamp')
  await visitor.press('أضف إلى السلة')
  await visitor.press('السلة (1)')
  await visitor.heading('سلتك')
  expect(await visitor.breaches()).toEqual([])
  await visitor.press('إتمام الشراء')
  await visitor.fill('البلد', 'الولايات المتحدة')
  ok(await shop.app.call('PUT', '/shops/v2/mail', { token: shop.shop.token, body: { language: 'mn' } }))
  await visitor.go('cart.html')
  await visitor.heading('Таны сагс')
  expectPeace(visitor, shop)
})

inBrowser(
  'what is held against the pages is noticed where it is so: a broken policy, others that are asked, what is too wide or covered',
  async () => {
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
  },
)

/** What a slip in a storefront looks like: each must not compile. */
const slips = `import { ask, shopName } from './api.ts'
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

test('its sources compile against the types of the document as it is, and slips do not', async () => {
  const dir = join(temporaryDir(), 'storefront')
  cpSync(join(import.meta.dir, '../../docs/storefront'), dir, { recursive: true })
  await Bun.write(join(dir, 'src/souk.d.ts'), await typesOf(await Bun.file(join(import.meta.dir, '../../docs/openapi.json')).json()))
  await Bun.write(join(dir, 'src/slips.ts'), slips)
  const tsc = Bun.spawn([join(import.meta.dir, '../../node_modules/.bin/tsc'), '--project', dir], { stdout: 'pipe', stderr: 'inherit' })
  expect([await new Response(tsc.stdout).text(), await tsc.exited]).toEqual(['', 0])
})
