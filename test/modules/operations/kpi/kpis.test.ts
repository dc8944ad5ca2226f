/** Compares the dashboards with figures counted from the tables, for random histories, folds and two processes. */
import { describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { eq, type SQL, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { engine } from '../../../../db/columns.ts'
import { DatabaseUnavailable } from '../../../../db/engine.ts'
import { products } from '../../../../db/schema/catalog.ts'
import { kpiDays, kpiDeltas, kpiState } from '../../../../db/schema/kpi.ts'
import { kybRecords } from '../../../../db/schema/kyb.ts'
import { fxRates, unifiedTransactions } from '../../../../db/schema/ledger.ts'
import { auditLog, customers, users } from '../../../../db/schema/people.ts'
import { orderLines, orders } from '../../../../db/schema/selling.ts'
import { shops } from '../../../../db/schema/shop.ts'
import { convertCurrencies } from '../../../../jobs/convert-currencies.ts'
import { foldKpis } from '../../../../jobs/fold-kpis.ts'
import { system } from '../../../../src/core/command-context.ts'
import { addDays, dayMs, dayOf } from '../../../../src/lib/day.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { backfillKpis, checkKpis, rebuildKpis } from '../../../../src/modules/operations/kpi/index.ts'
import { kpiStore } from '../../../../src/modules/operations/kpi/store.ts'
import { type Answer, type Json, type TestApp, testApp } from '../../../support/app.ts'
import { testDatabase } from '../../../support/database.ts'
import { approveBusiness } from '../../../support/kyb.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const countedDashboards = ['registered-users', 'verified-shops', 'confirmed-orders', 'created-products', 'gmv', 'refund-rate'] as const
const rankings = ['top-merchants', 'top-products'] as const

/** Creates a new token, because these histories last months. */
const tokenOf = async ({ deps }: TestApp, role: 'MERCHANT' | 'SUPER_ADMIN', id: string): Promise<string> =>
  (await startSession(deps, { id, role }, system)).data.accessToken

const salesPaths = /^(dashboard\/(confirmed-orders|gmv|refund-rate)|affiliate\/)/
/** Selects all modes by default, because test shops are in test mode. */
const modeOf = (path: string): Record<string, string> => (salesPaths.test(path) ? { mode: 'ALL' } : {})

async function openOperator(app: TestApp) {
  const operator = await app.superAdmin()
  let { token } = operator
  const read = (path: string, query: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Answer> =>
    app.call('GET', `/admin/${path}?${new URLSearchParams({ ...modeOf(path), ...query })}`, { token, headers })
  const renew = async () => {
    token = await tokenOf(app, 'SUPER_ADMIN', operator.id)
    return { ...operator, token }
  }
  return {
    token,
    renew,
    read,
    /** Reads all dashboards for a window. */
    async all(query: Record<string, string>): Promise<Json> {
      const answers: Record<string, Json> = {}
      for (const name of countedDashboards) answers[name] = ok(await read(`dashboard/${name}`, query)).body
      for (const name of rankings) answers[name] = ok(await read(`affiliate/${name}`, query)).body
      return answers
    },
  }
}
type Operator = Awaited<ReturnType<typeof openOperator>>

type Fact = { day: string; key: string; value: number }
const centsToUsd = (cents: number) => cents / 100
const sumOf = (facts: readonly { value: number }[]) => facts.reduce((sum, { value }) => sum + value, 0)

/** Computes the same responses from the tables, independently. */
async function recount({ deps: { db } }: TestApp, { startDate, endDate }: { startDate: string; endDate: string }): Promise<Json> {
  const { read } = db
  const allShops = await read.select().from(shops)
  const shopOf = (id: string) => allShops.find((shop) => shop.id === id) as (typeof allShops)[number]
  const countedOrders = (await read.select().from(orders)).filter(
    ({ shopId, mode, confirmedAt }) => shopOf(shopId).mode === mode && confirmedAt !== null,
  )
  const movements = (await read.select().from(unifiedTransactions)).filter(
    ({ orderId, confirmed }) => confirmed && countedOrders.some(({ id }) => id === orderId),
  )
  const lines = await read.select().from(orderLines)
  const allProducts = await read.select().from(products)
  const records = await read.select().from(kybRecords)
  const days: string[] = []
  for (let day = startDate; day <= endDate; day = addDays(day, 1)) days.push(day)
  const firstBefore = addDays(startDate, -days.length)
  const within = ({ day }: { day: string }) => day >= startDate && day <= endDate
  const buildFigure = (facts: readonly Fact[], { keys = [] as readonly string[], convert = (value: number) => value } = {}) => {
    const now = facts.filter(within)
    const before = sumOf(facts.filter(({ day }) => day >= firstBefore && day < startDate))
    const total = sumOf(now)
    const names = [...new Set([...keys, ...now.map(({ key }) => key)])]
    const breakdown = names.map((name) => [name, convert(sumOf(now.filter(({ key }) => key === name)))] as const)
    return {
      startDate,
      endDate,
      total: convert(total),
      previousTotal: convert(before),
      percentChange: before === 0 ? null : ((total - before) * 100) / before,
      breakdown: Object.fromEntries(breakdown.filter(([name, value]) => value !== 0 || keys.includes(name))),
      series: days.map((date) => ({ date, value: convert(sumOf(now.filter(({ day }) => day === date))) })),
    }
  }
  const one = (at: number, key: string): Fact => ({ day: dayOf(at), key, value: 1 })
  const signUps = [
    ...(await read.select().from(users)).flatMap(({ role, createdAt }) => (role === 'MERCHANT' ? [one(createdAt, role)] : [])),
    ...(await read.select().from(customers)).flatMap((row) => (row.passwordHash === null ? [] : [one(row.createdAt, 'CUSTOMER')])),
  ]
  const verified = allShops.flatMap(({ merchantId, verifiedAt }) =>
    verifiedAt === null
      ? []
      : [one(verifiedAt, records.find((row) => row.merchantId === merchantId && row.status === 'APPROVED')?.cohort ?? '')],
  )
  const processorOf = (id: string) =>
    movements.find(({ orderId, kind }) => orderId === id && kind === 'CAPTURE')?.processor ??
    movements.find(({ orderId }) => orderId === id)?.processor ??
    'none'
  const isSale = ({ kind }: { kind: string }) => kind === 'CAPTURE' || kind === 'GIFT_CARD'
  const moneyFacts = (signOf: (row: (typeof movements)[number]) => number) =>
    movements.map((row) => ({ day: dayOf(row.at), key: row.processor, value: signOf(row) * (row.usdCents ?? 0) }))
  const gmv = moneyFacts((row) => (isSale(row) ? 1 : 0))
  const refunds = moneyFacts(({ kind }) => (kind === 'REFUND' || kind === 'GIFT_CARD_REFUND' ? 1 : kind === 'REFUND_REVERSED' ? -1 : 0))
  const ofTestMode = movements.filter((row) => isSale(row) && shopOf(row.shopId).mode === 'TEST' && within({ day: dayOf(row.at) }))
  const unpriced = movements.filter((row) => row.usdCents === null && !row.kind.startsWith('DISPUTE') && within({ day: dayOf(row.at) }))
  const rateOf = (confirmed: number, refunded: number) => ({
    confirmedUsd: centsToUsd(confirmed),
    refundedUsd: centsToUsd(refunded),
    rate: confirmed === 0 ? null : refunded / confirmed,
  })
  const sum = (facts: readonly Fact[], predicate: (fact: Fact) => boolean) => sumOf(facts.filter((fact) => within(fact) && predicate(fact)))
  const processors = [...new Set([...gmv, ...refunds].map(({ key }) => key))].sort()
  const affiliateOrders = countedOrders.filter(
    ({ affiliateId, confirmedAt }) => affiliateId !== null && within({ day: dayOf(confirmedAt ?? 0) }),
  )
  const cohorts = Object.keys(buildFigure(verified).breakdown)
  const merchants = new Map<string, { cents: number; n: number }>()
  const soldProducts = new Map<string, { cents: number; n: number }>()
  for (const { id, shopId } of affiliateOrders) {
    const sales = movements.filter((row) => row.orderId === id && isSale(row))
    const ofMerchant = merchants.get(shopOf(shopId).merchantId) ?? { cents: 0, n: 0 }
    const cents = sales.reduce((total, { usdCents }) => total + (usdCents ?? 0), 0)
    merchants.set(shopOf(shopId).merchantId, { cents: ofMerchant.cents + cents, n: ofMerchant.n + 1 })
    // In these histories, each rate is a whole number of cents per unit of a currency with two decimals.
    const rate = sales.sort((a, b) => (a.key < b.key ? -1 : 1))[0]?.usdPerUnit ?? null
    for (const { orderId, productId, quantity, total } of lines)
      if (orderId === id) {
        const before = soldProducts.get(productId) ?? { cents: 0, n: 0 }
        soldProducts.set(productId, {
          cents: before.cents + (rate === null ? 0 : Math.round(total * Number(rate))),
          n: before.n + quantity,
        })
      }
  }
  const shopName = (merchantId: string) => allShops.find((shop) => shop.merchantId === merchantId)?.name
  return {
    'registered-users': buildFigure(signUps, { keys: ['MERCHANT', 'CUSTOMER'] }),
    'verified-shops': {
      ...buildFigure(verified),
      breakdown: expect.objectContaining(Object.fromEntries(cohorts.map((name) => [name, sum(verified, ({ key }) => key === name)]))),
    },
    'confirmed-orders': buildFigure(countedOrders.map(({ id, confirmedAt }) => one(confirmedAt ?? 0, processorOf(id)))),
    'created-products': buildFigure(
      allProducts.map(({ createdAt, createdAs }) => one(createdAt, createdAs)),
      { keys: ['DRAFT', 'ACTIVE', 'ARCHIVED'] },
    ),
    gmv: {
      ...buildFigure(gmv, { convert: centsToUsd }),
      ofTestMode: centsToUsd(ofTestMode.reduce((total, { usdCents }) => total + (usdCents ?? 0), 0)),
      unpriced: unpriced.filter(isSale).length,
    },
    'refund-rate': {
      startDate,
      endDate,
      network: rateOf(
        sum(gmv, () => true),
        sum(refunds, () => true),
      ),
      processors: processors
        .map((processor) => ({
          processor,
          ...rateOf(
            sum(gmv, ({ key }) => key === processor),
            sum(refunds, ({ key }) => key === processor),
          ),
        }))
        .filter(({ confirmedUsd, refundedUsd }) => confirmedUsd !== 0 || refundedUsd !== 0),
      series: days.map((date) => ({
        date,
        value: rateOf(
          sum(gmv, ({ day }) => day === date),
          sum(refunds, ({ day }) => day === date),
        ).rate,
      })),
      unpriced: unpriced.length,
    },
    'top-merchants': {
      startDate,
      endDate,
      data: [...merchants]
        .sort(([a, x], [b, y]) => y.cents - x.cents || (a < b ? -1 : 1))
        .map(([merchantId, { cents, n }], nth) => ({
          rank: nth + 1,
          merchantId,
          shopName: shopName(merchantId),
          affiliateGmvUsd: centsToUsd(cents),
          orders: n,
        })),
    },
    'top-products': {
      startDate,
      endDate,
      data: [...soldProducts]
        .sort(([a, x], [b, y]) => y.n - x.n || (a < b ? -1 : 1))
        .slice(0, 10)
        .map(([productId, { cents, n }], nth) => {
          const product = allProducts.find(({ id }) => id === productId)
          return {
            rank: nth + 1,
            productId,
            title: product?.title,
            shopName: shopOf(product?.shopId ?? '').name,
            unitsSold: n,
            affiliateGmvUsd: centsToUsd(cents),
          }
        }),
    },
  }
}

type Action =
  | { type: 'buy'; shop: number; quantity: number; partner: boolean; card: boolean; twoItems: boolean }
  | { type: 'refund'; order: number; share: 'all' | number }
  | { type: 'signUp' | 'enter' | 'goLive' | 'add'; shop: number }
  | { type: 'open' }
  | { type: 'fold' }
  | { type: 'rate' }
  | { type: 'wait'; hours: number }

const nth = fc.nat({ max: 20 })
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('buy' as const),
      shop: nth,
      quantity: fc.integer({ min: 1, max: 3 }),
      partner: fc.boolean(),
      card: fc.boolean(),
      twoItems: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('refund' as const), order: nth, share: fc.constantFrom('all' as const, 0.3, 0.5) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom('signUp' as const, 'enter' as const, 'goLive' as const, 'add' as const), shop: nth }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('open' as const, 'fold' as const, 'rate' as const) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('wait' as const), hours: fc.constantFrom(1, 11, 24, 24 * 9, 24 * 70) }) },
)

/** Creates shops, one of which sells in a currency whose rate arrives late, and applies actions to them. */
async function openHistory(app: TestApp, operator: Operator) {
  const opened: (Selling & { other: string })[] = []
  const sales: { shop: Selling; id: string; total: number }[] = []
  let counter = 0
  async function open(): Promise<void> {
    const currency = opened.length % 2 === 1 ? 'EUR' : 'USD'
    const shop = await sellingIn(app, { currency, price: 1_250, onHand: 500 })
    const price = { amount: 700, currency }
    const other = (await shop.add({ title: 'Bowl', status: 'ACTIVE', variants: [{ price, onHand: 500 }] })).variants[0]?.id ?? ''
    ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
    await approveBusiness(app, shop, await operator.renew())
    opened.push({ ...shop, other })
  }
  const pick = <T>(list: readonly T[], place: number): T | undefined => list[place % Math.max(1, list.length)]

  const ownerOf = ({ id }: Pick<Selling, 'id'>) => tokenOf(app, 'MERCHANT', id)
  async function act(one: Action): Promise<void> {
    if (one.type === 'open') return open()
    if (one.type === 'fold') return void (await foldKpis(app.deps))
    if (one.type === 'wait') return app.clock.advance(one.hours * 3_600_000)
    if (one.type === 'rate') {
      const day = dayOf(app.clock.now())
      await app.deps.db.write(async (tx) => {
        await tx.insert(fxRates).values({ currency: 'EUR', day, usdPerUnit: '2', source: 'test' }).onConflictDoNothing()
      })
      return void (await convertCurrencies(app.deps))
    }
    if (one.type === 'refund') {
      const sale = pick(sales, one.order)
      const body = one.share === 'all' ? { all: true } : { amount: sale?.shop.money(Math.max(1, Math.floor(sale.total * one.share))) }
      const headers = { 'idempotency-key': `refund-${counter++}` }
      return void (sale && (await app.call('POST', `/v2/orders/${sale.id}/refunds`, { token: await ownerOf(sale.shop), headers, body })))
    }
    const shop = pick(opened, one.shop)
    if (!shop) return
    if (one.type === 'signUp') await customerOf(app, shop.shop.name, `shopper${counter++}@example.com`)
    if (one.type === 'enter') await shop.post('/customer', { email: `entered${counter++}@example.com`, name: 'E' })
    if (one.type === 'add') ok(await app.call('POST', '/product-v2', { token: await ownerOf(shop), body: { title: `Thing ${counter++}` } }))
    if (one.type === 'goLive') await app.call('POST', '/shops/v2/go-live', { token: await ownerOf(shop) })
    if (one.type === 'buy') await buy(shop, one)
  }

  async function buy(
    shop: Selling & { other: string },
    { quantity, partner, card, twoItems }: Extract<Action, { type: 'buy' }>,
  ): Promise<void> {
    const [key] = (await app.deps.shopStore.currentKey(shop.shop.id, 'PUBLISHABLE', 'LIVE')) ? [undefined] : [shop.publishableKey]
    const liveKey = key === undefined ? (await app.deps.shopStore.currentKey(shop.shop.id, 'PUBLISHABLE', 'LIVE'))?.publicValue : key
    const credentials = { key: liveKey ?? '' }
    const cart = ok(
      await app.call('POST', '/cart', {
        ...credentials,
        body: { email: 'a@example.com', ...(partner ? { affiliateCode: 'partner' } : {}) },
      }),
    ).body.id
    for (const variantId of twoItems ? [shop.variantId, shop.other] : [shop.variantId])
      ok(await app.call('POST', `/cart/${cart}/items`, { ...credentials, body: { variantId, quantity } }))
    // Live shops take no sandbox payments, so a gift card pays the total.
    const amount = key === undefined ? 100_000 : card ? 900 : 0
    if (amount > 0) {
      const issued = ok(await app.call('POST', '/giftcard', { token: await ownerOf(shop), body: { amount: shop.money(amount) } })).body
      ok(await app.call('PATCH', '/giftcard/apply', { ...credentials, body: { code: issued.code, cartId: cart } }))
    }
    const headers = { 'idempotency-key': `buy-${counter++}` }
    const { body } = ok(await app.call('POST', `/cart/${cart}/checkout`, { ...credentials, headers, body: { method: 'card' } }))
    sales.push({ shop, id: body.order.id, total: body.order.total.amount })
  }
  return { act, open }
}

const runs = Number(Bun.env['FUZZ_RUNS'] ?? (engine === 'sqlite' ? 5 : 3))
const seed = Number(Bun.env['FUZZ_SEED'] ?? 20_261_122)

describe('dashboards', () => {
  test('dashboards equal the tables after any events and folds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 30, size: 'max' }), async (actions) => {
        await using app = await testApp()
        const operator = await openOperator(app)
        const history = await openHistory(app, operator)
        await history.open()
        await history.open()
        for (const one of actions) await history.act(one)
        await operator.renew()
        const today = dayOf(app.clock.now())
        for (const [startDate, endDate] of [
          [addDays(today, -364), today],
          [addDays(today, -8), addDays(today, -1)],
          [today, today],
        ] as const)
          expect(await operator.all({ startDate, endDate })).toEqual(await recount(app, { startDate, endDate }))
        expect((await rebuildKpis(app.deps)).differences).toBe(0)
        // The state of an instance that has never counted.
        const window = { startDate: addDays(today, -364), endDate: today }
        const before = await operator.all(window)
        await app.deps.db.write(async (tx) => {
          await tx.delete(kpiDays)
          await tx.delete(kpiDeltas)
          // The nightly run has already counted these days.
          await tx.delete(kpiState)
        })
        await backfillKpis(app.deps)
        await foldKpis(app.deps)
        expect(await operator.all(window)).toEqual(before)
        expect((await rebuildKpis(app.deps)).differences).toBe(0)
      }),
      { numRuns: runs, seed, endOnFailure: true },
    )
  })

  test('dashboards lose and duplicate nothing during concurrent folds, purchases and reads', async () => {
    const database = await testDatabase()
    await using app = await testApp({}, { database })
    const operator = await openOperator(app)
    const shop = await sellingIn(app, { onHand: 100 })
    // A second process, on PostgreSQL only.
    const other = engine === 'postgres' ? await testApp({}, { database }) : undefined
    const totals: number[] = []
    const buying = async () => {
      for (let n = 0; n < 12; n++) {
        await shop.placeOrder()
        totals.push(ok(await operator.read('dashboard/confirmed-orders')).body.total)
      }
    }
    let isOver = false
    const foldUntilOver = async (deps: TestApp['deps']) => {
      while (!isOver) await foldKpis(deps)
    }
    const folding = [foldUntilOver(app.deps), foldUntilOver((other ?? app).deps)]
    await buying().finally(() => {
      isOver = true
    })
    await Promise.all(folding)
    expect(totals).toEqual(Array.from({ length: 12 }, (_, nth) => nth + 1))
    await foldKpis(app.deps)
    expect(await app.deps.db.read.select().from(kpiDeltas)).toEqual([])
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
    await other?.[Symbol.asyncDispose]()
    await app[Symbol.asyncDispose]()
    await database.drop()
  })

  test('dashboards count the past during purchases, and are unavailable until then', async () => {
    await using app = await testApp()
    const operator = await openOperator(app)
    const shop = await sellingIn(app, { onHand: 100 })
    for (let day = 0; day < 6; day++) {
      await shop.placeOrder()
      app.clock.advance(dayMs)
    }
    await app.deps.db.write(async (tx) => {
      await tx.delete(kpiDays)
      await tx.delete(kpiDeltas)
    })
    await operator.renew()
    const backfilling = backfillKpis(app.deps)
    const refused = await operator.read('dashboard/gmv')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
    expect((await operator.read('dashboard/gmv', { startDate: '2026-01-02' })).status).toBe(400)
    const token = await tokenOf(app, 'MERCHANT', shop.id)
    for (let nth = 0; nth < 4; nth++) {
      await shop.placeOrder()
      ok(await app.call('POST', '/product-v2', { token, body: { title: `Thing ${nth}` } }))
      await foldKpis(app.deps)
    }
    await backfilling
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
    expect(ok(await operator.read('dashboard/confirmed-orders')).body.total).toBe(10)
    expect(ok(await operator.read('dashboard/created-products')).body.total).toBe(5)
  })

  test('dashboards are unchanged by an interrupted fold', async () => {
    await using app = await testApp()
    const operator = await openOperator(app)
    await (await sellingIn(app)).placeOrder()
    const before = await operator.all({})
    const broken = app.deps.db.write(async (tx) => {
      expect(await kpiStore.fold(tx, 100, async () => [])).toBeGreaterThan(0)
      throw new Error('the process dies')
    })
    expect(broken).rejects.toThrow('the process dies')
    await broken.catch(() => undefined)
    expect(await operator.all({})).toEqual(before)
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
  })

  test('sums that differ from the facts are found, reported and repaired', async () => {
    await using app = await testApp()
    const operator = await openOperator(app)
    const shop = await sellingIn(app)
    ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
    await shop.placeOrder({ affiliateCode: 'partner' })
    await foldKpis(app.deps)
    await backfillKpis(app.deps)
    const problems = async () => (await Array.fromAsync(checkKpis(app.deps.db.read))).flatMap((finding) => finding.problems)
    expect(await problems()).toEqual([])
    const before = await operator.all({})
    await app.deps.db.write(async (tx) => {
      await tx.update(kpiDays).set({ value: sql`value + 5` }).where(eq(kpiDays.kpi, 'TEST_GMV'))
      await tx.delete(kpiDays).where(sql`kpi = 'TEST_PRODUCT_CENTS' and span = 1`)
      await tx.update(kpiDays).set({ value: 99 }).where(sql`kpi = 'TEST_MERCHANT_ORDERS' and span = 64`)
    })
    expect(await problems()).toEqual([
      'TEST_GMV of sandbox on 2026-01-06: stored 1005, counted 1000',
      `TEST_PRODUCT_CENTS of ${shop.productId} on 2026-01-06: stored 0, counted 1000`,
      `TEST_MERCHANT_ORDERS of ${shop.shop.id} in 64 days from 2025-11-24: stored 99, counted 1`,
      `TEST_PRODUCT_CENTS of ${shop.productId} in 8 days from 2026-01-03: stored 1000, counted 0`,
      `TEST_PRODUCT_CENTS of ${shop.productId} in 64 days from 2025-11-24: stored 1000, counted 0`,
    ])
    expect((await rebuildKpis(app.deps)).differences).toBeGreaterThan(0)
    expect(app.logged.filter(({ event }) => event === 'kpis.differ').length).toBeGreaterThan(0)
    await foldKpis(app.deps)
    await rebuildKpis(app.deps)
    expect(await problems()).toEqual([])
    expect(await operator.all({})).toEqual(before)
    const trail = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'kpis.mended')).orderBy(auditLog.id)
    expect(trail[0]).toMatchObject({
      actor: 'system',
      subject: '2026-01-06',
      before: { 'TEST_GMV sandbox': 1_005 },
      after: { 'TEST_GMV sandbox': 1_000 },
    })
  })

  test('dashboards are available once any process has counted the past, at the start or at night', async () => {
    const database = await testDatabase()
    const app = await testApp({}, { database })
    const operator = await openOperator(app)
    await (await sellingIn(app)).placeOrder()
    await app.deps.db.write(async (tx) => {
      await tx.delete(kpiDays)
      await tx.delete(kpiDeltas)
    })
    using reading = spyOn(app.deps.db, 'backgroundReader').mockImplementationOnce(() => {
      throw new DatabaseUnavailable('away')
    })
    await expect(backfillKpis(app.deps)).rejects.toThrow('away')
    expect(reading).toHaveBeenCalledTimes(1)
    expect((await operator.read('dashboard/gmv')).status).toBe(503)
    // Uncounted days cause no alarm.
    expect(await rebuildKpis(app.deps)).toMatchObject({ differences: 0 })
    expect(app.logged.filter(({ event }) => event === 'kpis.differ')).toEqual([])
    expect(ok(await operator.read('dashboard/gmv')).body).toMatchObject({ total: 10 })
    // Another process has counted what this one could not.
    app.deps.life.countingPast = 'NETWORK'
    expect(ok(await operator.read('dashboard/gmv')).body).toMatchObject({ total: 10 })
    await app.close()
    await database.drop()
  })

  test('new figures of a version are counted for the past at its first start without an alarm', async () => {
    await using app = await testApp()
    const operator = await openOperator(app)
    await backfillKpis(app.deps)
    await (await sellingIn(app)).placeOrder()
    await foldKpis(app.deps)
    // The state that the earlier version left.
    await app.deps.db.write(async (tx) => {
      await tx.update(kpiDays).set({ kpi: 'GMV' }).where(eq(kpiDays.kpi, 'TEST_GMV'))
      await tx.update(kpiDays).set({ kpi: 'ORDERS' }).where(eq(kpiDays.kpi, 'TEST_ORDERS'))
      await tx.delete(kpiState)
      await tx.insert(kpiState).values({ id: 1, filledAt: 1 })
    })
    expect(ok(await operator.read('dashboard/gmv')).body).toMatchObject({ total: 10, ofTestMode: 0 })
    await backfillKpis(app.deps)
    expect(ok(await operator.read('dashboard/gmv')).body).toMatchObject({ total: 10, ofTestMode: 10 })
    await foldKpis(app.deps)
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
    expect(app.logged.filter(({ event }) => event === 'kpis.differ')).toEqual([])
    await backfillKpis(app.deps)
    expect(ok(await operator.read('dashboard/gmv')).body).toMatchObject({ ofTestMode: 10 })
  })

  test('sums are recounted day by day: a failing day stops no other, and the job fails', async () => {
    await using app = await testApp()
    await backfillKpis(app.deps)
    const days = [20_000, 20_001, 20_100]
    await app.deps.db.write((tx) =>
      kpiStore.append(
        tx,
        days.map((day) => ({ kpi: 'ORDERS', day, id: `${day}`, key: 'none', value: 1 })),
      ),
    )
    const { db } = app.deps
    const background = db.backgroundReader()
    let dayQueries = 0
    using reading = spyOn(db, 'backgroundReader').mockReturnValue({
      // Counting the second day takes too long.
      rows: <T>(query: SQL) =>
        JSON.stringify(query).includes('facts as') && ++dayQueries === 2
          ? Promise.reject(new DatabaseUnavailable('too slow'))
          : background.rows<T>(query),
      close: () => background.close(),
    })
    await expect(rebuildKpis(app.deps)).rejects.toThrow('1 day could not be counted: 2024-10-05')
    expect(reading).toHaveBeenCalledTimes(1)
    const countedDays = await db.read.rows<{ day: number }>(sql`select day from kpi_deltas group by day having sum(value) <> 0`)
    expect(countedDays.map(({ day }) => Number(day))).toEqual([20_001])
  })

  test('dashboards exclude events of test orders once their shop is live', async () => {
    await using app = await testApp()
    const operator = await openOperator(app)
    const shop = await sellingIn(app)
    await approveBusiness(app, shop, await operator.renew())
    const { id } = await shop.placeOrder()
    expect(ok(await operator.read('dashboard/gmv')).body).toMatchObject({ total: 10, ofTestMode: 10, breakdown: { sandbox: 10 } })
    const [live] = await Promise.all([
      app.call('POST', '/shops/v2/go-live', { token: shop.token }),
      app.call('POST', `/v2/orders/${id}/refunds`, { token: shop.token, body: { all: true }, headers: { 'idempotency-key': 'r' } }),
    ])
    if (live.status === 409) ok(await app.call('POST', '/shops/v2/go-live', { token: shop.token }))
    const rate = ok(await operator.read('dashboard/refund-rate')).body
    expect([rate.network, rate.processors]).toEqual([{ confirmedUsd: 0, refundedUsd: 0, rate: null }, []])
    expect(ok(await operator.read('dashboard/gmv')).body).toMatchObject({ total: 0, ofTestMode: 0, breakdown: {} })
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
  })

  test('dashboards are exact to the cent or refused, and are repaired to the cent', async () => {
    await using app = await testApp()
    const operator = await openOperator(app)
    await backfillKpis(app.deps)
    const day = 20_000
    const window = { startDate: dayOf(day * dayMs), endDate: dayOf(day * dayMs) }
    const appendSales = (ids: readonly string[]) =>
      app.deps.db.write((tx) =>
        kpiStore.append(
          tx,
          ids.map((id) => ({ kpi: 'GMV', day, id, key: 'sandbox', value: 99_999_999_999_999 })),
        ),
      )
    await appendSales(Array.from({ length: 9 }, (_, nth) => `few ${nth}`))
    for (const fold of [async () => 0, foldKpis]) {
      await fold(app.deps)
      expect(ok(await operator.read('dashboard/gmv', window)).body).toMatchObject({
        total: 8_999_999_999_999.91,
        breakdown: { sandbox: 8_999_999_999_999.91 },
        series: [{ value: 8_999_999_999_999.91 }],
      })
    }
    await appendSales(Array.from({ length: 200 }, (_, nth) => `many ${nth}`))
    for (const fold of [async () => 0, foldKpis]) {
      await fold(app.deps)
      for (const name of ['gmv', 'refund-rate']) {
        const refused = await operator.read(`dashboard/${name}`, window)
        expect([name, refused.status, refused.body.message]).toEqual([name, 400, expect.stringContaining('too large to be exact')])
      }
    }
    const storedTotals = await app.deps.db.read.rows<{ value: string }>(
      sql`select distinct cast(value as text) as value from kpi_days where day = ${day}`,
    )
    expect(storedTotals).toEqual([{ value: String(209n * 99_999_999_999_999n) }])
    // No facts exist for these sums.
    expect((await rebuildKpis(app.deps)).differences).toBe(1)
    await foldKpis(app.deps)
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
    const [auditRow] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'kpis.mended')).orderBy(auditLog.id)
    expect(auditRow).toMatchObject({ before: { 'GMV sandbox': '20899999999999791' }, after: { 'GMV sandbox': 0 } })
    expect(ok(await operator.read('dashboard/gmv', window)).body).toMatchObject({ total: 0 })
  })

  test('dashboards return CSV only on request', async () => {
    await using app = await testApp()
    const operator = await openOperator(app)
    const shop = await sellingIn(app)
    ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
    await shop.placeOrder({ affiliateCode: 'partner', quantity: 2 })
    await app.deps.db.write(async (tx) => void (await tx.update(products).set({ title: '=cmd()' })))
    const window = { startDate: '2026-01-05', endDate: '2026-01-06' }
    const csv = await operator.read('dashboard/gmv', window, { accept: 'text/csv' })
    expect([csv.status, csv.text]).toEqual([200, 'date,value\r\n2026-01-05,0\r\n2026-01-06,20\r\n'])
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="gmv-2026-01-05-2026-01-06.csv"')
    expect([csv.headers.get('vary'), csv.headers.get('cache-control')]).toEqual(['accept', 'no-store'])
    expect((await operator.read('affiliate/top-products', window, { accept: 'text/csv;q=0.9, application/json;q=0.8' })).text).toBe(
      `rank,productId,title,shopName,unitsSold,affiliateGmvUsd\r\n1,${shop.productId},'=cmd(),${shop.shop.name},2,20\r\n`,
    )
    for (const accept of ['*/*', 'application/json', 'text/csv;q=0', 'text/csv;q=0.5, application/json', 'text/html'])
      expect((await operator.read('dashboard/gmv', window, { accept })).headers.get('content-type')).toContain('json')
    for (const accept of ['text/*', 'TEXT/CSV', 'text/csv, */*;q=0.1'])
      expect((await operator.read('dashboard/gmv', window, { accept })).headers.get('content-type')).toContain('csv')
  })

  test('rankings sort equal values by id, up to the limit', async () => {
    await using app = await testApp()
    const operator = await openOperator(app)
    const names: string[] = []
    for (let n = 0; n < 3; n++) {
      const shop = await sellingIn(app)
      ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
      await shop.placeOrder({ affiliateCode: 'partner' })
      names.push(shop.id)
    }
    const readRanking = async (limit: string) =>
      ok(await operator.read('affiliate/top-merchants', { limit })).body.data.map((row: Json) => [row.rank, row.merchantId])
    const sorted = names.sort().map((id, place) => [place + 1, id])
    expect(await readRanking('100000')).toEqual(sorted)
    expect(await readRanking('2')).toEqual(sorted.slice(0, 2))
    expect(await readRanking('0')).toEqual(sorted.slice(0, 1))
    expect(await readRanking('-5')).toEqual(await readRanking('1'))
    for (const limit of ['ten', '1.5']) expect((await operator.read('affiliate/top-merchants', { limit })).status).toBe(400)
  })

  test('dashboards are for operators only, and refuse invalid windows', async () => {
    await using app = await testApp()
    const operator = await openOperator(app)
    const { token } = await app.merchant()
    for (const path of [...countedDashboards.map((name) => `dashboard/${name}`), ...rankings.map((name) => `affiliate/${name}`)]) {
      expect((await app.call('GET', `/admin/${path}`)).status).toBe(401)
      expect((await app.call('GET', `/admin/${path}`, { token })).status).toBe(403)
      expect((await app.call('GET', `/admin/${path}`, { token: operator.token, from: '203.0.113.9' })).status).toBe(403)
      const refused = await operator.read(path, { startDate: '2025-01-01', endDate: '2026-01-01' })
      expect([refused.status, refused.body.message]).toEqual([400, 'endDate: must be within 365 days of startDate'])
      expect((await operator.read(path, { startDate: '2026-01-01' })).status).toBe(400)
      expect((await operator.read(path, { startDate: '2026-1-1', endDate: '2026-01-02' })).body.message).toContain('startDate')
      const { startDate, endDate } = ok(await operator.read(path)).body
      expect([startDate, endDate]).toEqual([dayOf(app.clock.now() - 29 * dayMs), dayOf(app.clock.now())])
    }
  })
})

test('dashboards count live shops by default, or test shops, or both', async () => {
  await using app = await testApp()
  const operator = await openOperator(app)
  const [test, live] = [await sellingIn(app), await sellingIn(app)]
  await live.placeOrder()
  await test.placeOrder()
  // Makes the orders live in the database, because sandbox payments exist only in test mode.
  await app.deps.db.write(async (tx) => {
    await tx.update(shops).set({ mode: 'LIVE' }).where(eq(shops.id, live.shop.id))
    await tx.update(orders).set({ mode: 'LIVE' }).where(eq(orders.shopId, live.shop.id))
    await tx.delete(kpiDeltas)
  })
  await rebuildKpis(app.deps)
  const totals = async (query: Record<string, string>) => {
    const read = async (path: string) =>
      ok(await app.call('GET', `/admin/${path}?${new URLSearchParams(query)}`, { token: operator.token })).body
    const [gmv, confirmedOrders, rate] = [
      await read('dashboard/gmv'),
      await read('dashboard/confirmed-orders'),
      await read('dashboard/refund-rate'),
    ]
    return [gmv.total, gmv.ofTestMode, confirmedOrders.total, rate.network.confirmedUsd]
  }
  expect(await totals({})).toEqual([10, 0, 1, 10])
  expect(await totals({ mode: 'LIVE' })).toEqual([10, 0, 1, 10])
  expect(await totals({ mode: 'TEST' })).toEqual([10, 10, 1, 10])
  expect(await totals({ mode: 'ALL' })).toEqual([20, 10, 2, 20])
  expect((await operator.read('dashboard/gmv', { mode: 'live' })).status).toBe(400)
  expect((await operator.read('dashboard/registered-users', { mode: 'LIVE' })).status).toBe(400)
})

test('the sales of a shop leave test mode when it goes live, and later ones count as live in every dashboard', async () => {
  await using app = await testApp()
  const operator = await openOperator(app)
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  const partner = { name: 'Partner', code: 'partner', rateBps: 1_000 }
  for (const one of [shop, other]) {
    ok(await one.post('/affiliates', partner))
    const { id } = await one.placeOrder({ affiliateCode: 'partner' })
    ok(await one.refund(id, { amount: one.money(400) }))
  }
  /** Reads GMV, orders, refunds, and the rankings of merchants and products. */
  const readFigures = async (query: Record<string, string>) => {
    const read = async (path: string) =>
      ok(await app.call('GET', `/admin/${path}?${new URLSearchParams(query)}`, { token: operator.token })).body
    const rate = await read('dashboard/refund-rate')
    const [merchants, productsSold] = [await read('affiliate/top-merchants'), await read('affiliate/top-products')]
    return {
      gmv: (await read('dashboard/gmv')).total,
      orders: (await read('dashboard/confirmed-orders')).total,
      refunded: rate.network.refundedUsd,
      merchants: merchants.data.map((one: Json) => one.affiliateGmvUsd),
      products: productsSold.data.map((one: Json) => one.unitsSold),
    }
  }
  const readModes = async () => ({
    default: await readFigures({}),
    live: await readFigures({ mode: 'LIVE' }),
    test: await readFigures({ mode: 'TEST' }),
    all: await readFigures({ mode: 'ALL' }),
  })
  const nothing = { gmv: 0, orders: 0, refunded: 0, merchants: [], products: [] }
  const one = { gmv: 10, orders: 1, refunded: 4, merchants: [10], products: [1] }
  const twoShops = { gmv: 20, orders: 2, refunded: 8, merchants: [10, 10], products: [1, 1] }
  expect(await readModes()).toEqual({ default: nothing, live: nothing, test: twoShops, all: twoShops })

  await approveBusiness(app, shop, operator)
  const { publishableKey } = ok(await app.call('POST', '/shops/v2/go-live', { token: shop.token })).body
  expect(await readModes()).toEqual({ default: nothing, live: nothing, test: one, all: one })

  // A gift card pays: tests have no account of a live processor.
  const card = await app.call('POST', '/giftcard', { token: shop.token, body: { amount: shop.money(1_000) } })
  const body = { email: 'guest@example.com', affiliateCode: 'partner' }
  const { id: cartId } = ok(await app.call('POST', '/cart', { key: publishableKey, body })).body
  ok(await app.call('POST', `/cart/${cartId}/items`, { key: publishableKey, body: { variantId: shop.variantId, quantity: 1 } }))
  ok(await app.call('PATCH', '/giftcard/apply', { key: publishableKey, body: { code: ok(card).body.code, cartId } }))
  const checkout = await app.call('POST', `/cart/${cartId}/checkout`, {
    key: publishableKey,
    body: { method: 'card' },
    headers: { 'idempotency-key': 'live' },
  })
  expect(ok(checkout).body.order).toMatchObject({ status: 'CONFIRMED', mode: 'LIVE' })
  const afterSale = { ...one, refunded: 0 }
  const all = { ...twoShops, refunded: 4 }
  expect(await readModes()).toEqual({ default: afterSale, live: afterSale, test: one, all })
  for (const [seller, mode] of [
    [shop, 'LIVE'],
    [other, 'TEST'],
  ] as const) {
    const overview = ok(await app.call('GET', '/shops/v2/overview', { token: seller.token })).body
    expect([overview.mode, overview.orders.confirmed, overview.sales.confirmed]).toEqual([mode, 1, seller.money(1_000)])
  }
  // Folding and recounting change nothing.
  await foldKpis(app.deps)
  expect((await rebuildKpis(app.deps)).differences).toBe(0)
  expect(await readModes()).toEqual({ default: afterSale, live: afterSale, test: one, all })
})
