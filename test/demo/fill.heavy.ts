/** Tests the content of the demo through the API, and that an interrupted fill continues without duplicates. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { engine } from '../../db/columns.ts'
import type { Writer } from '../../db/engine.ts'
import { attestations } from '../../db/schema/trust.ts'
import { demoCustomer, demoOperator, demoShop } from '../../src/demo/data.ts'
import { demoShops, fillDemo } from '../../src/demo/fill.ts'
import { pastProcessors } from '../../src/demo/processors.ts'
import { demoTwoFactorOperator } from '../../src/demo/second-factor.ts'
import { demoStaff } from '../../src/demo/staff.ts'
import { dayMs } from '../../src/lib/day.ts'
import { decimalsOf } from '../../src/lib/money.ts'
import { documentsOf } from '../../src/modules/lending/application/checklist.ts'
import { lendingStatuses } from '../../src/modules/lending/application/domain.ts'
import { replay } from '../../src/modules/lending/credit/index.ts'
import { rebuildKpis } from '../../src/modules/operations/kpi/index.ts'
import { keySeal } from '../../src/modules/shop/shop/domain.ts'
import { checkTrustFabric } from '../../src/modules/trust/fabric/index.ts'
import type { AppDeps } from '../../src/providers.ts'
import { type Json, type TestApp, testApp } from '../support/app.ts'
import { ok } from '../support/selling.ts'
import { longTestMs } from '../support/timeouts.ts'
import { codeAt } from '../support/totp.ts'

setDefaultTimeout(longTestMs)

const demoApp = () => testApp({ LENDING_PLATFORM_ENABLED: 'true' }, { processors: pastProcessors })

/** Fills the demo until a number of writes. Later writes never happen, as if the process died. */
async function fillUntil(deps: AppDeps, writesMax: number): Promise<boolean> {
  const pending = new Set<Promise<unknown>>()
  const died = Promise.withResolvers<'died'>()
  let writes = 0
  const write = <T>(work: (tx: Writer) => Promise<T>): Promise<T> => {
    if (++writes > writesMax) {
      died.resolve('died')
      return new Promise<T>(() => undefined)
    }
    const writing = deps.db.write(work)
    pending.add(writing)
    return writing
  }
  const end = await Promise.race([died.promise, fillDemo({ ...deps, db: { ...deps.db, write } })])
  await Promise.allSettled(pending)
  return end === 'died'
}

/** Fills the demo with several interruptions. */
async function fillWithInterruptions({ deps }: TestApp): Promise<void> {
  for (const writes of [3, 150, 500, 1_000, 1_400]) expect(await fillUntil(deps, writes)).toBe(true)
  await fillDemo(deps)
}

/**
 * The demo of these tests. On PostgreSQL, where a fill takes five times as long, it is filled with interruptions, and
 * the tests expect the same numbers as of an uninterrupted fill. On SQLite a test also compares the two.
 */
let app: TestApp
/** The orders by name of the shop, newest first, as they were after the fill. */
const ordersByShop = new Map<string, Json[]>()
let contents: Json[]

beforeAll(async () => {
  app = await demoApp()
  await (engine === 'sqlite' ? fillDemo(app.deps) : fillWithInterruptions(app))
  for (const { name } of demoShops) ordersByShop.set(name, await all('/v2/orders', await keyOf(name)))
  contents = await contentsOf(app)
})
afterAll(() => app.close())

/** The secret key of a shop of the demo. */
async function keyOf(name: string = demoShop.name): Promise<string> {
  const { deps } = app
  const shop = await deps.shopStore.findByName(name)
  const secret = shop && (await deps.shopStore.currentKey(shop.id, 'SECRET', 'TEST'))
  return secret?.sealed ? deps.keyring.unseal(secret.sealed, keySeal(secret.shopId, secret.id)) : ''
}

/** Reads all pages of a list. */
async function all(path: string, key: string): Promise<Json[]> {
  const rows: Json[] = []
  for (let page = 1; ; page++) {
    const { body } = ok(await app.call('GET', `${path}?limit=100&page=${page}`, { key }))
    rows.push(...body.data)
    if (page >= body.pages) {
      expect(rows).toHaveLength(body.total)
      return rows
    }
  }
}
const tokenOf = async ({ email, password }: { email: string; password: string }): Promise<string> =>
  ok(await app.call('POST', '/merchant/login', { body: { email, password } })).body.data.accessToken
const ordersOf = (name: string = demoShop.name): Json[] => ordersByShop.get(name) ?? []
const countBy = (rows: readonly Json[], of: (row: Json) => string): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(rows, of)].map(([key, some]) => [key, some.length]).sort())

/** Returns the content of the database without carts. An interrupted fill can leave a cart, which expires. */
async function contentsOf({ deps }: TestApp): Promise<Json[]> {
  const tables = [
    'users',
    'second_factors',
    'staff',
    'shops',
    'products',
    'variants',
    'collections',
    'collection_products',
    'blogs',
    'customers',
    'addresses',
    'orders',
    'order_lines',
    'order_events',
    'fulfilments',
    'order_notes',
    'draft_orders',
    'payments',
    'refunds',
    'unified_transactions',
    'gift_cards',
    'gift_card_transactions',
    'affiliates',
    'affiliate_clicks',
    'commissions',
    'fx_rates',
    'lending_applications',
    'lending_documents',
    'lending_events',
    'lending_decisions',
    'lenders',
    'repayments',
    'attester_wallets',
    'grants',
    'service_providers',
    'ingestions',
    'methodologies',
    'attestations',
    'outbox',
  ]
  const rows = tables.map((table) => `select '${table}' as what, cast(count(*) as integer) as n from ${table}`)
  const orders = `select id, number, status, payment_status as payment, total, captured_total as captured, refunded_total as refunded,
    gift_card_refunded_total as to_cards, affiliate_code as partner, fx_to_usd as rate from orders order by id`
  const events = 'select order_id, type from order_events order by order_id, id'
  const stock = 'select sku, on_hand, reserved from variants order by sku'
  const cards = 'select id, balance, status from gift_cards order by id'
  const customers = 'select email, orders, spent from customers join customer_totals on customer_id = id order by email'
  const books = `select kind, processor, currency, cast(sum(usd_cents) as integer) as cents from unified_transactions
    group by kind, processor, currency order by kind, processor, currency`
  const loans = 'select id, status, reason, version from lending_applications order by id'
  const queries = [rows.join(' union all '), orders, events, stock, cards, customers, books, loans]
  return Promise.all(queries.map((query) => deps.db.read.rows(sql.raw(query))))
}

describe('the filled demo has', () => {
  test('the filled demo has an operator with two-factor authentication, whose printed secret works', async () => {
    const { secret, ...login } = demoTwoFactorOperator
    const challenge = await app.call('POST', '/merchant/login', { body: login })
    expect([challenge.status, challenge.body.error]).toEqual([401, 'TOTP_REQUIRED'])
    ok(await app.call('POST', '/merchant/login', { body: { ...login, code: codeAt(secret, app.clock.now()) } }))
  })

  test('the filled demo has staff of each role in its main shop, whose printed logins work, and an open invitation', async () => {
    for (const { email, role } of demoStaff.people) {
      const me = await app.call('GET', '/merchant/me', { token: await tokenOf({ email, password: demoStaff.password }) })
      expect(me.body.shops.map((shop: Json) => [shop.name, shop.role])).toEqual([[demoShop.name, role]])
    }
    const staff = await app.call('GET', '/shops/v2/staff', { token: await tokenOf(demoShop.merchant) })
    expect(staff.body.data.map(({ role, status }: Json) => [role, status])).toEqual([
      ['OWNER', 'ACTIVE'],
      ['MANAGER', 'ACTIVE'],
      ['FULFILMENT', 'ACTIVE'],
      ['READ_ONLY', 'ACTIVE'],
      ['READ_ONLY', 'INVITED'],
    ])
  })

  test('the filled demo has data on every dashboard of an operator, and in every ranking', async () => {
    const { email, password } = demoOperator
    const { data } = ok(await app.call('POST', '/merchant/login', { body: { email, password } })).body
    const at = async (path: string) => (await app.call('GET', `/admin/${path}`, { token: data.accessToken })).body
    for (const name of ['registered-users', 'verified-shops', 'confirmed-orders', 'created-products', 'gmv']) {
      const { total, previousTotal } = await at(`dashboard/${name}${['confirmed-orders', 'gmv'].includes(name) ? '?mode=TEST' : ''}`)
      expect([name, total > 0, previousTotal > 0]).toEqual([name, true, true])
    }
    const { network, processors } = await at('dashboard/refund-rate?mode=TEST')
    expect([network.rate > 0, network.rate < 1, processors.length > 2]).toEqual([true, true, true])
    for (const name of ['top-merchants', 'top-products']) expect((await at(`affiliate/${name}?mode=TEST`)).data.length).toBeGreaterThan(0)
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
  })

  test('the filled demo has a year of orders in four shops and currencies, numbered by time without gaps', () => {
    const end = app.deps.clock.now()
    const year = { from: new Date(end - 365 * dayMs).toISOString(), to: new Date(end).toISOString() }
    const totals: Json = {}
    for (const { name, currency } of demoShops) {
      const orders = ordersOf(name)
      totals[name] = orders.length
      // Newest first.
      expect(orders.map(({ number }) => number)).toEqual(orders.map((_, at) => orders.length - at))
      const times = orders.map(({ createdAt }) => createdAt)
      expect(times).toEqual(times.toSorted().reverse())
      expect(times.every((at) => year.from < at && at <= year.to)).toBe(true)
      for (const order of orders)
        expect([order.total.currency, order.payments[0]?.amount.currency ?? currency]).toEqual([currency, currency])
    }
    expect(totals).toEqual({ demo: 213, 'diwan-coffee': 44, 'steppe-felt': 41, 'kumo-paper': 35 })
    expect(demoShops.map(({ currency }) => decimalsOf(currency))).toEqual([2, 3, 2, 0])
  })

  test('the filled demo has more orders towards its end, and most at the end of the week', async () => {
    const orders = ordersOf()
    const days = orders.map(({ createdAt }) => Date.parse(createdAt))
    const middle = (Math.min(...days) + Math.max(...days)) / 2
    const [late, early] = [days.filter((at) => at > middle).length, days.filter((at) => at <= middle).length]
    expect(late / early).toBeGreaterThan(1.3)
    const on = (...weekdays: number[]) => days.filter((at) => weekdays.includes(new Date(at).getUTCDay())).length
    expect(on(5, 6) / on(1, 2)).toBeGreaterThan(1.5)
  })

  test('the filled demo has orders of every status, by five processors, some of them paid at the second attempt', async () => {
    const orders = ordersOf()
    expect(countBy(orders, ({ status }) => status)).toEqual({ CANCELLED: 6, COMPLETED: 189, CONFIRMED: 2, EXPIRED: 3, FULFILLED: 13 })
    expect(countBy(orders, ({ paymentStatus }) => paymentStatus)).toEqual({
      CAPTURED: 193,
      FAILED: 5,
      PARTIALLY_REFUNDED: 7,
      REFUNDED: 8,
    })
    const inParts = orders.filter(({ fulfilments }) => fulfilments.length > 1)
    expect(inParts.map(({ status, notes }) => [status, notes.length])).toEqual([
      ['COMPLETED', 1],
      ['COMPLETED', 1],
    ])
    const second = orders.filter(({ payments }) => payments.length > 1)
    expect(second.map(({ payments }) => payments.map((payment: Json) => [payment.status, payment.failureCode]))).toEqual(
      Array.from({ length: 5 }, () => [
        ['FAILED', 'card_declined'],
        ['CAPTURED', null],
      ]),
    )
    expect(second.every(({ status }) => status === 'COMPLETED')).toBe(true)
    const everywhere = [...orders, ...demoShops.slice(1).flatMap(({ name }) => ordersOf(name))]
    const processors = new Set(everywhere.flatMap(({ payments }) => payments.map(({ processor }: Json) => processor)))
    expect([...processors].sort()).toEqual(['checkout', 'paypal', 'qpay', 'sandbox', 'stripe', 'tap'])
    const valid = everywhere.filter(({ refunds }) => refunds.length > 0)
    expect(valid.length / everywhere.length).toBeWithin(0.04, 0.09)
    for (const {
      total,
      capturedTotal,
      refundedTotal,
      giftCardTotal,
      amountDue,
      subtotal,
      discountTotal,
      shippingTotal,
      taxTotal,
    } of everywhere) {
      expect(subtotal.amount - discountTotal.amount + shippingTotal.amount + taxTotal.amount).toBe(total.amount)
      expect(amountDue.amount + giftCardTotal.amount).toBe(total.amount)
      expect(refundedTotal.amount).toBeLessThanOrEqual(capturedTotal.amount)
    }
    expect(everywhere.some(({ taxIncluded }) => taxIncluded.amount > 0)).toBe(true)
    expect(everywhere.some(({ taxTotal }) => taxTotal.amount > 0)).toBe(true)
    expect(everywhere.every(({ shippingMethod }) => shippingMethod !== null)).toBe(true)
  })

  test('the filled demo has returning customers, each with the ids of their orders, and guests', async () => {
    const key = await keyOf()
    const orders = ordersOf()
    const byCustomer = Map.groupBy(orders, ({ customerId }) => customerId)
    expect(byCustomer.get(null)?.length).toBeGreaterThan(10)
    byCustomer.delete(null)
    expect(byCustomer.size).toBe(28)
    expect([...byCustomer.values()].filter((matching) => matching.length > 1).length).toBeGreaterThan(14)
    for (const [id, matching] of byCustomer) {
      const { body } = ok(await app.call('GET', `/customer/${id}/order-ids?limit=100`, { key }))
      expect(body).toEqual({ customerId: id, orderIds: matching.map((order) => order.id), total: matching.length })
      const customer = ok(await app.call('GET', `/customer/${id}`, { key })).body
      expect([customer.email, customer.ordersCount, customer.addressIds.length]).toEqual([matching[0]?.email, matching.length, 1])
      expect(customer.createdAt < matching.at(-1)?.createdAt).toBe(true)
    }
  })

  test('the filled demo has a customer who can log in and sees their own order, but no other', async () => {
    const { email, password } = demoCustomer
    const { body } = ok(await app.call('POST', '/customer/login', { body: { shopName: demoShop.name, email, password } }))
    const orders = ordersOf()
    const [matching, other] = [orders.find((order) => order.email === email), orders.find((order) => order.email !== email)]
    const token = body.data.accessToken
    expect((await app.call('GET', `/v2/orders/${matching.id}`, { token })).body.number).toBe(matching.number)
    expect((await app.call('GET', `/v2/orders/${other.id}`, { token })).status).toBe(404)
  })

  test('the filled demo has gift cards in every state, without readable codes', async () => {
    const key = await keyOf()
    const cards = await all('/giftcard', key)
    const stateOf = ({ status, expired, usedUp, balance, initialAmount }: Json) => {
      if (status === 'DISABLED') return 'disabled'
      if (expired) return 'expired'
      if (usedUp) return 'used up'
      return balance.amount < initialAmount.amount ? 'used in part' : 'unused'
    }
    expect(countBy(cards, stateOf)).toEqual({ disabled: 1, expired: 1, unused: 2, 'used in part': 2, 'used up': 2 })
    const paying = ordersOf().filter(({ giftCards }) => giftCards.length > 0)
    expect(countBy(paying, ({ amountDue }) => (amountDue.amount === 0 ? 'all of it' : 'a part'))).toEqual({ 'a part': 3, 'all of it': 2 })
    expect(paying.filter(({ giftCardRefundedTotal }) => giftCardRefundedTotal.amount > 0)).toHaveLength(1)
    const [unused] = cards.filter((card) => stateOf(card) === 'unused')
    expect(Object.keys(unused)).not.toContain('code')
    expect(Object.keys(unused)).not.toContain('codeHash')
  })

  test('the filled demo has discounts in every state, whose uses are those of its orders', async () => {
    const stateOf = ({ status, ended, usedUp, startsAt }: Json) => {
      if (ended || usedUp) return ended ? 'ended' : 'used up'
      return startsAt !== null && Date.parse(startsAt) > app.clock.now() ? 'scheduled' : status
    }
    for (const { name } of demoShops) {
      const discounts = await all('/discounts', await keyOf(name))
      expect([name, countBy(discounts, stateOf)]).toEqual([name, { ACTIVE: 3, ended: 1, scheduled: 1, 'used up': 1 }])
      const valid = ordersOf(name).filter(({ status }) => status !== 'EXPIRED' && status !== 'CANCELLED')
      const codes = valid.flatMap((order) => order.discounts.map(({ code }: Json) => code))
      for (const { code, used } of discounts) expect([code, used]).toEqual([code, codes.filter((one) => one === code).length])
      if (name === demoShop.name) expect(discounts.every(({ used, code }) => used > 0 === (code !== 'WINTER20'))).toBe(true)
    }
  })

  test('the filled demo has variants low in stock, abandoned carts, and a draft order that can be paid', async () => {
    const token = await tokenOf(demoShop.merchant)
    const { waiting, carts } = ok(await app.call('GET', '/shops/v2/overview', { token })).body
    expect([waiting.lowStock.total > 1, waiting.drafts.total, carts.rate > 0.3, carts.rate < 0.7]).toEqual([true, 1, true, true])
    const [draft] = await all('/v2/orders/drafts', await keyOf())
    expect(draft.lines.map(({ available }: Json) => available)).toEqual([true, true])
    const page = await app.call('GET', new URL(draft.payUrl).pathname)
    expect(page.text).toContain('Pay $')
    expect(page.text).not.toContain('role="alert"')
  })

  test('the filled demo has affiliates with clicks, orders and earnings, one of them inactive', async () => {
    const partners = await all('/affiliates', await keyOf())
    const orders = ordersOf()
    expect(partners.map(({ code, active }) => [code, active]).sort()).toEqual([
      ['fieldnotes', true],
      ['roomslight', true],
      ['slowkitchen', true],
      ['thriftpost', false],
    ])
    for (const { id, code, active, clicks, earnings } of partners) {
      expect(clicks > 0).toBe(active)
      expect(orders.filter(({ affiliate }) => affiliate?.id === id).length).toBeGreaterThan(0)
      expect([code, earnings.map(({ currency }: Json) => currency), earnings[0]?.approved.amount > 0]).toEqual([code, ['USD'], true])
    }
    expect(partners.flatMap(({ earnings }) => earnings).some(({ pending }) => pending.amount > 0)).toBe(true)
    expect(partners.flatMap(({ earnings }) => earnings).some(({ reversed }) => reversed.amount > 0)).toBe(true)
  })

  test('the filled demo has a dollar amount for every movement of money', async () => {
    const { deps } = app
    const rows = await deps.db.read.rows<{ currency: string; cents: number; unpriced: number }>(
      sql.raw(`select currency, cast(sum(usd_cents) as integer) as cents, cast(sum(case when usd_cents is null then 1 else 0 end) as integer) as unpriced
        from unified_transactions group by currency order by currency`),
    )
    expect(rows.map(({ currency, unpriced }) => [currency, unpriced])).toEqual([
      ['JPY', 0],
      ['KWD', 0],
      ['MNT', 0],
      ['USD', 0],
    ])
    // Orders of every shop cost some tens of dollars, so an inverted exchange rate would give very different sums.
    for (const { currency, cents } of rows) expect([currency, cents > 50_000 && cents < 10_000_000]).toEqual([currency, true])
  })

  test('the filled demo has loan applications in every state and of four cohorts, the submitted ones with every document', async () => {
    const token = await tokenOf(demoOperator)
    const queues = lendingStatuses.map((status) => app.call('GET', `/admin/lending-application?status=${status}`, { token }))
    const listed = (await Promise.all(queues)).flatMap((answer) => ok(answer).body.data)
    expect(countBy(listed, ({ status }) => status)).toEqual({
      ...{ APPROVED: 1, DRAFT: 1, REJECTED: 1, SUBMITTED: 1, UNDER_REVIEW: 1, WITHDRAWN: 1 },
    })
    expect([...new Set(listed.map(({ cohort }) => cohort))].sort()).toEqual(['INTL_OTHER', 'KUWAIT_WLL', 'MN_LLC', 'US_COMPANY'])
    for (const { id, status, submittedAt, cohort, selectedTier1Partner } of listed) {
      const { documents, decisions, events } = ok(await app.call('GET', `/admin/lending-application/${id}`, { token })).body
      const required = documentsOf({ cohort, selectedTier1Partner }).filter((one) => one.required)
      expect([status, documents.length]).toEqual([status, submittedAt ? required.length : status === 'DRAFT' ? 3 : 2])
      const times = events.map(({ at }: Json) => at)
      // An interrupted fill repeats the day of an application.
      if (engine === 'sqlite') expect(times).toEqual(times.toSorted())
      // Reading returns the sealed content.
      const file = await app.call('GET', `/admin/lending-application/${id}/documents/${documents[0].key}`, { token })
      expect([status, file.status, file.text.length]).toEqual([status, 200, documents[0].size])
      const envelopes = decisions.map(({ envelope }: Json) => envelope?.reason)
      expect(envelopes).toEqual(
        { APPROVED: [undefined, 'FORMULA'], UNDER_REVIEW: ['FORMULA'], REJECTED: ['BELOW_COHORT_FLOOR'] }[status as string] ?? [],
      )
    }
    expect((await Array.fromAsync(replay(app.deps))).filter(({ problem }) => problem !== undefined)).toEqual([])
  })

  test('the filled demo has merchants of each credit tier, one of them held back by a default, and the lenders that they repaid', async () => {
    const standings: Json = {}
    for (const { name } of demoShops) {
      const shop = await app.deps.shopStore.findByName(name)
      const path = `/v2/merchant/credit-tier/upgrade-preview/${shop?.merchantId}`
      const { observedTier, signals, nextTierGap } = ok(await app.call('GET', path)).body
      standings[name] = [observedTier, signals.totalSettledOnTime, signals.totalLate, nextTierGap?.blockingDefaultCount]
    }
    expect(standings).toEqual({
      demo: ['T3', 11, 1, undefined],
      'diwan-coffee': ['T2', 5, 1, 0],
      'steppe-felt': ['T1', 5, 0, 1],
      'kumo-paper': ['T1', 2, 0, 0],
    })
    const { data } = ok(await app.call('GET', '/admin/lenders', { token: await tokenOf(demoOperator) })).body
    expect(countBy(data, ({ status }) => status)).toEqual({ ACTIVE: 2, PENDING_KYB: 1 })
  })

  test('the filled demo has a trust fabric, whose sums match its registries, messages and sample attestations', async () => {
    const stats = ok(await app.call('GET', '/v2/trust-fabric/stats')).body
    expect(stats).toMatchObject({
      lenders: { total: 3, active: 2 },
      serviceProviders: { total: 5, active: 4 },
      methodologies: { totalLenders: 2, activeVersions: 2 },
      attestations: { schemaA: 12, schemaB: 24, schemaC: 36, schemaD: 48 },
    })
    const recommended = ok(await app.call('GET', '/v2/service-provider-routing/recommend')).body.recommendations
    expect(recommended.map(({ successfulIngestionCount }: Json) => successfulIngestionCount)).toEqual([24, 18, 12, 6])
    // The output that the tutorial's grep commands select.
    const tour =
      readFileSync(join(import.meta.dir, '../../docs/tutorial.md'), 'utf8')
        .split('/v2/trust-fabric/stats | ')[1]
        ?.split('```') ?? []
    const { text } = ok(await app.call('GET', '/v2/service-provider-routing/recommend?limit=2'))
    const printed = [
      ...((await app.call('GET', '/v2/trust-fabric/stats')).text.match(/"[a-zA-Z]*":\{[^}]*\}/g) ?? []),
      ...(text.match(/"displayName":"[^"]*"|"rank":[0-9]*/g) ?? []),
    ]
    expect(printed.join('\n')).toBe(tour[2]?.trim() ?? '')
    const attestationRows = await app.deps.db.read.select({ isDemo: attestations.isDemo }).from(attestations)
    expect([attestationRows.length, attestationRows.every(({ isDemo }) => isDemo)]).toEqual([156, true])
    for await (const { subject, problems } of checkTrustFabric(app.deps.db)) expect([subject, problems]).toEqual([subject, []])
  })

  test('the filled demo has a catalog that grew during the year, with a draft and sold-out variants', async () => {
    const products = await all('/product-v2', await keyOf())
    expect(countBy(products, ({ status }) => status)).toEqual({ ACTIVE: 24, DRAFT: 1 })
    expect(products.every(({ images }) => images.length > 0)).toBe(true)
    const months = new Set(products.map(({ createdAt }) => createdAt.slice(0, 7)))
    expect(months.size).toBeGreaterThan(8)
    const stock = products.flatMap(({ variants }) => variants.map(({ onHand, reserved }: Json) => [onHand, reserved]))
    expect(stock.some(([onHand]) => onHand === 0)).toBe(true)
    expect(stock.every(([onHand, reserved]) => onHand >= 0 && reserved === 0)).toBe(true)
  })
})

describe('on the running demo', () => {
  test('a past order is refunded by the processor that took its payment', async () => {
    const key = await keyOf('diwan-coffee')
    const order = ordersOf('diwan-coffee').find(({ paymentStatus }) => paymentStatus === 'CAPTURED')
    const headers = { 'idempotency-key': 'the-first' }
    const refund = await app.call('POST', `/v2/orders/${order.id}/refunds`, { key, headers, body: { all: true, reason: 'A test' } })
    expect([refund.status, refund.body.status, refund.body.amount]).toEqual([201, 'SUCCEEDED', order.total])
    expect(refund.body.processorReference).toStartWith(`${order.payments[0].processor}_demo_`)
  })

  test('the processors of past payments accept no new payment and no message: without accounts, checkouts use the sandbox', async () => {
    const shop = await app.deps.shopStore.findByName(demoShop.name)
    const key = (shop && (await app.deps.shopStore.currentKey(shop.id, 'PUBLISHABLE', 'TEST')))?.publicValue ?? ''
    const products = (await app.call('GET', `/product-v2/public/shop/${demoShop.name}?limit=100`)).body.data
    const product = products.find(({ available }: Json) => available)
    const variantId = product.variants.find(({ available }: Json) => available).id
    const shippingAddress = { name: 'Ada Lovelace', line1: '1 Quay Street', city: 'Portland', province: 'ME', countryCode: 'US' }
    const cart = ok(
      await app.call('POST', '/cart', { key, body: { email: 'ada@example.com', shippingAddress, shippingMethod: 'standard' } }),
    ).body
    ok(await app.call('POST', `/cart/${cart.id}/items`, { key, body: { variantId, quantity: 1 } }))
    const checkout = (body: Json, nth: string) =>
      app.call('POST', `/cart/${cart.id}/checkout`, { key, body: { method: 'card', ...body }, headers: { 'idempotency-key': nth } })
    expect((await checkout({ processor: 'stripe' }, 'a')).status).toBe(409)
    const checkedOut = await checkout({}, 'b')
    expect([checkedOut.status, checkedOut.body.order.status, checkedOut.body.payment.processor]).toEqual([201, 'CONFIRMED', 'sandbox'])
    expect((await app.call('POST', '/webhooks/payments/stripe', { body: { id: 'evt_1' } })).status).toBe(401)
  })
})

describe('filling the demo', () => {
  test('an interrupted and continued fill gives the same content as an uninterrupted one, and a repeated fill adds nothing', async () => {
    const interrupted = engine === 'sqlite' ? await demoApp() : app
    if (interrupted !== app) {
      await fillWithInterruptions(interrupted)
      expect(await contentsOf(interrupted)).toEqual(contents)
    }
    const { writes } = interrupted.deps.db.stats
    interrupted.clock.advance(dayMs)
    await fillDemo(interrupted.deps)
    expect(interrupted.deps.db.stats.writes).toBe(writes)
    expect([...app.logged, ...interrupted.logged].filter(({ level }) => level !== 'info')).toEqual([])
    if (interrupted !== app) await interrupted.close()
  })

  test('filling the demo refuses a database with other data, and does not change it', async () => {
    await using app = await testApp()
    await app.merchant()
    const before = await contentsOf(app)
    await expect(fillDemo(app.deps)).rejects.toThrow('needs an empty data directory')
    expect(await contentsOf(app)).toEqual(before)
  })
})
