/** Tests the page on which a shopper pays the cart of an agent, in Chromium, on a phone and on a desktop. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { agentsOn, insertAgentSession } from '../../support/agent-sessions.ts'
import { testApp } from '../../support/app.ts'
import { chromium, type Page, startBrowser } from '../../support/chromium.ts'
import { address, ok, sellingIn } from '../../support/selling.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const browser = chromium ? await startBrowser(chromium) : undefined
afterAll(() => browser?.[Symbol.asyncDispose]())
const axe = await Bun.file(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url)).text()

/** Returns the violations that axe finds, and whether the page is wider than the screen. */
async function problemsOf(page: Page): Promise<unknown> {
  await page.evaluate(axe)
  const violations = await page.evaluate(
    `axe.run('html', { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
  )
  return [violations, await page.evaluate('document.documentElement.scrollWidth > innerWidth')]
}

/** Submits the form of a step and waits until the page contains `until`. */
async function submitForm(page: Page, step: string, fields: Record<string, string>, until: string): Promise<void> {
  await page.evaluate(`(() => {
    const form = document.querySelector('input[name=step][value=${step}]').form
    for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements[name].value = value
    form.requestSubmit()
  })()`)
  let text = ''
  for (let tries = 0; tries < 200; tries++) {
    text = String(await page.evaluate('document.body.innerText').catch(() => ''))
    if (text.includes(until)) return
    await Bun.sleep(50)
  }
  throw new Error(`the page does not say ${until}: ${text}`)
}

const screens = [
  ['phone', 390],
  ['desktop', 1280],
] as const

test.skipIf(!browser).each(screens)(
  'on a %s, the page takes the address, a discount code and the payment, and is accessible',
  async (_, width) => {
    await using app = await testApp(agentsOn)
    const shop = await sellingIn(app)
    const methods = [{ code: 'post', title: 'Post', zones: [{ countries: ['US'] }], rates: [{ amount: shop.money(500) }] }]
    ok(await shop.put('/shops/v2/shipping-methods', { data: methods }))
    ok(await shop.post('/discounts', { title: 'Ten', code: 'TEN', kind: 'PERCENT', valueBps: 1_000 }), 201)
    const session = await insertAgentSession(app, shop.shop.id, await shop.cart({ email: null }))
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request, self) => app.edge.fetch(request, self) })
    try {
      if (!browser) throw new Error('no browser')
      await using page = await browser.openPage()
      await page.command('Emulation.setDeviceMetricsOverride', { width, height: 800, deviceScaleFactor: 1, mobile: width < 800 })
      await page.open(server.url.origin + new URL(session.url).pathname)
      expect(await problemsOf(page)).toEqual([[], false])
      await submitForm(page, 'details', { ...address, email: 'ann@example.com' }, '$15.00')
      expect(await problemsOf(page)).toEqual([[], false])
      await submitForm(page, 'code', { code: 'TEN' }, '$14.00')
      await submitForm(page, 'pay', { outcome: 'tok_success' }, 'Payment received')
      expect(await problemsOf(page)).toEqual([[], false])
      expect(ok(await shop.get('/v2/orders')).body.data).toMatchObject([{ status: 'CONFIRMED', total: shop.money(1_400) }])
    } finally {
      await server.stop(true)
    }
  },
)
