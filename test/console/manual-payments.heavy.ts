/** Tests manual payments in the console: their setup, marking an order as paid, and a refund by hand. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { manualOrderOf } from '../support/manual-payments.ts'
import { ok, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const { test } = consoleTests()
const hostile = '<img src=x onerror="alert(1)"> =1+1'

test('a manual payment is added on a phone, and saving the other methods keeps it', async ({ open, app }) => {
  const shop = await sellingIn(app)
  const methods = async () => ok(await app.call('GET', '/shops/v2/payment-methods', { token: shop.token })).body
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/settings/payments`, width: 'phone' })
  await visitor.press('Add manual payment', { role: 'link' })
  await visitor.heading('Manual payments')
  await visitor.fill('Name', hostile)
  await visitor.fill('Expires after (days)', '14')
  await visitor.fill('Instructions', `${hostile}\nLine 2`)
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Save')
  await visitor.notice('Saved')
  const manual = [{ code: 'img-src-x-onerror-alert-1-1-1', title: hostile, instructions: `${hostile}\nLine 2`, expiresAfterDays: 14 }]
  expect((await methods()).manual).toEqual(manual)
  await visitor.heading('Payments')
  const region = `document.querySelector('main section[aria-label="Active payment methods"]')`
  const active = `[...${region}.querySelectorAll('.end.selected')].map((end) => [end.closest('.payment-method').querySelector('h3').innerText, end.innerText])`
  await visitor.until(`${active}.length === 2`, 'the active methods')
  expect(await visitor.page.evaluate(active)).toEqual([
    [hostile, 'Active: you mark orders as paid'],
    ['Test payments (sandbox)', 'Active until you go live'],
  ])
  await visitor.width('desk')
  await visitor.tabTo('Status', { role: 'combobox' })
  await visitor.key('ArrowDown')
  await visitor.press('Save')
  await visitor.settled()
  expect(await methods()).toMatchObject({ card: { enabled: true }, manual })
  expect(await visitor.axe()).toEqual([])
})

test('an order is marked as paid, and its refund says that the money is returned by hand', async ({ open, app }) => {
  const shop = await sellingIn(app)
  const { orderId } = await manualOrderOf(shop)
  const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders/${orderId}`, width: 'phone', scheme: 'dark' })
  await visitor.text('Bank transfer')
  await visitor.press('Mark as paid', { role: 'link' })
  await visitor.fill('Payment reference', 'SEPA 1')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Mark as paid', { role: 'button' })
  await visitor.text('SEPA 1')
  expect((await shop.order(orderId)).status).toBe('CONFIRMED')
  await visitor.press('Refund', { role: 'link' })
  await visitor.fill(/^Quantity/, '1')
  await visitor.text('return the money yourself')
  expect(await visitor.axe()).toEqual([])
})
