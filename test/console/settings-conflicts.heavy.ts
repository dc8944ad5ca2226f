/** Tests a shop's settings during changes by others, after a switch of the shop, and while the shop is suspended. */
import { afterAll, expect, setDefaultTimeout } from 'bun:test'
import { startStripe } from '../clients/processors/stripe-server.ts'
import { shopIn, usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { ok } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const stripe = await startStripe()
afterAll(() => stripe[Symbol.asyncDispose]())

const { test } = consoleTests({ settings: { STRIPE_API_URL: stripe.url, OUTGOING_ALLOWED_NETWORKS: '127.0.0.0/8' } })

const rate = (region: string, rateBps: number) => ({ country: 'US', region, rateBps, inclusive: false })
const conflict = 'Someone else changed this'

test('a typed tax rate stays when the conflict dialog is closed', async ({ open, app }) => {
  const owner = await shopIn(app)
  ok(await owner.put('/shops/v2/tax-rates', { data: [rate('CA', 725)] }))
  const visitor = await open({ as: owner, at: `s/${owner.shop.name}/settings/taxes?new=1` })
  await visitor.heading('Add tax rate')
  await visitor.fill('Country', 'United States')
  await visitor.fill('State / province', 'NY')
  await visitor.fill('Rate (%)', '8')
  ok(await owner.put('/shops/v2/tax-rates', { data: [rate('CA', 800)] }))
  visitor.expects('PUT /shops/v2/tax-rates 412')
  await visitor.press('Save')
  await visitor.there(conflict, { role: 'dialog' })
  await visitor.key('Escape')
  await visitor.gone(conflict)
  expect([await visitor.value('State / province'), await visitor.value('Rate (%)')]).toEqual(['NY', '8'])
  await visitor.press('Save')
  await visitor.press('Overwrite with mine')
  await visitor.heading('Taxes')
  const { data } = ok(await owner.get('/shops/v2/tax-rates')).body
  expect(data).toMatchObject([{ region: 'CA', rateBps: 800 }, { region: 'NY' }])
})

test('undo restores a removed tax rate in its shop, even if another shop is shown', async ({ open, app }) => {
  const [one, other] = [await shopIn(app), await shopIn(app)]
  const person = await staffOf(app, one, 'MANAGER', 'both@example.com')
  await staffOf(app, other, 'MANAGER', person.email)
  ok(await one.put('/shops/v2/tax-rates', { data: [rate('CA', 725)] }))
  const visitor = await open({ as: person, at: `s/${one.shop.name}/settings/taxes` })
  await visitor.press('Remove: United States, CA', { role: 'button' })
  await visitor.there('Undo', { role: 'button' })
  await visitor.fill('Choose a shop', other.shop.title || other.shop.name, { role: 'combobox' })
  await visitor.until(`location.pathname.includes(${JSON.stringify(other.shop.name)})`, 'the other shop')
  await visitor.press('Undo', { role: 'button' })
  const rates = async () => ok(await one.get('/shops/v2/tax-rates')).body.data
  for (let tries = 0; tries < 600 && (await rates()).length === 0; tries++) await Bun.sleep(50)
  expect(await rates()).toMatchObject([{ region: 'CA', rateBps: 725 }])
  expect(ok(await other.get('/shops/v2/tax-rates')).body.data).toEqual([])
})

test('shipping methods keep the focus when the first one is moved repeatedly', async ({ open, app }) => {
  const owner = await shopIn(app)
  const flat = (code: string) => ({ code, title: code, countries: ['US'], price: usd(100) })
  ok(await owner.put('/shops/v2/shipping-methods', { data: ['one', 'two', 'three'].map(flat) }))
  const visitor = await open({ as: owner, at: `s/${owner.shop.name}/settings/shipping` })
  await visitor.tabTo('Move three')
  await visitor.page.evaluate('globalThis.before = document.activeElement')
  await visitor.key('ArrowUp')
  await visitor.there('Save order', { role: 'button' })
  expect(await visitor.page.evaluate('document.activeElement === globalThis.before')).toBe(true)
  await visitor.key('ArrowUp')
  await visitor.press('Save order', { role: 'button' })
  await visitor.gone('Save order')
  const { data } = ok(await owner.get('/shops/v2/shipping-methods')).body
  expect(data.map(({ code }: { code: string }) => code)).toEqual(['three', 'one', 'two'])
})

test('typed keys of a processor stay while the previous account is removed, also after a concurrent change', async ({ open, app }) => {
  const owner = await shopIn(app)
  const keys = { publishableKey: 'pk_test_standin', secretKey: 'sk_test_standin' }
  const path = '/shops/v2/processor-accounts/stripe'
  const put = async () => ok(await app.call('PUT', path, { token: owner.token, body: keys }))
  await put()
  const visitor = await open({ as: owner, at: `s/${owner.shop.name}/settings/payments/stripe` })
  await visitor.there('Your test account', { role: 'region' })
  await visitor.fill('Publishable key', 'pk_test_other')
  await put()
  visitor.expects(new RegExp(`DELETE ${path}\\S* 412`))
  await visitor.press('Disconnect', { role: 'button' })
  await visitor.press('Disconnect', { within: 'Disconnect Stripe (test)?' })
  await visitor.there(conflict, { role: 'dialog' })
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Remove', { within: conflict })
  await visitor.there('Not connected', { role: 'heading' })
  expect(await visitor.value('Publishable key')).toBe('pk_test_other')
  expect((await app.call('GET', path, { token: owner.token })).status).toBe(404)
})

test('every page of a suspended shop says so instead of showing unreadable data', async ({ open, app }) => {
  const [owner, operator] = [await shopIn(app), await app.superAdmin()]
  ok(await app.call('PATCH', `/admin/shops/${owner.shop.id}`, { token: operator.token, body: { status: 'SUSPENDED' } }))
  const visitor = await open({ as: owner, at: `s/${owner.shop.name}/settings/payments`, width: 'phone' })
  visitor.expects(/^GET \/checkout\/\S+ 404/)
  await visitor.text('This shop is suspended')
  await visitor.text('The shop is suspended: no payment methods are offered.')
  expect(await visitor.axe()).toEqual([])
  visitor.expects(/^GET \/shops\/v2\/public\/name\/\S+ 404/)
  await visitor.go(`s/${owner.shop.name}/settings/keys`)
  await visitor.text('the publishable key is disabled')
  expect(await visitor.axe()).toEqual([])
})
