/** Tests the replacement of a gift card whose code was lost, in the console. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { customerOf, ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests()

test('a lost gift card is disabled and replaced by one with its balance, expiry and customer', async ({ open, app, clock }) => {
  const shop = await sellingIn(app)
  const customer = await customerOf(app, shop.shop.name)
  const expiresAt = new Date(Math.floor(clock.now() / 60_000) * 60_000 + 90 * 86_400_000).toISOString()
  const { id, code } = await shop.giftCard(2_500, { customerId: customer.id, expiresAt, note: 'Birthday' })
  const cartId = await shop.cart({ token: customer.token })
  ok(await app.call('PATCH', '/giftcard/apply', { token: customer.token, body: { code, cartId } }))
  ok(await shop.checkout(cartId, {}, undefined, customer.token))
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/gift-cards/${id}`, width: 'phone' })
  await visitor.text('If it’s lost, disable this card and create a replacement.')
  await visitor.press('Disable', { role: 'button' })
  await visitor.press('Disable', { role: 'button', within: 'Disable this gift card?' })
  await visitor.text('Gift card disabled')
  await visitor.press('Create replacement', { role: 'link' })
  await visitor.text('Only this customer can use it')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Create', { role: 'button' })
  await visitor.text('Copy the code now')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Done', { role: 'button' })
  await visitor.settled()
  const { data } = ok(await shop.get('/giftcard')).body
  const balance = shop.money(1_500)
  expect(data).toMatchObject([
    { status: 'ACTIVE', balance, initialAmount: balance, customerId: customer.id, expiresAt, note: `Replaces card …${code.slice(-4)}` },
    { id, status: 'DISABLED', balance, note: 'Birthday' },
  ])
})
