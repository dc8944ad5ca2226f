/** Tests lost responses: a repeated request has one effect, and is not taken for another user's change. */
import { expect, setDefaultTimeout } from 'bun:test'
import { shopIn, usd } from '../support/catalog.ts'
import { consoleTests } from '../support/console-tests.ts'
import { fileBusiness } from '../support/kyb.ts'
import { loseNextResponse } from '../support/lost-response.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { staffOf } from '../support/staff.ts'
import { longTestMs } from '../support/timeouts.ts'
import { codeAt } from '../support/totp.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests({ fill: async ({ app }) => ({ operator: await app.superAdmin() }) })

test('a provider’s secret whose response was lost is replaced once, and a retry shows the valid one', async ({
  open,
  app,
  data: { operator },
}) => {
  const { token } = operator
  const body = { displayName: 'Quay', archetype: 'warehouse' }
  const { id } = ok(await app.call('POST', '/admin/service-providers', { token, body }), 201).body
  const visitor = await open({ as: operator, at: `net/providers/${id}` })
  await visitor.heading('Quay')
  await loseNextResponse(visitor, '/webhook-secret')
  const rotate = async () => {
    await visitor.press('Rotate secret', { role: 'button' })
    await visitor.press('Rotate secret', { role: 'button', within: /^Rotate the secret of/ })
  }
  await rotate()
  await visitor.text('Something went wrong')
  await visitor.settled()
  await rotate()
  await visitor.text('whsec_')
  const { data } = ok(await app.call('GET', `/admin/audit?subject=${id}&action=service_provider.secret_rotated`, { token })).body
  expect(data).toHaveLength(1)
  expect(await visitor.axe()).toEqual([])
  // Leaving asks for confirmation, because the value is shown only once.
  await visitor.press('Lenders', { role: 'link' })
  await visitor.press('Stay', { role: 'button' })
  await visitor.press('Done', { role: 'button' })
  await visitor.gone('whsec_')
  await visitor.press('Lenders', { role: 'link' })
  await visitor.heading('Lenders')
})

test('a KYB decision whose response was lost counts as the user’s own when it is repeated', async ({ open, app, data: { operator } }) => {
  const { id } = await fileBusiness(app, await app.merchant(), { legalName: 'Lost and Found' })
  const visitor = await open({ as: operator, at: `net/kyb/${id}` })
  await visitor.heading('Lost and Found')
  await loseNextResponse(visitor, '/decision')
  await visitor.press('Approve', { role: 'link' })
  await visitor.press('Approve', { role: 'button' })
  await visitor.text('Something went wrong')
  visitor.expects(/^POST \/admin\/kyb\/\S+\/decision 4(09|12)/)
  await visitor.press('Approve', { role: 'button' })
  await visitor.there('Lost and Found approved', {})
  expect(await visitor.has('your decision was not saved')).toBe(false)
})

test('a second factor whose response was lost is shown as on, with a message that the recovery codes were not shown', async ({
  open,
  app,
  clock,
}) => {
  const shop = await app.merchant()
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders` })
  await visitor.heading('Orders')
  await visitor.go('account')
  await visitor.press('Set up', { role: 'button' })
  await visitor.fill('Current password', shop.password, { within: 'Set up two-factor authentication' })
  await visitor.press('Continue', { role: 'button', within: 'Set up two-factor authentication' })
  await visitor.text('otpauth://totp/')
  const secret = String(await visitor.page.evaluate(`document.querySelector('.copyable code').textContent`))
  await loseNextResponse(visitor, '/auth/totp/confirm')
  await visitor.fill('6-digit code', codeAt(secret, clock.now()))
  await visitor.press('Turn on', { role: 'button' })
  await visitor.text('Something went wrong')
  visitor.expects('POST /auth/totp/confirm 409')
  await visitor.press('Turn on', { role: 'button' })
  await visitor.text('the recovery codes weren’t shown')
  await visitor.there('Turn off', { role: 'button' })
  expect(await visitor.axe()).toEqual([])
})

test('a response of a proxy instead of souk is reported as an unknown outcome', async ({ open, app }) => {
  const selling = await sellingIn(app)
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/discounts/new` })
  await visitor.heading(/./)
  await visitor.page.evaluate(`{
    const before = globalThis.fetch
    globalThis.fetch = async (request, ...more) =>
      request.method === 'POST' ? new Response('<h1>Bad Gateway</h1>', { status: 502, statusText: 'Bad Gateway' }) : before(request, ...more)
  }`)
  await visitor.fill('Title', 'Autumn')
  await visitor.fill('Discount code', 'AUTUMN')
  await visitor.fill('Percentage', '10')
  await visitor.press('Create', { role: 'button' })
  await visitor.text('may or may not have been saved')
  expect(await visitor.has('Bad Gateway')).toBe(false)
})

test('settings whose response was lost are saved by a retry, without a conflict message', async ({ open, app }) => {
  const owner = await shopIn(app)
  const method = { code: 'post', title: 'Post', zones: [{ countries: ['US'] }], rates: [{ upToGrams: 1_000, amount: usd(450) }] }
  ok(await owner.put('/shops/v2/shipping-methods', { data: [method] }))
  ok(await owner.put('/shops/v2/tax-rates', { data: [{ country: 'US', region: 'CA', rateBps: 725, inclusive: false }] }))
  const at = `s/${owner.shop.name}/settings`
  const visitor = await open({ as: owner, at })
  visitor.expects(/^(PATCH|PUT) \/shops\/v2\S* 412/)
  /** Saves, loses the response, and saves again. */
  async function saveTwice(path: string): Promise<void> {
    await loseNextResponse(visitor, path)
    await visitor.press('Save', { role: 'button' })
    await visitor.text('may or may not have been saved')
    await visitor.press('Save', { role: 'button' })
    await visitor.notice('Saved')
    expect(await visitor.has('Someone else changed this')).toBe(false)
  }
  await visitor.fill('Shop name', 'Quay Street')
  await saveTwice('/shops/v2')
  await visitor.go(`${at}/mail`)
  await visitor.fill('Sender name', 'Quay')
  await saveTwice('/shops/v2/mail')
  await visitor.go(`${at}/payments`)
  await visitor.heading('Payments')
  await visitor.fill(/^Status/, 'Off')
  await saveTwice('/shops/v2/payment-methods')
  await visitor.go(`${at}/shipping?method=post`)
  await visitor.fill('Rate (USD)', '5')
  await saveTwice('/shops/v2/shipping-methods')
  await visitor.go(`${at}/taxes?new=1`)
  await visitor.fill('Country', 'United States')
  await visitor.fill('State / province', 'NY')
  await visitor.fill('Rate (%)', '8')
  await saveTwice('/shops/v2/tax-rates')
  const now = async (path: string) => ok(await app.call('GET', path, { token: owner.token })).body
  expect((await now('/shops/v2')).title).toBe('Quay Street')
  expect((await now('/shops/v2/mail')).senderName).toBe('Quay')
  expect((await now('/shops/v2/shipping-methods')).data).toMatchObject([{ rates: [{ amount: usd(500) }] }])
  expect((await now('/shops/v2/tax-rates')).data).toMatchObject([{ region: 'CA' }, { region: 'NY' }])
})

test('a gift card whose response was lost is issued once, also after a new login before the retry', async ({ open, app }) => {
  const selling = await sellingIn(app)
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/gift-cards?new=1` })
  await visitor.fill(/^Amount/, '31')
  await loseNextResponse(visitor, '/giftcard')
  await visitor.press('Create', { role: 'button' })
  await visitor.text('may or may not have been saved')
  for (const { id } of ok(await app.call('GET', '/auth/sessions', { token: selling.token })).body.data)
    await app.call('DELETE', `/auth/sessions/${id}`, { token: selling.token })
  visitor.expects(/ 401/)
  await visitor.press('Create', { role: 'button' })
  await visitor.heading('Log in to souk')
  await visitor.signIn(selling)
  await visitor.there('Create', { role: 'button' })
  await visitor.press('Create', { role: 'button' })
  await visitor.text('Copy the code now')
  expect(ok(await app.call('GET', '/giftcard', { key: selling.secretKey })).body.total).toBe(1)
})

test('a changed role reports the unsaved input', async ({ open, app }) => {
  const selling = await sellingIn(app)
  const manager = await staffOf(app, selling, 'MANAGER')
  const visitor = await open({ as: manager, at: `s/${selling.shop.name}/products/new` })
  await visitor.fill('Title', 'Half a product')
  ok(await app.call('PATCH', `/shops/v2/staff/${manager.staffId}`, { token: selling.token, body: { role: 'FULFILMENT' } }))
  await visitor.heading('You don’t have permission')
  await visitor.text('You have unsaved changes.')
})

test('staying on the page keeps the language', async ({ open, app }) => {
  const selling = await sellingIn(app)
  const visitor = await open({ as: selling, at: `s/${selling.shop.name}/discounts/new` })
  await visitor.fill('Title', 'Autumn')
  const select = `document.querySelector('.language select')`
  await visitor.page.evaluate(`{ ${select}.value = 'ar'; ${select}.dispatchEvent(new Event('change', { bubbles: true })) }`)
  await visitor.there('Leave without saving?', { role: 'dialog' })
  await visitor.press('Stay')
  expect(await visitor.page.evaluate(`[${select}.value, JSON.stringify(localStorage).includes('"ar"')].join()`)).toBe('en,false')
  expect(await visitor.value('Title')).toBe('Autumn')
})
