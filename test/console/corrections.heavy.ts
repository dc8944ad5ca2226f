/** Tests corrections of customers and orders in the console, in a browser. */
import { expect, setDefaultTimeout } from 'bun:test'
import { consoleTests } from '../support/console-tests.ts'
import { address, ok, type Selling, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const evil = '=1+1 "><img src=x onerror=alert(1)> <b>bold</b>'
const { test } = consoleTests({ fill: async ({ app }) => ({ selling: await sellingIn(app, { onHand: 1_000 }) }) })
const at = ({ shop }: Selling, rest: string) => `s/${shop.name}/${rest}`

for (const width of ['desk', 'phone'] as const)
  test(`a customer is edited with a note and tags, and found by tag (${width})`, async ({ open, data: { selling } }) => {
    const { id } = ok(await selling.post('/customer', { email: `edit-${width}@example.com`, name: 'Sara Bat' })).body
    ok(await selling.app.call('PATCH', `/customer/${id}`, { key: selling.secretKey, body: { tags: [`vip-${width}`] } }))
    const visitor = await open({ as: selling, at: at(selling, `customers/${id}?edit=1`), width })
    await visitor.there('Edit customer', { role: 'dialog' })
    await visitor.fill('Name', 'Sara Changed', { within: 'Edit customer' })
    await visitor.fill(/^Note/, evil, { within: 'Edit customer' })
    expect(await visitor.axe()).toEqual([])
    await visitor.press('Save', { role: 'button' })
    await visitor.heading('Sara Changed')
    await visitor.text(evil)
    expect(await visitor.axe()).toEqual([])
    expect(ok(await selling.get(`/customer/${id}`)).body).toMatchObject({ name: 'Sara Changed', note: evil, tags: [`vip-${width}`] })
    await visitor.go(at(selling, `customers?tag=VIP-${width}`))
    await visitor.there('Sara Changed', { role: 'link' })
    expect(await visitor.axe()).toEqual([])
  })

test('an order’s address is corrected after a preview of the difference, and the timeline has the old one', async ({
  open,
  data: { selling },
}) => {
  const { token, app } = selling
  const rates = [
    { country: 'US', region: 'ME', rateBps: 500 },
    { country: 'US', region: 'NY', rateBps: 800 },
  ]
  ok(await app.call('PUT', '/shops/v2/tax-rates', { token, body: { data: rates } }))
  const { id } = await selling.placeOrder({ shippingAddress: address })
  const visitor = await open({ as: selling, at: at(selling, `orders/${id}`), width: 'phone' })
  await visitor.press('Edit: Shipping address', { role: 'link' })
  await visitor.there('Shipping address', { role: 'dialog' })
  await visitor.fill(/^(State|Province)/, 'NY', { within: 'Shipping address' })
  expect(await visitor.axe()).toEqual([])
  visitor.expects(`PATCH /v2/orders/${id} 409`)
  await visitor.press('Save', { role: 'button' })
  await visitor.text('Tax or shipping changes')
  expect(await visitor.axe()).toEqual([])
  await visitor.press('Use this address anyway', { role: 'button' })
  await visitor.text('Noor Haddad, 1 Quay Street, Portland, ME, 04101, US')
  expect(ok(await selling.get(`/v2/orders/${id}`)).body).toMatchObject({ shippingAddress: { province: 'NY' }, taxTotal: selling.usd(50) })
})
