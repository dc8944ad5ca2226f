/** The storefront of docs/, built, on a port of its own, with a souk on another and a shop that has something to sell. */
import { build, serve } from '../../docs/storefront/build.ts'
import { type TestApp, testApp } from './app.ts'
import { shopIn } from './catalog.ts'
import { mailServer } from './mail-server.ts'
import { sendMails } from './mails.ts'
import { drawn } from './pictures.ts'
import { ok } from './selling.ts'

/** Titles that would do something, were they anything but text. */
export const hostile = '<img src=x onerror=alert(1)>"\'&{{shop}}</h1>'

type Between = (request: Request, answer: () => Promise<Response>) => Promise<Response>

export type OpenShop = Awaited<ReturnType<typeof openShop>>

/** @param between stands between the browser and souk, and may keep an answer back */
export async function openShop({ language = 'en', between = (_, answer) => answer() }: { language?: string; between?: Between } = {}) {
  let app: TestApp | undefined
  const answered = async (request: Request, self: Bun.Server<undefined>) =>
    between(request, async () => (await app?.edge.fetch(request, self)) ?? new Response(null, { status: 503 }))
  const socket = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answered })
  const mails = await mailServer()
  app = await testApp({ ...mails.settings, PUBLIC_URL: socket.url.origin })
  const shop = await shopIn(app)
  const front = serve(await build({ souk: socket.url.origin, shop: shop.shop.name }), 0)
  const { origin } = front.url
  const pages = { order: `${origin}/order.html`, reset: `${origin}/reset.html`, verify: `${origin}/verify.html` }
  const settings = { title: 'Souk & Söhne', storefrontOrigins: [origin], showQuantity: true, pages }
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: settings }))
  ok(await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { language } }))
  await stocked(app, shop)
  const opened = app
  return {
    app,
    shop,
    mails,
    origin,
    souk: socket.url.origin,
    /** Sends what waits, and answers the last link to a page that came by mail, from the storefront's root on. */
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

async function stocked(app: TestApp, shop: Awaited<ReturnType<typeof shopIn>>): Promise<void> {
  const { secretKey: key } = shop
  const picture = ok(await app.call('POST', '/media', { key, raw: drawn(400, 300), headers: { 'content-type': 'image/png' } })).body
  const lamp = await app.call('POST', '/product-v2', {
    key,
    body: {
      title: 'Brass Lamp',
      status: 'ACTIVE',
      descriptionHtml:
        '<p>Warm light. <strong>Made</strong> by hand.</p><h2>Care</h2><p style="color:red"><img src="https://elsewhere.invalid/x.png">Dust it.</p>',
      options: [{ name: 'Size', values: ['Small', 'Large'] }],
      images: [{ url: picture.url, alt: 'A lamp of brass' }],
      variants: [
        { optionValues: ['Small'], price: { amount: 2_000, currency: 'USD' }, onHand: 5 },
        { optionValues: ['Large'], price: { amount: 3_500, currency: 'USD' }, onHand: 3 },
      ],
    },
  })
  const odd = await app.call('POST', '/product-v2', {
    key,
    body: { title: hostile, handle: 'odd', status: 'ACTIVE', variants: [{ price: { amount: 500, currency: 'USD' }, onHand: 2 }] },
  })
  const collection = ok(
    await app.call('POST', '/collection-v2', { key, body: { title: 'Light', publishedAt: new Date(app.clock.now()).toISOString() } }),
  ).body
  ok(await shop.put(`/collection-v2/${collection.id}/products`, { productIds: [ok(lamp).body.id] }))
  ok(odd)
  const money = (amount: number) => ({ amount, currency: 'USD' })
  const methods = [
    { code: 'post', title: 'By post', zones: [{ countries: ['US'] }, { countries: ['KW'] }], rates: [{ amount: money(500) }] },
    { code: 'courier', title: 'By courier', zones: [{ countries: ['US'] }], rates: [{ amount: money(1_200) }] },
  ]
  ok(await shop.put('/shops/v2/shipping-methods', { data: methods }))
  ok(await shop.post('/discounts', { title: 'Ten off', code: 'TEN', kind: 'PERCENT', valueBps: 1_000, status: 'ACTIVE' }))
}
