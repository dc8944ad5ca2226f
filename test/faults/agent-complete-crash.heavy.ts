/**
 * Stops the process after every commit of a completion or cancellation by a platform. Whatever the next process does,
 * the session ends as its order does, and nothing is charged that the platform was not shown.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { engine } from '../../db/columns.ts'
import type { OperationRequest } from '../support/act-until-killed.ts'
import { buyer, fulfillmentTo, paymentWithToken } from '../support/agent-calls.ts'
import { agentApp, agentsOn, enableAgents, platform, restCall } from '../support/agents.ts'
import type { Json, TestApp } from '../support/app.ts'
import { violationsAtRest } from '../support/books.ts'
import {
  type CrashScenario,
  crash,
  openScenario,
  type RecoveryStep,
  runLimited,
  runOperation,
  runUninterrupted,
  simulateKill,
} from '../support/crash.ts'
import { copyOf, testDatabase } from '../support/database.ts'
import { ok, type Selling, sellingIn } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const settings = { ...agentsOn, PUBLIC_URL: 'https://souk.example' }

type Fixture = { readonly app: TestApp; readonly shop: Selling; readonly id: string; readonly continueUrl: string }
type Scenario = {
  readonly name: string
  /** What happens before the request whose program stops. */
  readonly before?: (fixture: Fixture) => Promise<unknown>
  readonly tool: 'complete' | 'cancel'
  readonly body: Json
  /** The status in the answer of a retry. */
  readonly answer: string
  /** Totals of the orders that are paid in the end. */
  readonly charged: number[]
}

const reprice = ({ app, shop }: Fixture) =>
  app.call('PATCH', `/product-v2/${shop.productId}`, {
    token: shop.token,
    body: { variants: [{ id: shop.variantId, price: shop.money(1_500) }] },
  })
/** A person begins a payment on the storefront that must be confirmed. */
async function beginPayment({ app, shop, continueUrl }: Fixture): Promise<void> {
  const body = { token: continueUrl.split('/').at(-1) }
  const { id } = ok(await app.call('POST', '/cart/handoff', { key: shop.publishableKey, body }), 200).body
  ok(await shop.checkout(id, { paymentToken: 'tok_action' }))
}

const scenarios: Scenario[] = [
  { name: 'a completion', tool: 'complete', body: paymentWithToken('tok_success'), answer: 'completed', charged: [2_000] },
  {
    name: 'a completion whose capture is never answered',
    tool: 'complete',
    body: paymentWithToken('tok_crash'),
    answer: 'completed',
    charged: [2_000],
  },
  {
    name: 'a completion that is declined',
    tool: 'complete',
    body: paymentWithToken('tok_decline'),
    answer: 'ready_for_complete',
    charged: [],
  },
  {
    name: 'a completion that its payer must confirm',
    tool: 'complete',
    body: paymentWithToken('tok_action'),
    answer: 'requires_escalation',
    charged: [],
  },
  {
    name: 'a completion after a change of the price',
    before: reprice,
    tool: 'complete',
    body: paymentWithToken('tok_success'),
    answer: 'ready_for_complete',
    charged: [],
  },
  { name: 'a cancellation', tool: 'cancel', body: {}, answer: 'canceled', charged: [] },
  { name: 'a cancellation of a payment of the page', before: beginPayment, tool: 'cancel', body: {}, answer: 'canceled', charged: [] },
]

async function setStage({ before, tool, body }: Scenario): Promise<{ stage: CrashScenario; read: (app: TestApp) => Promise<Json> }> {
  const database = await testDatabase()
  await using app = await agentApp(settings, { database })
  const shop = await sellingIn(app)
  await enableAgents(app, shop.shop.id)
  const line = { item: { id: shop.variantId }, quantity: 2 }
  const sessionBody = { line_items: [line], buyer, fulfillment: fulfillmentTo() }
  const session = ok(await restCall(app, shop.shop.name, 'create_checkout', undefined, { body: sessionBody }), 201).body
  app.clock.advance(1_000)
  await before?.({ app, shop, id: session.id, continueUrl: session.continue_url })
  const operation: OperationRequest = {
    method: 'POST',
    path: `/ucp/${shop.shop.name}/checkout-sessions/${session.id}/${tool}`,
    options: { body, headers: { 'ucp-agent': `profile="${platform.url}"`, 'idempotency-key': randomUUID() } },
  }
  const read = async (app: TestApp) => ({
    retry: (await app.call(operation.method, operation.path, operation.options)).body.status,
    session: (await restCall(app, shop.shop.name, 'get_checkout', session.id)).body.status,
  })
  return { stage: { database, startAt: app.clock.now() + 1_000, operation, settings, extraRows: read }, read }
}

/** Each crash is followed by one of these; on SQLite, where copies are cheap, by all of them. */
const doings: RecoveryStep[][] = [['sendAgain', 'untilQuiet'], ['resume', 'sendAgain', 'untilQuiet'], ['untilQuiet']]

test.each(scenarios)('$name ends the same whichever commit the process stops after', async (scenario) => {
  const { stage } = await setStage(scenario)
  const uninterrupted = await runUninterrupted(stage, 'here')
  expect(uninterrupted.status).toBe(200)
  expect(uninterrupted.count).toBeGreaterThan(0)
  const crashes = Array.from(
    { length: uninterrupted.count },
    (_, nth) => () => crash(stage, 'here', nth + 1, engine === 'sqlite' ? doings : [doings[nth % doings.length] ?? []]),
  )
  for (const { what, steps, answers, states, errors, extraRows, problems } of (await runLimited(crashes, 2)).flat()) {
    const end = states.at(-1)
    if (!end) throw new Error('no end')
    expect(errors, what).toEqual([])
    expect([what, problems]).toEqual([what, []])
    expect([what, violationsAtRest(end)]).toEqual([what, []])
    expect([what, answers.filter((status) => status !== 200)]).toEqual([what, []])
    const paid = end.orders.filter(({ status }) => status === 'CONFIRMED')
    const wasSent = steps.includes('sendAgain')
    // Without a retry, the request may have had no effect.
    const expected = wasSent || paid.length > 0 ? scenario.charged : []
    expect([what, paid.map(({ total }) => total)]).toEqual([what, expected])
    // Undefined after the session and its keys have ended.
    const { retry, session } = extraRows as { retry: string; session: string }
    if (paid.length > 0) expect([what, retry, session]).toEqual([what, 'completed', 'completed'])
    else expect([what, session === 'completed']).toEqual([what, retry === 'completed'])
  }
  await stage.database.drop()
})

test.each(scenarios)('a retry of $name is answered as without a crash', async (scenario) => {
  const { stage } = await setStage(scenario)
  const { operation } = stage
  if (typeof operation === 'string') throw new Error('a request is sent')
  let writes = 1
  for (let stopAfter = 1; stopAfter <= writes; stopAfter++) {
    const copy = await copyOf(stage.database)
    const { app } = await openScenario(stage, copy, undefined)
    const { stopped, count } = simulateKill(app, undefined, stopAfter)
    const work = runOperation(app, operation)
    work.catch(() => undefined)
    const isStopped = (await Promise.race([work, stopped])) === 'stopped'
    await app.abandon()
    if (isStopped) writes = Math.max(writes, count() + 1)
    const { app: next } = await openScenario(stage, copy, undefined, 40_000)
    const { body } = ok(await next.call(operation.method, operation.path, operation.options), 200)
    expect([stopAfter, body.status, next.logged.filter(({ level }) => level === 'error')]).toEqual([stopAfter, scenario.answer, []])
    await next.close()
    await copy.drop()
  }
  expect(writes).toBeGreaterThan(1)
  await stage.database.drop()
})
