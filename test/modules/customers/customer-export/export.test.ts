/** Tests the export of all data of a customer as JSON. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { CustomerExport } from '../../../../src/modules/customers/customer-export/model.ts'
import { testApp } from '../../../support/app.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { plantedAddress, plantedPerson } from '../../../support/personal-data.ts'
import { requestedReturnOf } from '../../../support/returns.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

describe('the export of a customer', () => {
  test('exports account, addresses, orders, carts, sessions, mails, gift cards and activity of that customer only', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const [shop, other] = [await sellingIn(app, { onHand: 200 }), await sellingIn(app)]
    const { id, token } = await customerOf(app, shop.shop.name, plantedPerson.email)
    ok(
      await app.call('PATCH', '/customer/me', {
        token,
        body: { name: plantedPerson.name, phone: plantedPerson.phone, acceptsMarketing: true },
      }),
    )
    ok(await shop.post(`/customer/${id}/addresses`, plantedAddress))
    const orderIds: string[] = []
    // More than one page of orders.
    for (let nth = 0; nth < 21; nth++)
      orderIds.push((await shop.placeOrder({ token, email: plantedPerson.email, shippingAddress: plantedAddress })).id)
    ok(await shop.post(`/v2/orders/${orderIds[0]}/notes`, { text: plantedPerson.note }))
    const guest = await shop.placeOrder({ email: plantedPerson.email.toUpperCase() })
    const stranger = await shop.placeOrder({ email: 'stranger@example.com' })
    await other.placeOrder({ email: plantedPerson.email })
    const carts = [await shop.cart({ token, email: plantedPerson.email }), await shop.cart({ email: plantedPerson.email })]
    const card = await shop.giftCard(500, { customerId: id })
    const draftInput = {
      customerId: id,
      note: plantedPerson.note,
      lines: [{ variantId: shop.variantId, quantity: 1 }],
      email: plantedPerson.email,
    }
    const draft = ok(await shop.post('/v2/orders/drafts', draftInput), 201).body
    ok(await shop.post(`/v2/orders/drafts/${draft.id}/send`, {}))

    const answer = await shop.get(`/customer/${id}/export`)
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ])
    const { body } = answer
    const check = TypeCompiler.Compile(CustomerExport)
    expect([...check.Errors(body)].slice(0, 3).map(({ path, message }) => `${path} ${message}`)).toEqual([])
    const ids = (rows: { id: string }[]) => rows.map((row) => row.id).sort()
    expect(body.customer).toMatchObject({ id, email: plantedPerson.email, name: plantedPerson.name, ordersCount: 21 })
    expect(ids(body.orders)).toEqual(orderIds.toSorted())
    expect(body.orders[0].notes[0].text).toBe(plantedPerson.note)
    expect(ids(body.guestOrders)).toEqual([guest.id])
    expect(body.addresses.map(({ line1 }: { line1: string }) => line1)).toEqual([plantedPerson.line1])
    for (const cart of carts) expect(ids(body.carts)).toContain(cart)
    expect(body.carts.flatMap((cart: { draft: { id: string; note: string } | null }) => cart.draft ?? [])).toMatchObject([
      { id: draft.id, note: plantedPerson.note, sends: 1 },
    ])
    expect(body.mails.map(({ about }: { about: string }) => about)).toContain(`${draft.id}:1`)
    expect(ids(body.giftCards)).toEqual([card.id])
    expect(body.sessions).toHaveLength(1)
    expect(body.mails.map(({ about }: { about: string }) => about)).toContain(orderIds[0])
    expect(body.activity.map(({ action }: { action: string }) => action)).toContain('customer.changed')
    expect(answer.text).not.toContain(stranger.id)
    expect(answer.text).not.toContain(card.code)
    const auditRows = (await app.call('GET', '/admin/audit?action=customer.exported', { token: (await app.superAdmin()).token })).body
    expect(auditRows.data.map(({ subject }: { subject: string }) => subject)).toEqual([id])
  })

  test('exports the mails about returns', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    const { id: customerId, token } = await customerOf(app, shop.shop.name, plantedPerson.email)
    const { id } = await requestedReturnOf(shop, { token, email: plantedPerson.email })
    const { body } = await shop.get(`/customer/${customerId}/export`)
    expect(body.mails.map(({ about }: { about: string }) => about)).toContain(`${id}:REQUESTED`)
  })

  test('allows two customer exports per shop at once, and frees the slot when one ends', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = await customerOf(app, shop.shop.name, plantedPerson.email)
    const requestExport = () =>
      app.edge.fetch(new Request(`http://localhost/customer/${id}/export`, { headers: { 'x-service-api-key': shop.secretKey } }), {
        requestIP: () => ({ address: '127.0.0.1' }),
      })
    const [one, two] = [await requestExport(), await requestExport()]
    expect((await requestExport()).status).toBe(429)
    await one.body?.cancel()
    const three = await requestExport()
    expect(three.status).toBe(200)
    for (const answer of [two, three]) expect(((await answer.json()) as { customer: { id: string } }).customer.id).toBe(id)
    const [next, last] = [await requestExport(), await requestExport()]
    expect([next.status, last.status]).toEqual([200, 200])
    await Promise.all([next.body?.cancel(), last.body?.cancel()])
  })

  test("allows only the customer's own shop to export a customer", async () => {
    await using app = await testApp()
    const [shop, other] = [await sellingIn(app), await sellingIn(app)]
    const { id, token } = await customerOf(app, shop.shop.name)
    expect((await other.get(`/customer/${id}/export`)).status).toBe(404)
    expect((await app.call('GET', `/customer/${id}/export`, { token })).status).toBe(403)
    expect((await app.call('GET', `/customer/${id}/export`, { key: shop.publishableKey })).status).toBe(403)
    expect((await app.call('GET', `/customer/${id}/export`, { token: shop.token })).status).toBe(200)
  })
})
