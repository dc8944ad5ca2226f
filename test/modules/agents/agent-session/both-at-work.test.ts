/** Agent and page act on one session: each payment happens once, for the amount that its payer saw. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq, inArray } from 'drizzle-orm'
import { agentSessions } from '../../../../db/schema/agents.ts'
import { orders } from '../../../../db/schema/selling.ts'
import { UcpError } from '../../../../src/lib/ucp/errors.ts'
import { agentOf, amountsOf, buyer, paidBy, shippedTo } from '../../../support/agent-calls.ts'
import { agentsOn } from '../../../support/agent-sessions.ts'
import { type Answer, type Json, testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { browserOn, formOf } from '../../../support/drafts.ts'
import { sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const line = (id: string, quantity = 1) => ({ item: { id }, quantity })

/** Every session of a test is paid from one address. */
const settings = { ...agentsOn, UNPAID_ORDERS_PER_ADDRESS: '1000', UNPAID_ORDERS_PER_SHOP: '1000' }

async function world() {
  const app = await testApp(settings)
  const shop = await sellingIn(app, { onHand: 1_000 })
  const agent = agentOf(app, shop)
  return {
    app,
    shop,
    agent,
    async ready(quantity = 1) {
      const session = await agent.create({ line_items: [line(shop.variantId, quantity)], buyer, fulfillment: shippedTo() })
      return { session, page: browserOn(app, session.continue_url) }
    },
    async [Symbol.asyncDispose]() {
      await app.close()
    },
  }
}
type World = Awaited<ReturnType<typeof world>>

async function ordersOf({ app, shop }: World, { id }: Json): Promise<Json[]> {
  const ofSession = app.deps.db.read.select({ cartId: agentSessions.cartId }).from(agentSessions).where(eq(agentSessions.id, id))
  const rows = await app.deps.db.read.select({ id: orders.id }).from(orders).where(inArray(orders.cartId, ofSession))
  return Promise.all(rows.map((row) => shop.order(row.id)))
}
const settled = (work: Promise<Json>): Promise<Json> =>
  work.catch((error: unknown) => {
    if (error instanceof UcpError) return { refused: error.code }
    throw error
  })

/** What a party does, and what it was shown when it pays. */
type Party = { readonly name: string; readonly act: (world: World, session: Json, form: Record<string, string>) => Promise<Json> }
const completes = (token: string): Party => ({
  name: `the agent completes with ${token}`,
  act: ({ agent }, { id }) => settled(agent.complete(id, paidBy(token))),
})
const pays: Party = { name: 'the page pays', act: ({ app }, { continue_url }, form) => browserOn(app, continue_url).send(form) }
const puts: Party = {
  name: 'the agent changes',
  act: ({ agent, shop }, { id }) => settled(agent.put(id, { line_items: [line(shop.variantId, 3)], buyer, fulfillment: shippedTo() })),
}
const cancels: Party = { name: 'the agent cancels', act: ({ agent }, { id }) => settled(agent.cancel(id)) }
const types: Party = {
  name: 'the page saves details',
  act: ({ app }, { continue_url }) => browserOn(app, continue_url).send({ step: 'details', email: 'typed@example.com' }),
}
const goesBack: Party = {
  name: 'the page goes back',
  act: ({ app }, { continue_url }) => browserOn(app, continue_url).send({ step: 'back' }),
}

const parties = [completes('tok_success'), completes('tok_decline'), completes('tok_action'), pays, puts, cancels, types, goesBack]

/** Every order that was paid has a total that its payer saw, and there is one of them at most. */
async function assertPaidOnce(here: World, session: Json, results: readonly Json[], what: string): Promise<void> {
  const { agent } = here
  const paid = (await ordersOf(here, session)).filter((order) => order.status !== 'CANCELLED' && order.paymentStatus === 'CAPTURED')
  const seen = new Set([amountsOf(session)['total'], ...results.flatMap((one) => (one.totals ? [amountsOf(one)['total']] : []))])
  expect([what, paid.length <= 1]).toEqual([what, true])
  for (const order of paid) expect([what, seen.has(order.total.amount)]).toEqual([what, true])
  const last = await agent.read(session.id)
  expect([what, last.status === 'completed']).toEqual([what, paid.length === 1])
  if (paid.length === 1) expect([what, amountsOf(last)['total']]).toEqual([what, paid[0].total.amount])
  const payments = paid.flatMap((order) => order.payments.filter(({ status }: { status: string }) => status === 'CAPTURED'))
  expect([what, payments.length]).toEqual([what, paid.length])
}

for (const first of parties)
  test(`${first.name}, while another acts at the same moment`, async () => {
    await using here = await world()
    for (const second of parties) {
      const { session, page } = await here.ready()
      const form = formOf(await page.look(), 'pay')
      const results = await Promise.all([first, second].map(({ act }) => act(here, session, form)))
      await assertPaidOnce(here, session, results, `${first.name}, ${second.name}`)
    }
    expect(violationsOf(await booksOf(here.app))).toEqual([])
  })

test('one after the other, in every order, with the page as it was opened before', async () => {
  await using here = await world()
  for (const first of parties)
    for (const second of parties) {
      const { session, page } = await here.ready()
      const form = formOf(await page.look(), 'pay')
      const results = [await first.act(here, session, form), await second.act(here, session, form)]
      await assertPaidOnce(here, session, results, `${first.name}, then ${second.name}`)
    }
  expect(violationsOf(await booksOf(here.app))).toEqual([])
})

test('ten completions at once place one order', async () => {
  await using here = await world()
  const { session } = await here.ready()
  const results: Json[] = await Promise.all(Array.from({ length: 10 }, () => settled(here.agent.complete(session.id))))
  await assertPaidOnce(here, session, results, 'ten')
  expect(await ordersOf(here, session)).toHaveLength(1)
  expect(results.some(({ status }) => status === 'completed')).toBe(true)
  for (const result of results)
    expect(['completed', 'complete_in_progress', 'session_closed', 'unavailable']).toContain(result.status ?? result.refused)
})

test('the page pays the total of a change that it showed, and an old page nothing', async () => {
  await using here = await world()
  const { session, page } = await here.ready()
  const old = formOf(await page.look(), 'pay')
  const changed = await here.agent.put(session.id, { line_items: [line(here.shop.variantId, 2)], buyer, fulfillment: shippedTo() })
  expect((await page.send(old)).text).toContain('The order has changed')
  expect((await page.send(formOf((await page.look()) as Answer, 'pay'))).status).toBe(303)
  await assertPaidOnce(here, session, [changed], 'changed')
  expect((await ordersOf(here, session)).map(({ total }) => total.amount)).toEqual([2_000])
})
