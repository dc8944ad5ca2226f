/** Packing slips of one order and of a selection. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type Json, testApp } from '../../../support/app.ts'
import { address, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const shopper = { shippingAddress: { ...address, phone: '+1 555 0100', company: '<i>Haddad</i> Ltd' } }

test('prints the units that are left to send, else those that were sent, without prices and scripts', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app, { price: 12_345 })
  const { id, lines } = await shop.placeOrder({ ...shopper, quantity: 3 })
  const path = `/v2/orders/${id}/packing-slip`
  const slip = ok(await shop.get(path))
  expect(slip.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(slip.headers.get('cache-control')).toBe('no-store')
  expect(slip.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  )
  for (const shown of [
    '<h1>Packing slip for order 1</h1>',
    'Noor Haddad',
    '1 Quay Street',
    'Portland, ME 04101',
    '&lt;i&gt;Haddad&lt;/i&gt; Ltd',
  ])
    expect(slip.text).toContain(shown)
  for (const hidden of ['123.45', '370.35', 'USD', '$', '<script', '<i>', '555', 'guest@', 'Total']) expect(slip.text).not.toContain(hidden)
  expect(slip.text).toContain('<td class="n">3</td>')
  ok(await shop.post(`/v2/orders/${id}/fulfilments`, { lines: [{ lineId: lines[0].id, quantity: 1 }] }), 201)
  expect(ok(await shop.get(path)).text).toContain('<td class="n">2 of 3</td>')
  ok(await shop.refund(id, { lines: [{ lineId: lines[0].id, quantity: 2 }] }))
  expect(ok(await shop.get(path)).text).toContain('<td class="n">1 of 3</td>')
  const cancelled = await shop.placeOrder()
  ok(await shop.post(`/v2/orders/${cancelled.id}/cancel`, {}))
  const refused = await shop.get(`/v2/orders/${cancelled.id}/packing-slip`)
  expect([refused.status, refused.body.message]).toEqual([409, 'Order 2 has nothing to pack'])
})

test('prints selected orders in the requested sequence, each on its own sheet, in the language of the shop', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const stranger = await sellingIn(app)
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await shop.placeOrder()).id)
  const [one, two, three] = ids as [string, string, string]
  const print = (list: readonly string[]) => shop.get(`/v2/orders/documents?ids=${list.join(',')}`)
  const { text } = ok(await print([three, one]))
  expect([...text.matchAll(/<h1>([^<]*)<\/h1>/g)].map(([, title]) => title)).toEqual([
    'Packing slip for order 3',
    'Packing slip for order 1',
  ])
  expect(text.match(/<section class="sheet" lang="en" dir="ltr">/g)?.length).toBe(2)
  expect(text).toContain('.sheet{break-after:page}')
  expect(ok(await shop.get(`/v2/orders/documents?type=packing-slip&ids=${two}`)).text).toContain('<title>Packing slip for order 2</title>')
  ok(await shop.app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { language: 'ar' } }))
  expect(ok(await print([two])).text).toContain('<html lang="ar" dir="rtl">')
  const foreign = await stranger.placeOrder()
  for (const [list, status, field] of [
    [[one, foreign.id], 404, undefined],
    [['order_none'], 404, undefined],
    [[one, one], 400, 'ids'],
    [[one, ''], 400, 'ids'],
    [Array.from({ length: 101 }, (_, n) => `order_${n}`), 400, 'ids'],
  ] as const) {
    const { status: answered, body } = (await print(list)) as { status: number; body: Json }
    expect([list.length, answered, body.field]).toEqual([list.length, status, field])
  }
  for (const query of ['', '?ids=', `?ids=${one}&type=label`, `?ids=${one}&format=pdf`])
    expect([query, (await shop.get(`/v2/orders/documents${query}`)).status]).toEqual([query, 400])
  expect((await shop.get(`/v2/orders/${foreign.id}/packing-slip`)).status).toBe(404)
})
