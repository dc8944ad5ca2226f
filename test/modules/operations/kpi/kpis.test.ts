/** The figures of the dashboards against what the tables say: every history, every fold, two processes. */
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
import { rebuildKpis } from '../../../../jobs/rebuild-kpis.ts'
import { system } from '../../../../src/core/command-context.ts'
import { addDays, dayMs, dayOf } from '../../../../src/lib/day.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { backfillKpis, checkKpis } from '../../../../src/modules/operations/kpi/index.ts'
import { kpiStore } from '../../../../src/modules/operations/kpi/store.ts'
import { type Answer, type Json, type TestApp, testApp } from '../../../support/app.ts'
import { testDatabase } from '../../../support/database.ts'
import { approved } from '../../../support/kyb.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const counted = ['registered-users', 'verified-shops', 'confirmed-orders', 'created-products', 'gmv', 'refund-rate'] as const
const rankings = ['top-merchants', 'top-products'] as const

/** A token of now: these histories take months. */
const tokenOf = async ({ deps }: TestApp, role: 'MERCHANT' | 'SUPER_ADMIN', id: string): Promise<string> =>
  (await startSession(deps, { id, role }, system)).data.accessToken

const salesPaths = /^(dashboard\/(confirmed-orders|gmv|refund-rate)|affiliate\/)/
/** Shops under test are in test mode: all of them count unless a test says otherwise. */
const modeOf = (path: string): Record<string, string> => (salesPaths.test(path) ? { mode: 'ALL' } : {})

async function operatorIn(app: TestApp) {
  const operator = await app.superAdmin()
  let { token } = operator
  const at = (path: string, query: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Answer> =>
    app.call('GET', `/admin/${path}?${new URLSearchParams({ ...modeOf(path), ...query })}`, { token, headers })
  const renewed = async () => {
    token = await tokenOf(app, 'SUPER_ADMIN', operator.id)
    return { ...operator, token }
  }
  return {
    token,
    renewed,
    at,
    /** All dashboards over a window. */
    async all(query: Record<string, string>): Promise<Json> {
      const answers: Record<string, Json> = {}
      for (const name of counted) answers[name] = ok(await at(`dashboard/${name}`, query)).body
      for (const name of rankings) answers[name] = ok(await at(`affiliate/${name}`, query)).body
      return answers
    },
  }
}
type Operator = Awaited<ReturnType<typeof operatorIn>>

type Fact = { day: string; key: string; value: number }
const centsToUsd = (cents: number) => cents / 100
const sumOf = (facts: readonly { value: number }[]) => facts.reduce((sum, { value }) => sum + value, 0)

/** The same answers, counted from the tables in a way of their own. */
async function recounted({ deps: { db } }: TestApp, { startDate, endDate }: { startDate: string; endDate: string }): Promise<Json> {
  const { read } = db
  const allShops = await read.select().from(shops)
  const shopOf = (id: string) => allShops.find((shop) => shop.id === id) as (typeof allShops)[number]
  const counts = (await read.select().from(orders)).filter(
    ({ shopId, mode, confirmedAt }) => shopOf(shopId).mode === mode && confirmedAt !== null,
  )
  const moved = (await read.select().from(unifiedTransactions)).filter(
    ({ orderId, confirmed }) => confirmed && counts.some(({ id }) => id === orderId),
  )
  const lines = await read.select().from(orderLines)
  const goods = await read.select().from(products)
  const records = await read.select().from(kybRecords)
  const days: string[] = []
  for (let day = startDate; day <= endDate; day = addDays(day, 1)) days.push(day)
  const firstBefore = addDays(startDate, -days.length)
  const within = ({ day }: { day: string }) => day >= startDate && day <= endDate
  const figure = (facts: readonly Fact[], { keys = [] as readonly string[], say = (value: number) => value } = {}) => {
    const now = facts.filter(within)
    const before = sumOf(facts.filter(({ day }) => day >= firstBefore && day < startDate))
    const total = sumOf(now)
    const names = [...new Set([...keys, ...now.map(({ key }) => key)])]
    const breakdown = names.map((name) => [name, say(sumOf(now.filter(({ key }) => key === name)))] as const)
    return {
      startDate,
      endDate,
      total: say(total),
      previousTotal: say(before),
      percentChange: before === 0 ? null : ((total - before) * 100) / before,
      breakdown: Object.fromEntries(breakdown.filter(([name, value]) => value !== 0 || keys.includes(name))),
      series: days.map((date) => ({ date, value: say(sumOf(now.filter(({ day }) => day === date))) })),
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
  const paidBy = (id: string) =>
    moved.find(({ orderId, kind }) => orderId === id && kind === 'CAPTURE')?.processor ??
    moved.find(({ orderId }) => orderId === id)?.processor ??
    'none'
  const isSale = ({ kind }: { kind: string }) => kind === 'CAPTURE' || kind === 'GIFT_CARD'
  const money = (wanted: (row: (typeof moved)[number]) => number) =>
    moved.map((row) => ({ day: dayOf(row.at), key: row.processor, value: wanted(row) * (row.usdCents ?? 0) }))
  const gmv = money((row) => (isSale(row) ? 1 : 0))
  const refunds = money(({ kind }) => (kind === 'REFUND' || kind === 'GIFT_CARD_REFUND' ? 1 : kind === 'REFUND_REVERSED' ? -1 : 0))
  const ofTestMode = moved.filter((row) => isSale(row) && shopOf(row.shopId).mode === 'TEST' && within({ day: dayOf(row.at) }))
  const waits = moved.filter((row) => row.usdCents === null && !row.kind.startsWith('DISPUTE') && within({ day: dayOf(row.at) }))
  const rated = (confirmed: number, refunded: number) => ({
    confirmedUsd: centsToUsd(confirmed),
    refundedUsd: centsToUsd(refunded),
    rate: confirmed === 0 ? null : refunded / confirmed,
  })
  const sum = (facts: readonly Fact[], keep: (fact: Fact) => boolean) => sumOf(facts.filter((fact) => within(fact) && keep(fact)))
  const processors = [...new Set([...gmv, ...refunds].map(({ key }) => key))].sort()
  const brought = counts.filter(({ affiliateId, confirmedAt }) => affiliateId !== null && within({ day: dayOf(confirmedAt ?? 0) }))
  const cohorts = Object.keys(figure(verified).breakdown)
  const merchants = new Map<string, { cents: number; n: number }>()
  const sold = new Map<string, { cents: number; n: number }>()
  for (const { id, shopId } of brought) {
    const sales = moved.filter((row) => row.orderId === id && isSale(row))
    const ofMerchant = merchants.get(shopOf(shopId).merchantId) ?? { cents: 0, n: 0 }
    const cents = sales.reduce((total, { usdCents }) => total + (usdCents ?? 0), 0)
    merchants.set(shopOf(shopId).merchantId, { cents: ofMerchant.cents + cents, n: ofMerchant.n + 1 })
    // Every rate of these histories is a whole number of cents for one unit of a currency with two decimals.
    const rate = sales.sort((a, b) => (a.key < b.key ? -1 : 1))[0]?.usdPerUnit ?? null
    for (const { orderId, productId, quantity, total } of lines)
      if (orderId === id) {
        const before = sold.get(productId) ?? { cents: 0, n: 0 }
        sold.set(productId, { cents: before.cents + (rate === null ? 0 : Math.round(total * Number(rate))), n: before.n + quantity })
      }
  }
  const shopName = (merchantId: string) => allShops.find((shop) => shop.merchantId === merchantId)?.name
  return {
    'registered-users': figure(signUps, { keys: ['MERCHANT', 'CUSTOMER'] }),
    'verified-shops': {
      ...figure(verified),
      breakdown: expect.objectContaining(Object.fromEntries(cohorts.map((name) => [name, sum(verified, ({ key }) => key === name)]))),
    },
    'confirmed-orders': figure(counts.map(({ id, confirmedAt }) => one(confirmedAt ?? 0, paidBy(id)))),
    'created-products': figure(
      goods.map(({ createdAt, createdAs }) => one(createdAt, createdAs)),
      { keys: ['DRAFT', 'ACTIVE', 'ARCHIVED'] },
    ),
    gmv: {
      ...figure(gmv, { say: centsToUsd }),
      ofTestMode: centsToUsd(ofTestMode.reduce((total, { usdCents }) => total + (usdCents ?? 0), 0)),
      unpriced: waits.filter(isSale).length,
    },
    'refund-rate': {
      startDate,
      endDate,
      network: rated(
        sum(gmv, () => true),
        sum(refunds, () => true),
      ),
      processors: processors
        .map((processor) => ({
          processor,
          ...rated(
            sum(gmv, ({ key }) => key === processor),
            sum(refunds, ({ key }) => key === processor),
          ),
        }))
        .filter(({ confirmedUsd, refundedUsd }) => confirmedUsd !== 0 || refundedUsd !== 0),
      series: days.map((date) => ({
        date,
        value: rated(
          sum(gmv, ({ day }) => day === date),
          sum(refunds, ({ day }) => day === date),
        ).rate,
      })),
      unpriced: waits.length,
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
      data: [...sold]
        .sort(([a, x], [b, y]) => y.n - x.n || (a < b ? -1 : 1))
        .slice(0, 10)
        .map(([productId, { cents, n }], nth) => {
          const product = goods.find(({ id }) => id === productId)
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
  | { do: 'buy'; shop: number; quantity: number; partner: boolean; card: boolean; both: boolean }
  | { do: 'refund'; order: number; share: 'all' | number }
  | { do: 'signUp' | 'enter' | 'goLive' | 'add'; shop: number }
  | { do: 'open' }
  | { do: 'fold' }
  | { do: 'rate' }
  | { do: 'wait'; hours: number }

const nth = fc.nat({ max: 20 })
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('buy' as const),
      shop: nth,
      quantity: fc.integer({ min: 1, max: 3 }),
      partner: fc.boolean(),
      card: fc.boolean(),
      both: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('refund' as const), order: nth, share: fc.constantFrom('all' as const, 0.3, 0.5) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('signUp' as const, 'enter' as const, 'goLive' as const, 'add' as const), shop: nth }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('open' as const, 'fold' as const, 'rate' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 11, 24, 24 * 9, 24 * 70) }) },
)

/** Shops of which one sells in a currency whose rate comes late, and what happens in them. */
async function historyIn(app: TestApp, operator: Operator) {
  const made: (Selling & { other: string })[] = []
  const sales: { shop: Selling; id: string; total: number }[] = []
  let others = 0
  async function open(): Promise<void> {
    const currency = made.length % 2 === 1 ? 'EUR' : 'USD'
    const shop = await sellingIn(app, { currency, price: 1_250, onHand: 500 })
    const money = { amount: 700, currency }
    const other = (await shop.add({ title: 'Bowl', status: 'ACTIVE', variants: [{ price: money, onHand: 500 }] })).variants[0]?.id ?? ''
    ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
    await approved(app, shop, await operator.renewed())
    made.push({ ...shop, other })
  }
  const at = <T>(list: readonly T[], place: number): T | undefined => list[place % Math.max(1, list.length)]

  const ownerOf = ({ id }: Pick<Selling, 'id'>) => tokenOf(app, 'MERCHANT', id)
  async function act(one: Action): Promise<void> {
    if (one.do === 'open') return open()
    if (one.do === 'fold') return void (await foldKpis(app.deps))
    if (one.do === 'wait') return app.clock.advance(one.hours * 3_600_000)
    if (one.do === 'rate') {
      const day = dayOf(app.clock.now())
      await app.deps.db.write(async (tx) => {
        await tx.insert(fxRates).values({ currency: 'EUR', day, usdPerUnit: '2', source: 'test' }).onConflictDoNothing()
      })
      return void (await convertCurrencies(app.deps))
    }
    if (one.do === 'refund') {
      const sale = at(sales, one.order)
      const body = one.share === 'all' ? { all: true } : { amount: sale?.shop.money(Math.max(1, Math.floor(sale.total * one.share))) }
      const headers = { 'idempotency-key': `refund-${others++}` }
      return void (sale && (await app.call('POST', `/v2/orders/${sale.id}/refunds`, { token: await ownerOf(sale.shop), headers, body })))
    }
    const shop = at(made, one.shop)
    if (!shop) return
    if (one.do === 'signUp') await customerOf(app, shop.shop.name, `shopper${others++}@example.com`)
    if (one.do === 'enter') await shop.post('/customer', { email: `entered${others++}@example.com`, name: 'E' })
    if (one.do === 'add') ok(await app.call('POST', '/product-v2', { token: await ownerOf(shop), body: { title: `Thing ${others++}` } }))
    if (one.do === 'goLive') await app.call('POST', '/shops/v2/go-live', { token: await ownerOf(shop) })
    if (one.do === 'buy') await buy(shop, one)
  }

  async function buy(shop: Selling & { other: string }, { quantity, partner, card, both }: Extract<Action, { do: 'buy' }>): Promise<void> {
    const [key] = (await app.deps.shopStore.currentKey(shop.shop.id, 'PUBLISHABLE', 'LIVE')) ? [undefined] : [shop.publishableKey]
    const live = key === undefined ? (await app.deps.shopStore.currentKey(shop.shop.id, 'PUBLISHABLE', 'LIVE'))?.publicValue : key
    const who = { key: live ?? '' }
    const cart = ok(
      await app.call('POST', '/cart', { ...who, body: { email: 'a@example.com', ...(partner ? { affiliateCode: 'partner' } : {}) } }),
    ).body.id
    for (const variantId of both ? [shop.variantId, shop.other] : [shop.variantId])
      ok(await app.call('POST', `/cart/${cart}/items`, { ...who, body: { variantId, quantity } }))
    // Whoever is live takes no money of the sandbox: a gift card pays all of it.
    const amount = key === undefined ? 100_000 : card ? 900 : 0
    if (amount > 0) {
      const issued = ok(await app.call('POST', '/giftcard', { token: await ownerOf(shop), body: { amount: shop.money(amount) } })).body
      ok(await app.call('PATCH', '/giftcard/apply', { ...who, body: { code: issued.code, cartId: cart } }))
    }
    const headers = { 'idempotency-key': `buy-${others++}` }
    const { body } = ok(await app.call('POST', `/cart/${cart}/checkout`, { ...who, headers, body: { method: 'card' } }))
    sales.push({ shop, id: body.order.id, total: body.order.total.amount })
  }
  return { act, open }
}

const runs = Number(Bun.env['FUZZ_RUNS'] ?? (engine === 'sqlite' ? 5 : 3))
const seed = Number(Bun.env['FUZZ_SEED'] ?? 20_261_122)

describe('dashboards', () => {
  test('equal the tables after any events and folds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 30, size: 'max' }), async (actions) => {
        await using app = await testApp()
        const operator = await operatorIn(app)
        const history = await historyIn(app, operator)
        await history.open()
        await history.open()
        for (const one of actions) await history.act(one)
        await operator.renewed()
        const today = dayOf(app.clock.now())
        for (const [startDate, endDate] of [
          [addDays(today, -364), today],
          [addDays(today, -8), addDays(today, -1)],
          [today, today],
        ] as const)
          expect(await operator.all({ startDate, endDate })).toEqual(await recounted(app, { startDate, endDate }))
        expect((await rebuildKpis(app.deps)).differences).toBe(0)
        // What is there of an instance that has never counted.
        const window = { startDate: addDays(today, -364), endDate: today }
        const before = await operator.all(window)
        await app.deps.db.write(async (tx) => {
          await tx.delete(kpiDays)
          await tx.delete(kpiDeltas)
          // The night has counted it already.
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

  test('lose and duplicate nothing during concurrent folds, purchases and reads', async () => {
    const database = await testDatabase()
    await using app = await testApp({}, { database })
    const operator = await operatorIn(app)
    const shop = await sellingIn(app, { onHand: 100 })
    // Another process, where there can be one.
    const other = engine === 'postgres' ? await testApp({}, { database }) : undefined
    const totals: number[] = []
    const buying = async () => {
      for (let n = 0; n < 12; n++) {
        await shop.bought()
        totals.push(ok(await operator.at('dashboard/confirmed-orders')).body.total)
      }
    }
    let isOver = false
    const folding = async (deps: TestApp['deps']) => {
      while (!isOver) await foldKpis(deps)
    }
    const folds = [folding(app.deps), folding((other ?? app).deps)]
    await buying().finally(() => {
      isOver = true
    })
    await Promise.all(folds)
    expect(totals).toEqual(Array.from({ length: 12 }, (_, nth) => nth + 1))
    await foldKpis(app.deps)
    expect(await app.deps.db.read.select().from(kpiDeltas)).toEqual([])
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
    await other?.[Symbol.asyncDispose]()
    await app[Symbol.asyncDispose]()
    await database.drop()
  })

  test('count the past during purchases, and are unavailable until then', async () => {
    await using app = await testApp()
    const operator = await operatorIn(app)
    const shop = await sellingIn(app, { onHand: 100 })
    for (let day = 0; day < 6; day++) {
      await shop.bought()
      app.clock.advance(dayMs)
    }
    await app.deps.db.write(async (tx) => {
      await tx.delete(kpiDays)
      await tx.delete(kpiDeltas)
    })
    await operator.renewed()
    const filling = backfillKpis(app.deps)
    const refused = await operator.at('dashboard/gmv')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
    expect((await operator.at('dashboard/gmv', { startDate: '2026-01-02' })).status).toBe(400)
    const token = await tokenOf(app, 'MERCHANT', shop.id)
    for (let nth = 0; nth < 4; nth++) {
      await shop.bought()
      ok(await app.call('POST', '/product-v2', { token, body: { title: `Thing ${nth}` } }))
      await foldKpis(app.deps)
    }
    await filling
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
    expect(ok(await operator.at('dashboard/confirmed-orders')).body.total).toBe(10)
    expect(ok(await operator.at('dashboard/created-products')).body.total).toBe(5)
  })

  test('are unchanged by an interrupted fold', async () => {
    await using app = await testApp()
    const operator = await operatorIn(app)
    await (await sellingIn(app)).bought()
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

  test('that differ from the facts are found, reported and repaired', async () => {
    await using app = await testApp()
    const operator = await operatorIn(app)
    const shop = await sellingIn(app)
    ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
    await shop.bought({ affiliateCode: 'partner' })
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
      'TEST_GMV of sandbox on 2026-01-06: 1005 is kept of 1000',
      `TEST_PRODUCT_CENTS of ${shop.productId} on 2026-01-06: 0 is kept of 1000`,
      `TEST_MERCHANT_ORDERS of ${shop.shop.id} in 64 days from 2025-11-24: 99 is kept of 1`,
      `TEST_PRODUCT_CENTS of ${shop.productId} in 8 days from 2026-01-03: 1000 is kept of 0`,
      `TEST_PRODUCT_CENTS of ${shop.productId} in 64 days from 2025-11-24: 1000 is kept of 0`,
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

  test('are available once any process has counted the past, at the start or at night', async () => {
    const database = await testDatabase()
    const app = await testApp({}, { database })
    const operator = await operatorIn(app)
    await (await sellingIn(app)).bought()
    await app.deps.db.write(async (tx) => {
      await tx.delete(kpiDays)
      await tx.delete(kpiDeltas)
    })
    using reading = spyOn(app.deps.db, 'backgroundReader').mockImplementationOnce(() => {
      throw new DatabaseUnavailable('away')
    })
    await expect(backfillKpis(app.deps)).rejects.toThrow('away')
    expect(reading).toHaveBeenCalledTimes(1)
    expect((await operator.at('dashboard/gmv')).status).toBe(503)
    // Uncounted days cause no alarm.
    expect(await rebuildKpis(app.deps)).toMatchObject({ differences: 0 })
    expect(app.logged.filter(({ event }) => event === 'kpis.differ')).toEqual([])
    expect(ok(await operator.at('dashboard/gmv')).body).toMatchObject({ total: 10 })
    // Another process has counted what this one could not.
    app.deps.life.countingPast = 'NETWORK'
    expect(ok(await operator.at('dashboard/gmv')).body).toMatchObject({ total: 10 })
    await app.close()
    await database.drop()
  })

  test('of a version with more figures are counted for the past at its first start without an alarm', async () => {
    await using app = await testApp()
    const operator = await operatorIn(app)
    await backfillKpis(app.deps)
    await (await sellingIn(app)).bought()
    await foldKpis(app.deps)
    // As the version before left it.
    await app.deps.db.write(async (tx) => {
      await tx.update(kpiDays).set({ kpi: 'GMV' }).where(eq(kpiDays.kpi, 'TEST_GMV'))
      await tx.update(kpiDays).set({ kpi: 'ORDERS' }).where(eq(kpiDays.kpi, 'TEST_ORDERS'))
      await tx.delete(kpiState)
      await tx.insert(kpiState).values({ id: 1, filledAt: 1 })
    })
    expect(ok(await operator.at('dashboard/gmv')).body).toMatchObject({ total: 10, ofTestMode: 0 })
    await backfillKpis(app.deps)
    expect(ok(await operator.at('dashboard/gmv')).body).toMatchObject({ total: 10, ofTestMode: 10 })
    await foldKpis(app.deps)
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
    expect(app.logged.filter(({ event }) => event === 'kpis.differ')).toEqual([])
    await backfillKpis(app.deps)
    expect(ok(await operator.at('dashboard/gmv')).body).toMatchObject({ ofTestMode: 10 })
  })

  test('are recounted day by day: a failing day stops no other, and the job fails', async () => {
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
    const aside = db.backgroundReader()
    let asked = 0
    using reading = spyOn(db, 'backgroundReader').mockReturnValue({
      // The second day that is counted takes too long.
      rows: <T>(query: SQL) =>
        JSON.stringify(query).includes('facts as') && ++asked === 2
          ? Promise.reject(new DatabaseUnavailable('too slow'))
          : aside.rows<T>(query),
      close: () => aside.close(),
    })
    await expect(rebuildKpis(app.deps)).rejects.toThrow('1 day could not be counted: 2024-10-05')
    expect(reading).toHaveBeenCalledTimes(1)
    const kept = await db.read.rows<{ day: number }>(sql`select day from kpi_deltas group by day having sum(value) <> 0`)
    expect(kept.map(({ day }) => Number(day))).toEqual([20_001])
  })

  test('exclude events of test orders once their shop is live', async () => {
    await using app = await testApp()
    const operator = await operatorIn(app)
    const shop = await sellingIn(app)
    await approved(app, shop, await operator.renewed())
    const { id } = await shop.bought()
    expect(ok(await operator.at('dashboard/gmv')).body).toMatchObject({ total: 10, ofTestMode: 10, breakdown: { sandbox: 10 } })
    const [live] = await Promise.all([
      app.call('POST', '/shops/v2/go-live', { token: shop.token }),
      app.call('POST', `/v2/orders/${id}/refunds`, { token: shop.token, body: { all: true }, headers: { 'idempotency-key': 'r' } }),
    ])
    if (live.status === 409) ok(await app.call('POST', '/shops/v2/go-live', { token: shop.token }))
    const rate = ok(await operator.at('dashboard/refund-rate')).body
    expect([rate.network, rate.processors]).toEqual([{ confirmedUsd: 0, refundedUsd: 0, rate: null }, []])
    expect(ok(await operator.at('dashboard/gmv')).body).toMatchObject({ total: 0, ofTestMode: 0, breakdown: {} })
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
  })

  test('are exact to the cent or refused, and repaired to the cent', async () => {
    await using app = await testApp()
    const operator = await operatorIn(app)
    await backfillKpis(app.deps)
    const day = 20_000
    const window = { startDate: dayOf(day * dayMs), endDate: dayOf(day * dayMs) }
    const sell = (ids: readonly string[]) =>
      app.deps.db.write((tx) =>
        kpiStore.append(
          tx,
          ids.map((id) => ({ kpi: 'GMV', day, id, key: 'sandbox', value: 99_999_999_999_999 })),
        ),
      )
    await sell(Array.from({ length: 9 }, (_, nth) => `few ${nth}`))
    for (const fold of [async () => 0, foldKpis]) {
      await fold(app.deps)
      expect(ok(await operator.at('dashboard/gmv', window)).body).toMatchObject({
        total: 8_999_999_999_999.91,
        breakdown: { sandbox: 8_999_999_999_999.91 },
        series: [{ value: 8_999_999_999_999.91 }],
      })
    }
    await sell(Array.from({ length: 200 }, (_, nth) => `many ${nth}`))
    for (const fold of [async () => 0, foldKpis]) {
      await fold(app.deps)
      for (const name of ['gmv', 'refund-rate']) {
        const refused = await operator.at(`dashboard/${name}`, window)
        expect([name, refused.status, refused.body.message]).toEqual([name, 400, expect.stringContaining('too large to be exact')])
      }
    }
    const kept = await app.deps.db.read.rows<{ value: string }>(
      sql`select distinct cast(value as text) as value from kpi_days where day = ${day}`,
    )
    expect(kept).toEqual([{ value: String(209n * 99_999_999_999_999n) }])
    // There is no fact behind them.
    expect((await rebuildKpis(app.deps)).differences).toBe(1)
    await foldKpis(app.deps)
    expect((await rebuildKpis(app.deps)).differences).toBe(0)
    const [mended] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'kpis.mended')).orderBy(auditLog.id)
    expect(mended).toMatchObject({ before: { 'GMV sandbox': '20899999999999791' }, after: { 'GMV sandbox': 0 } })
    expect(ok(await operator.at('dashboard/gmv', window)).body).toMatchObject({ total: 0 })
  })

  test('return CSV only on request', async () => {
    await using app = await testApp()
    const operator = await operatorIn(app)
    const shop = await sellingIn(app)
    ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
    await shop.bought({ affiliateCode: 'partner', quantity: 2 })
    await app.deps.db.write(async (tx) => void (await tx.update(products).set({ title: '=cmd()' })))
    const window = { startDate: '2026-01-05', endDate: '2026-01-06' }
    const csv = await operator.at('dashboard/gmv', window, { accept: 'text/csv' })
    expect([csv.status, csv.text]).toEqual([200, 'date,value\r\n2026-01-05,0\r\n2026-01-06,20\r\n'])
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="gmv-2026-01-05-2026-01-06.csv"')
    expect([csv.headers.get('vary'), csv.headers.get('cache-control')]).toEqual(['accept', 'no-store'])
    expect((await operator.at('affiliate/top-products', window, { accept: 'text/csv;q=0.9, application/json;q=0.8' })).text).toBe(
      `rank,productId,title,shopName,unitsSold,affiliateGmvUsd\r\n1,${shop.productId},'=cmd(),${shop.shop.name},2,20\r\n`,
    )
    for (const accept of ['*/*', 'application/json', 'text/csv;q=0', 'text/csv;q=0.5, application/json', 'text/html'])
      expect((await operator.at('dashboard/gmv', window, { accept })).headers.get('content-type')).toContain('json')
    for (const accept of ['text/*', 'TEXT/CSV', 'text/csv, */*;q=0.1'])
      expect((await operator.at('dashboard/gmv', window, { accept })).headers.get('content-type')).toContain('csv')
  })

  test('rank equal ones by id, up to the limit', async () => {
    await using app = await testApp()
    const operator = await operatorIn(app)
    const names: string[] = []
    for (let n = 0; n < 3; n++) {
      const shop = await sellingIn(app)
      ok(await shop.post('/affiliates', { name: 'Partner', code: 'partner', rateBps: 1_000 }))
      await shop.bought({ affiliateCode: 'partner' })
      names.push(shop.id)
    }
    const ranked = async (limit: string) =>
      ok(await operator.at('affiliate/top-merchants', { limit })).body.data.map((row: Json) => [row.rank, row.merchantId])
    const sorted = names.sort().map((id, place) => [place + 1, id])
    expect(await ranked('100000')).toEqual(sorted)
    expect(await ranked('2')).toEqual(sorted.slice(0, 2))
    expect(await ranked('0')).toEqual(sorted.slice(0, 1))
    expect(await ranked('-5')).toEqual(await ranked('1'))
    for (const limit of ['ten', '1.5']) expect((await operator.at('affiliate/top-merchants', { limit })).status).toBe(400)
  })

  test('are for operators only, and refuse invalid windows', async () => {
    await using app = await testApp()
    const operator = await operatorIn(app)
    const { token } = await app.merchant()
    for (const path of [...counted.map((name) => `dashboard/${name}`), ...rankings.map((name) => `affiliate/${name}`)]) {
      expect((await app.call('GET', `/admin/${path}`)).status).toBe(401)
      expect((await app.call('GET', `/admin/${path}`, { token })).status).toBe(403)
      expect((await app.call('GET', `/admin/${path}`, { token: operator.token, from: '203.0.113.9' })).status).toBe(403)
      const refused = await operator.at(path, { startDate: '2025-01-01', endDate: '2026-01-01' })
      expect([refused.status, refused.body.message]).toEqual([400, 'endDate: must be within 365 days of startDate'])
      expect((await operator.at(path, { startDate: '2026-01-01' })).status).toBe(400)
      expect((await operator.at(path, { startDate: '2026-1-1', endDate: '2026-01-02' })).body.message).toContain('startDate')
      const { startDate, endDate } = ok(await operator.at(path)).body
      expect([startDate, endDate]).toEqual([dayOf(app.clock.now() - 29 * dayMs), dayOf(app.clock.now())])
    }
  })
})

test('dashboards count live shops by default, or test shops, or both', async () => {
  await using app = await testApp()
  const operator = await operatorIn(app)
  const [test, live] = [await sellingIn(app), await sellingIn(app)]
  await live.bought()
  await test.bought()
  // As an order of a live shop is: sandbox payments are for test mode alone.
  await app.deps.db.write(async (tx) => {
    await tx.update(shops).set({ mode: 'LIVE' }).where(eq(shops.id, live.shop.id))
    await tx.update(orders).set({ mode: 'LIVE' }).where(eq(orders.shopId, live.shop.id))
    await tx.delete(kpiDeltas)
  })
  await rebuildKpis(app.deps)
  const totals = async (query: Record<string, string>) => {
    const read = async (path: string) =>
      ok(await app.call('GET', `/admin/${path}?${new URLSearchParams(query)}`, { token: operator.token })).body
    const [gmv, counted, rate] = [
      await read('dashboard/gmv'),
      await read('dashboard/confirmed-orders'),
      await read('dashboard/refund-rate'),
    ]
    return [gmv.total, gmv.ofTestMode, counted.total, rate.network.confirmedUsd]
  }
  expect(await totals({})).toEqual([10, 0, 1, 10])
  expect(await totals({ mode: 'LIVE' })).toEqual([10, 0, 1, 10])
  expect(await totals({ mode: 'TEST' })).toEqual([10, 10, 1, 10])
  expect(await totals({ mode: 'ALL' })).toEqual([20, 10, 2, 20])
  expect((await operator.at('dashboard/gmv', { mode: 'live' })).status).toBe(400)
  expect((await operator.at('dashboard/registered-users', { mode: 'LIVE' })).status).toBe(400)
})

test('the sales of a shop leave test mode when it goes live, and later ones count as live in every dashboard', async () => {
  await using app = await testApp()
  const operator = await operatorIn(app)
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  const partner = { name: 'Partner', code: 'partner', rateBps: 1_000 }
  for (const one of [shop, other]) {
    ok(await one.post('/affiliates', partner))
    const { id } = await one.bought({ affiliateCode: 'partner' })
    ok(await one.refund(id, { amount: one.money(400) }))
  }
  /** GMV, orders, refunds, the merchants and the products of the rankings. */
  const figures = async (query: Record<string, string>) => {
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
  const modes = async () => ({
    default: await figures({}),
    live: await figures({ mode: 'LIVE' }),
    test: await figures({ mode: 'TEST' }),
    all: await figures({ mode: 'ALL' }),
  })
  const none = { gmv: 0, orders: 0, refunded: 0, merchants: [], products: [] }
  const one = { gmv: 10, orders: 1, refunded: 4, merchants: [10], products: [1] }
  const both = { gmv: 20, orders: 2, refunded: 8, merchants: [10, 10], products: [1, 1] }
  expect(await modes()).toEqual({ default: none, live: none, test: both, all: both })

  await approved(app, shop, operator)
  const { publishableKey } = ok(await app.call('POST', '/shops/v2/go-live', { token: shop.token })).body
  expect(await modes()).toEqual({ default: none, live: none, test: one, all: one })

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
  const sold = { ...one, refunded: 0 }
  const all = { ...both, refunded: 4 }
  expect(await modes()).toEqual({ default: sold, live: sold, test: one, all })
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
  expect(await modes()).toEqual({ default: sold, live: sold, test: one, all })
})
