/** Serves the storefront of docs/ on one port and souk, with a shop and products, on another. */
import { serve } from '../../docs/storefront/build.ts'
import { type TestApp, testApp } from './app.ts'
import { shopIn } from './catalog.ts'
import { mailServer } from './mail-server.ts'
import { sendMails } from './mails.ts'
import { drawPng } from './pictures.ts'
import { ok } from './selling.ts'

/** A title that would run a script if it were not escaped. */
export const hostileTitle = '<img src=x onerror=alert(1)>"\'&{{shop}}</h1>'

type Between = (request: Request, answer: () => Promise<Response>) => Promise<Response>

export type OpenShop = Awaited<ReturnType<typeof openShop>>

/** @param between handles requests between the browser and souk, and can withhold responses */
export async function openShop({ language = 'en', between = (_, answer) => answer() }: { language?: string; between?: Between } = {}) {
  let app: TestApp | undefined
  const handleRequest = async (request: Request, self: Bun.Server<undefined>) =>
    between(request, async () => (await app?.edge.fetch(request, self)) ?? new Response(null, { status: 503 }))
  const socket = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handleRequest })
  const mails = await mailServer()
  app = await testApp({ ...mails.settings, PUBLIC_URL: socket.url.origin, AGENTS_ENABLED: 'true' })
  const shop = await shopIn(app)
  const front = await serve({ souk: socket.url.origin, shop: shop.shop.name }, 0)
  const { origin } = front.url
  const pages = {
    ...{ order: `${origin}/order.html`, reset: `${origin}/reset.html` },
    ...{ verify: `${origin}/verify.html`, checkout: `${origin}/handoff.html` },
  }
  const settings = { title: 'Souk & Söhne', storefrontOrigins: [origin], showQuantity: true, pages }
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: settings }))
  ok(await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { language } }))
  await addProducts(app, shop)
  const opened = app
  return {
    app,
    shop,
    mails,
    origin,
    souk: socket.url.origin,
    /** Sends waiting e-mails, and returns the last link to a page, relative to the storefront's root. */
    async mailedLink(page: keyof typeof pages): Promise<string> {
      await sendMails(opened)
      const words = mails.received.flatMap(({ text }) => text.split(/\s+/))
      const link = words.findLast((word) => word.startsWith(`${pages[page]}?token=`))
      if (!link) throw new Error(`no link to ${page} in ${mails.received.length} mails`)
      return link.slice(origin.length + 1)
    },
    async [Symbol.asyncDispose]() {
      await front.stop(true)
      await socket.stop(true)
      await opened.close()
      await mails.close()
    },
  }
}

const address = { name: 'Noor Haddad', line1: '1 Quay Street', city: 'Portland', province: 'ME', postalCode: '04101', countryCode: 'US' }

export { address }

async function addProducts(app: TestApp, shop: Awaited<ReturnType<typeof shopIn>>): Promise<void> {
  const { secretKey: key } = shop
  const upload = async (seed: number) =>
    ok(await app.call('POST', '/media', { key, raw: drawPng(400, 300, seed), headers: { 'content-type': 'image/png' } })).body.url
  const [picture, other] = [await upload(1), await upload(2)]
  const lamp = await app.call('POST', '/product-v2', {
    key,
    body: {
      title: 'Brass Lamp',
      status: 'ACTIVE',
      descriptionHtml:
        '<p>Warm light. <strong>Made</strong> by hand.</p><h2>Care</h2><p style="color:red"><img src="https://elsewhere.invalid/x.png">Dust it.</p>',
      options: [{ name: 'Size', values: ['Small', 'Large'] }],
      images: [
        { url: picture, alt: 'A lamp of brass' },
        { url: other, alt: 'The same lamp, lit' },
      ],
      variants: [
        { optionValues: ['Small'], price: { amount: 2_000, currency: 'USD' }, onHand: 5 },
        { optionValues: ['Large'], price: { amount: 3_500, currency: 'USD' }, onHand: 3 },
      ],
    },
  })
  const hostileProduct = await app.call('POST', '/product-v2', {
    key,
    body: { title: hostileTitle, handle: 'odd', status: 'ACTIVE', variants: [{ price: { amount: 500, currency: 'USD' }, onHand: 2 }] },
  })
  const publishedAt = new Date(app.clock.now()).toISOString()
  const light = { title: 'Light', descriptionHtml: '<p>Lamps &amp; candles</p>', publishedAt }
  const collection = ok(await app.call('POST', '/collection-v2', { key, body: light })).body
  ok(await shop.put(`/collection-v2/${collection.id}/products`, { productIds: [ok(lamp).body.id] }))
  ok(hostileProduct)
  const post = {
    title: 'How a lamp is made',
    slug: 'how-a-lamp-is-made',
    excerpt: 'By hand.',
    bodyHtml: '<p>Slowly.</p>',
    status: 'PUBLISHED',
  }
  ok(await app.call('POST', '/blogs', { key, body: post }))
  const money = (amount: number) => ({ amount, currency: 'USD' })
  const methods = [
    { code: 'post', title: 'By post', zones: [{ countries: ['US'] }, { countries: ['KW'] }], rates: [{ amount: money(500) }] },
    { code: 'courier', title: 'By courier', zones: [{ countries: ['US'] }], rates: [{ amount: money(1_200) }] },
  ]
  ok(await shop.put('/shops/v2/shipping-methods', { data: methods }))
  ok(await shop.post('/discounts', { title: 'Ten off', code: 'TEN', kind: 'PERCENT', valueBps: 1_000, status: 'ACTIVE' }))
}
