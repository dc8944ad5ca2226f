/** Tests an agent and the page that act on one session: one payment, for the total that its payer saw. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq, inArray } from 'drizzle-orm'
import { agentSessions } from '../../../../db/schema/agents.ts'
import { orders } from '../../../../db/schema/selling.ts'
import { UcpError } from '../../../../src/lib/ucp/errors.ts'
import { agentOf, amountsOf, buyer, fulfillmentTo, paymentWithToken } from '../../../support/agent-calls.ts'
import { agentsOn } from '../../../support/agent-sessions.ts'
import { type Answer, type Json, testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { browserOn, formOf } from '../../../support/drafts.ts'
import { sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })

/** Raises the limits, because all sessions of a test are paid from one address. */
const settings = { ...agentsOn, UNPAID_ORDERS_PER_ADDRESS: '1000', UNPAID_ORDERS_PER_SHOP: '1000' }

async function startWorld() {
  const app = await testApp(settings)
  const shop = await sellingIn(app, { onHand: 1_000 })
  const agent = agentOf(app, shop)
  return {
    app,
    shop,
    agent,
    async ready(quantity = 1) {
      const session = await agent.create({ line_items: [line(shop.variantId, quantity)], buyer, fulfillment: fulfillmentTo() })
      return { session, page: browserOn(app, session.continue_url) }
    },
    async [Symbol.asyncDispose]() {
      await app.close()
    },
  }
}
type World = Awaited<ReturnType<typeof startWorld>>

async function ordersOf({ app, shop }: World, { id }: Json): Promise<Json[]> {
  const ofSession = app.deps.db.read.select({ cartId: agentSessions.cartId }).from(agentSessions).where(eq(agentSessions.id, id))
  const rows = await app.deps.db.read.select({ id: orders.id }).from(orders).where(inArray(orders.cartId, ofSession))
  return Promise.all(rows.map((row) => shop.order(row.id)))
}
const resultOrRefusal = (work: Promise<Json>): Promise<Json> =>
  work.catch((error: unknown) => {
    if (error instanceof UcpError) return { refused: error.code }
    throw error
  })

/** An action of the agent or the page. `form` is the payment form that the page showed. */
type Action = { readonly name: string; readonly act: (world: World, session: Json, form: Record<string, string>) => Promise<Json> }
const completes = (token: string): Action => ({
  name: `the agent completes with ${token}`,
  act: ({ agent }, { id }) => resultOrRefusal(agent.complete(id, paymentWithToken(token))),
})
const pays: Action = { name: 'the page pays', act: ({ app }, { continue_url }, form) => browserOn(app, continue_url).send(form) }
const puts: Action = {
  name: 'the agent changes',
  act: ({ agent, shop }, { id }) =>
    resultOrRefusal(agent.put(id, { line_items: [line(shop.variantId, 3)], buyer, fulfillment: fulfillmentTo() })),
}
const cancels: Action = { name: 'the agent cancels', act: ({ agent }, { id }) => resultOrRefusal(agent.cancel(id)) }
const savesDetails: Action = {
  name: 'the page saves details',
  act: ({ app }, { continue_url }) => browserOn(app, continue_url).send({ step: 'details', email: 'typed@example.com' }),
}
const goesBack: Action = {
  name: 'the page goes back',
  act: ({ app }, { continue_url }) => browserOn(app, continue_url).send({ step: 'back' }),
}

const actions = [completes('tok_success'), completes('tok_decline'), completes('tok_action'), pays, puts, cancels, savesDetails, goesBack]

/** Asserts that at most one order is paid, and that its payer saw the total. */
async function assertPaidOnce(here: World, session: Json, results: readonly Json[], label: string): Promise<void> {
  const { agent } = here
  const paidOrders = (await ordersOf(here, session)).filter((order) => order.status !== 'CANCELLED' && order.paymentStatus === 'CAPTURED')
  const seenTotals = new Set([amountsOf(session)['total'], ...results.flatMap((one) => (one.totals ? [amountsOf(one)['total']] : []))])
  expect([label, paidOrders.length <= 1]).toEqual([label, true])
  for (const order of paidOrders) expect([label, seenTotals.has(order.total.amount)]).toEqual([label, true])
  const last = await agent.read(session.id)
  expect([label, last.status === 'completed']).toEqual([label, paidOrders.length === 1])
  if (paidOrders.length === 1) expect([label, amountsOf(last)['total']]).toEqual([label, paidOrders[0].total.amount])
  const payments = paidOrders.flatMap((order) => order.payments.filter(({ status }: { status: string }) => status === 'CAPTURED'))
  expect([label, payments.length]).toEqual([label, paidOrders.length])
}

for (const first of actions)
  test(`${first.name}at the same moment as each other action, and at most one order is paid`, async () => {
    await using here = await startWorld()
    for (const second of actions) {
      const { session, page } = await here.ready()
      const form = formOf(await page.look(), 'pay')
      const results = await Promise.all([first, second].map(({ act }) => act(here, session, form)))
      await assertPaidOnce(here, session, results, `${first.name}, ${second.name}`)
    }
    expect(violationsOf(await booksOf(here.app))).toEqual([])
  })

test('two actions in sequence, on a page that was opened before, pay at most one order', async () => {
  await using here = await startWorld()
  for (const first of actions)
    for (const second of actions) {
      const { session, page } = await here.ready()
      const form = formOf(await page.look(), 'pay')
      const results = [await first.act(here, session, form), await second.act(here, session, form)]
      await assertPaidOnce(here, session, results, `${first.name}, then ${second.name}`)
    }
  expect(violationsOf(await booksOf(here.app))).toEqual([])
})

test('ten concurrent completions place one order', async () => {
  await using here = await startWorld()
  const { session } = await here.ready()
  const results: Json[] = await Promise.all(Array.from({ length: 10 }, () => resultOrRefusal(here.agent.complete(session.id))))
  await assertPaidOnce(here, session, results, 'ten')
  expect(await ordersOf(here, session)).toHaveLength(1)
  expect(results.some(({ status }) => status === 'completed')).toBe(true)
  for (const result of results)
    expect(['completed', 'complete_in_progress', 'session_closed', 'unavailable']).toContain(result.status ?? result.refused)
})

test('the page charges the changed total that it showed, and an outdated page charges nothing', async () => {
  await using here = await startWorld()
  const { session, page } = await here.ready()
  const outdatedForm = formOf(await page.look(), 'pay')
  const changed = await here.agent.put(session.id, { line_items: [line(here.shop.variantId, 2)], buyer, fulfillment: fulfillmentTo() })
  expect((await page.send(outdatedForm)).text).toContain('The order has changed')
  expect((await page.send(formOf((await page.look()) as Answer, 'pay'))).status).toBe(303)
  await assertPaidOnce(here, session, [changed], 'changed')
  expect((await ordersOf(here, session)).map(({ total }) => total.amount)).toEqual([2_000])
})
