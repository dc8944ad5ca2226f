/** Tests that a platform pays the total that it was last shown, once, and can cancel. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { UcpError } from '../../../../src/lib/ucp/errors.ts'
import { agentOf, amountsOf, buyer, codesOf, fulfillmentTo, home, paymentWithToken } from '../../../support/agent-calls.ts'
import { agentsOn } from '../../../support/agent-sessions.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { browserOn, formOf } from '../../../support/drafts.ts'
import { confirmAtSandbox } from '../../../support/sandbox.ts'
import { address, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { ucpSkipNote } from '../../../support/ucp-schemas.ts'

setDefaultTimeout(longTestMs)

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })
async function startShop(agent: Parameters<typeof agentOf>[2] = {}, settings: Parameters<typeof sellingIn>[1] = {}) {
  const app = await testApp(agentsOn)
  const shop = await sellingIn(app, settings)
  const platform = agentOf(app, shop, agent)
  return {
    app,
    shop,
    agent: platform,
    ready: (quantity = 1) => platform.create({ line_items: [line(shop.variantId, quantity)], buyer, fulfillment: fulfillmentTo() }),
    async [Symbol.asyncDispose]() {
      await app.close()
    },
  }
}
const listOrders = async (shop: Selling) => ok(await shop.get('/v2/orders')).body.data
const listChargedTotals = async (shop: Selling): Promise<number[]> =>
  (await listOrders(shop))
    .filter(({ paymentStatus }: { paymentStatus: string }) => paymentStatus === 'CAPTURED')
    .map((order: { total: { amount: number } }) => order.total.amount)
const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof UcpError ? error.code : String(error)),
  )
const reprice = (app: TestApp, shop: Selling, amount: number) =>
  app.call('PATCH', `/product-v2/${shop.productId}`, {
    token: shop.token,
    body: { variants: [{ id: shop.variantId, price: shop.money(amount) }] },
  })

for (const release of ['2026-08-25', '2026-04-08'] as const)
  test(`a platform of ${release} pays the total that it was shown, and sees the order${ucpSkipNote}`, async () => {
    await using world = await startShop({ release, profile: 'https://platform.example/ucp.json' })
    const { shop, agent, ready } = world
    const session = await ready(2)
    expect(session.continue_url).toStartWith('https://souk.example/pages/buy/')
    const completed = await agent.complete(session.id)
    const [order] = await listOrders(shop)
    expect(completed).toMatchObject({ status: 'completed', totals: session.totals, order: { id: order.id, label: String(order.number) } })
    expect(completed.order.permalink_url).toBe(order.publicUrl)
    expect(completed.continue_url).toBeUndefined()
    expect(order).toMatchObject({ status: 'CONFIRMED', total: shop.money(2_000), email: buyer.email })
    expect(JSON.stringify(completed)).not.toContain('tok_')
    expect(await agent.read(session.id)).toEqual(completed)
    for (const closed of [
      agent.complete(session.id),
      agent.cancel(session.id),
      agent.put(session.id, { line_items: [line(shop.variantId)] }),
    ])
      expect(await refusalOf(closed)).toBe('session_closed')
    expect(await listChargedTotals(shop)).toEqual([2_000])
    expect(await shop.stock()).toEqual({ onHand: 8, reserved: 0 })
    // The response of a completion is stored once, as null: a retry computes it again.
    expect(agent.stored.filter((answer) => answer === null)).toHaveLength(1)
  })

test('a completion of an incomplete session changes nothing', async () => {
  await using world = await startShop()
  const { shop, agent } = world
  const session = await agent.create({ line_items: [line(shop.variantId)] })
  const answer = await agent.complete(session.id)
  expect([answer.status, codesOf(answer)]).toEqual(['incomplete', ['missing $.buyer.email']])
  expect(await listOrders(shop)).toEqual([])
  expect(await agent.complete('chk_00000000000000000000000000')).toMatchObject({
    ucp: { status: 'error' },
    messages: [{ code: 'not_found' }],
  })
  const stranger = agentOf(world.app, shop, { profile: 'https://other.example/ucp.json' })
  for (const work of [stranger.complete(session.id), stranger.cancel(session.id)])
    expect((await work).messages).toMatchObject([{ code: 'not_found' }])
})

test('an instrument must be the selected one of a handler that was offered', async () => {
  await using world = await startShop()
  const { shop, agent, ready } = world
  const session = await ready()
  const [one] = paymentWithToken('tok_success').payment.instruments
  for (const instruments of [
    [],
    [{ ...one, handler_id: 'stripe' }],
    [{ ...one, selected: false }],
    [one, { ...one, id: 'pi_2' }],
    [
      { ...one, selected: false },
      { ...one, handler_id: 'other', id: 'pi_2' },
    ],
  ]) {
    const answer = await agent.complete(session.id, { payment: { instruments } })
    expect([instruments.length, answer.status, codesOf(answer)]).toEqual([
      instruments.length,
      'ready_for_complete',
      ['handler_unavailable $.payment.instruments'],
    ])
  }
  const bare = await agent.complete(session.id, paymentWithToken('', { credential: { type: 'token' } }))
  expect(codesOf(bare)).toEqual(['missing $.payment.instruments[0].credential.token'])
  expect(await listOrders(shop)).toEqual([])
  expect((await agent.complete(session.id, { payment: { instruments: [{ ...one, selected: false, id: 'pi_0' }, one] } })).status).toBe(
    'completed',
  )
})

test('a card number in any field is refused before any other check', async () => {
  await using world = await startShop()
  const { app, shop, agent, ready } = world
  const session = await ready()
  for (const body of [
    paymentWithToken('4242424242424242'),
    paymentWithToken('tok_success', { credential: { type: 'card', number: '4242 4242 4242 4242', token: 'tok_success' } }),
    paymentWithToken('tok_success', { display: { anything: [{ deep: 4242424242424242 }] } }),
    { ...paymentWithToken('tok_success'), attribution: { source: '4242-4242-4242-4242' } },
  ])
    expect([body, await refusalOf(agent.complete(session.id, body))]).toEqual([body, 'raw_card_refused'])
  expect(await listOrders(shop)).toEqual([])
  expect(JSON.stringify(app.logged)).not.toMatch(/\b4242\b|4242.?4242/)
})

test('nothing is charged if the total changed since the last response', async () => {
  await using world = await startShop()
  const { app, shop, agent, ready } = world
  const cases: [string, () => Promise<unknown>][] = [
    ['a price', () => reprice(app, shop, 1_500)],
    ['a price that falls', () => reprice(app, shop, 900)],
    ['a tax', () => shop.put('/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: 1_000 }] })],
    ['a discount', () => shop.post('/discounts', { title: 'Sale', kind: 'PERCENT', valueBps: 500 })],
  ]
  for (const [label, change] of cases) {
    const session = await ready()
    await change()
    const response = await agent.complete(session.id)
    expect([label, response.status, codesOf(response).filter((code) => code !== 'tax_included')]).toEqual([
      label,
      'ready_for_complete',
      ['price_changed'],
    ])
    expect([label, amountsOf(response)['total'] === amountsOf(session)['total']]).toEqual([label, false])
    const before = await listChargedTotals(shop)
    expect((await agent.complete(session.id)).status).toBe('completed')
    expect((await listChargedTotals(shop)).toSorted()).toEqual([...before, amountsOf(response)['total'] ?? 0].toSorted())
  }
  // A read shows the new price as well.
  const session = await ready()
  await reprice(app, shop, 2_000)
  const read = await agent.read(session.id)
  expect((await agent.complete(session.id)).totals).toEqual(read.totals)
})

test('a price shown on the page does not count as shown to the platform, and vice versa', async () => {
  await using world = await startShop()
  const { app, shop, agent, ready } = world
  const session = await ready()
  const page = browserOn(app, session.continue_url)
  const outdatedForm = formOf(await page.look(), 'pay')
  await reprice(app, shop, 1_500)
  expect((await page.look()).text).toContain('$15.00')
  const response = await agent.complete(session.id)
  expect([codesOf(response), amountsOf(response)['total']]).toEqual([['price_changed'], 1_500])
  expect((await page.send(outdatedForm)).text).toContain('The order has changed')
  await reprice(app, shop, 1_200)
  const form = formOf(await page.look(), 'pay')
  const read = await agent.read(session.id)
  expect(amountsOf(read)['total']).toBe(form['due'] === undefined ? 0 : 1_200)
  expect((await agent.complete(session.id)).status).toBe('completed')
  expect(
    (
      await page.send(
        formOf(
          {
            ...(await page.look()),
            text: `<form method="post">${Object.entries(form)
              .map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
              .join('')}</form>`,
          },
          'pay',
        ),
      )
    ).text,
  ).toContain('Payment received')
  expect(await listChargedTotals(shop)).toEqual([1_200])
})

test('missing stock is reported instead of charged', async () => {
  await using world = await startShop({}, { onHand: 2 })
  const { shop, agent, ready } = world
  const session = await ready(2)
  await shop.placeOrder()
  const response = await agent.complete(session.id)
  expect([response.status, codesOf(response)]).toEqual(['incomplete', ['out_of_stock $.line_items[0]']])
  expect(await shop.stock()).toEqual({ onHand: 1, reserved: 0 })
})

test('a declined payment can be tried again ten times', async () => {
  await using world = await startShop()
  const { shop, agent, ready } = world
  const session = await ready()
  for (const token of ['tok_decline', 'tok_unknown']) {
    const response = await agent.complete(session.id, paymentWithToken(token))
    expect([token, response.status, codesOf(response)]).toEqual([token, 'ready_for_complete', ['payment_failed']])
    expect(response.continue_url).toBe(session.continue_url)
  }
  expect((await agent.complete(session.id)).status).toBe('completed')
  expect(await listChargedTotals(shop)).toEqual([1_000])
  const other = await ready()
  for (let nth = 0; nth < 10; nth++)
    expect(codesOf(await agent.complete(other.id, paymentWithToken('tok_decline')))).toEqual(['payment_failed'])
  expect(codesOf(await agent.complete(other.id))).toEqual(['payment_failed'])
  expect(await listChargedTotals(shop)).toEqual([1_000])
})

test('a payment that the payer must confirm continues on the hand-off page', async () => {
  await using world = await startShop()
  const { app, shop, agent, ready } = world
  const session = await ready()
  const response = await agent.complete(session.id, paymentWithToken('tok_action'))
  expect([response.status, codesOf(response), response.continue_url]).toEqual(['requires_escalation', [], session.continue_url])
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  const page = browserOn(app, response.continue_url)
  expect((await page.send(formOf(await page.look(), 'pay'))).status).toBe(303)
  expect((await agent.read(session.id)).status).toBe('completed')
  expect((await listOrders(shop)).map(({ status }: { status: string }) => status).toSorted()).toEqual(['CANCELLED', 'CONFIRMED'])
})

test('an undecided payment is in progress, and a retry with its key returns the result', async () => {
  await using world = await startShop()
  const { app, shop, agent, ready } = world
  const session = await ready()
  const attempt = { ...agent.call().attempt, key: 'one' }
  const response = await agent.complete(session.id, paymentWithToken('tok_timeout'), { attempt })
  expect([response.status, codesOf(response)]).toEqual(['complete_in_progress', []])
  expect((await agent.complete(session.id)).status).toBe('complete_in_progress')
  expect(await listOrders(shop)).toHaveLength(1)
  app.clock.advance(3 * 60 * 60_000)
  await app.jobs.resume()
  await app.jobs.closeOrders()
  await app.jobs.resume()
  const after = await agent.complete(session.id, paymentWithToken('tok_timeout'), { attempt: { ...attempt, isResumed: true } })
  expect([after.status, codesOf(after)]).toEqual(['ready_for_complete', ['payment_failed']])
})

const endings: Record<string, (world: Awaited<ReturnType<typeof startShop>>, orderId: string) => Promise<unknown>> = {
  'was cancelled by the shop': async ({ shop }, id) => ok(await shop.post(`/v2/orders/${id}/cancel`, {})),
  'is past its hour': async ({ app }) => app.clock.advance(61 * 60_000),
  expired: async ({ app }) => {
    app.clock.advance(61 * 60_000)
    await app.jobs.closeOrders()
    await app.jobs.resume()
  },
}
for (const [name, end] of Object.entries(endings))
  test(`a session whose unpaid order ${name} is paid by a new order, at the total that was last shown`, async () => {
    await using world = await startShop()
    const { shop, agent, ready } = world
    const session = await ready(2)
    expect(codesOf(await agent.complete(session.id, paymentWithToken('tok_decline')))).toEqual(['payment_failed'])
    await end(world, (await listOrders(shop))[0].id)
    expect((await agent.read(session.id)).status).toBe('ready_for_complete')
    ok(await shop.patch(`/product-v2/${shop.productId}`, { variants: [{ id: shop.variantId, price: shop.money(1_100) }] }))
    const changed = await agent.complete(session.id)
    expect([changed.status, codesOf(changed), amountsOf(changed)['total']]).toEqual(['ready_for_complete', ['price_changed'], 2_200])
    expect(await listChargedTotals(shop)).toEqual([])
    expect((await agent.complete(session.id)).status).toBe('completed')
    expect(await listChargedTotals(shop)).toEqual([2_200])
    expect(await shop.stock()).toEqual({ onHand: 8, reserved: 0 })
  })

test('a cancelled session cannot be paid', async () => {
  await using world = await startShop()
  const { app, shop, agent, ready } = world
  const session = await ready()
  const page = browserOn(app, session.continue_url)
  const form = formOf(await page.look(), 'pay')
  const canceled = await agent.cancel(session.id)
  expect([canceled.status, canceled.continue_url]).toEqual(['canceled', undefined])
  expect((await page.send(form)).text).toContain('This link has expired')
  const handedOff = await app.call('POST', '/cart/handoff', {
    key: shop.publishableKey,
    body: { token: session.continue_url.split('/').at(-1) },
  })
  expect(handedOff.status).toBe(404)
  for (const work of [agent.cancel(session.id), agent.complete(session.id)]) expect(await refusalOf(work)).toBe('session_closed')
  expect((await agent.read(session.id)).status).toBe('canceled')
  expect(await listOrders(shop)).toEqual([])
})

test('cancels an unpaid checkout of the page, but not a paid one', async () => {
  await using world = await startShop()
  const { app, shop, agent, ready } = world
  const cartOf = async (url: string) =>
    ok(await app.call('POST', '/cart/handoff', { key: shop.publishableKey, body: { token: url.split('/').at(-1) } }), 200).body.id
  const session = await ready()
  const unpaid = ok(await shop.checkout(await cartOf(session.continue_url), { paymentToken: 'tok_action' })).body
  expect(unpaid.payment.status).toBe('REQUIRES_ACTION')
  const during = await agent.read(session.id)
  expect([during.status, during.continue_url]).toEqual(['complete_in_progress', session.continue_url])
  expect((await agent.complete(session.id)).status).toBe('complete_in_progress')
  expect((await agent.cancel(session.id)).status).toBe('canceled')
  expect(await shop.stock()).toEqual({ onHand: 10, reserved: 0 })
  const other = await ready()
  const startedCheckout = ok(await shop.checkout(await cartOf(other.continue_url), { paymentToken: 'tok_action' })).body
  await confirmAtSandbox(app, startedCheckout.order.payments[0].id)
  expect(await refusalOf(agent.cancel(other.id))).not.toBe('none')
  expect((await agent.read(other.id)).status).toBe('completed')
})

test('no platform sees what a person types on the page', async () => {
  await using world = await startShop()
  const { app, agent, ready } = world
  const session = await ready()
  const page = browserOn(app, session.continue_url)
  const typed = { ...address, name: 'Zelda Secret', line1: '9 Hidden Lane', city: 'Nowhere', email: 'zelda@example.com' }
  ok(await page.send({ ...formOf(await page.look(), 'details'), ...typed }), 303)
  const response = await agent.complete(session.id)
  // The person changed the destination, so the platform must see the session again before it can pay.
  expect(codesOf(response)).toEqual(['price_changed'])
  const answers = [response, await agent.complete(session.id, paymentWithToken('tok_decline')), await agent.read(session.id)]
  await page.send(formOf(await page.look(), 'pay'))
  answers.push(await agent.read(session.id))
  expect(answers.at(-1).status).toBe('completed')
  for (const answer of answers) {
    for (const secret of ['Zelda', 'Hidden', 'Nowhere', 'zelda']) expect(JSON.stringify(answer)).not.toContain(secret)
    expect(answer.fulfillment.methods[0].destinations[0]).toMatchObject(home)
  }
})
