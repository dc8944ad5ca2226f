/**
 * Tests the dashboards while a version with more figures counts the past, and while an older process folds beside it.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { kpiState } from '../../../../db/schema/kpi.ts'
import { foldKpis } from '../../../../jobs/fold-kpis.ts'
import { system } from '../../../../src/core/command-context.ts'
import { dayMs } from '../../../../src/lib/day.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { backfillKpis, checkKpis, rebuildKpis } from '../../../../src/modules/operations/kpi/index.ts'
import { kpiStore } from '../../../../src/modules/operations/kpi/store.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const daysSold = 150
const stopAfter = 8

/** Creates a shop that sold once every ten days, in the state of the version before the figures of shops. */
async function createOldShop(app: TestApp): Promise<Selling> {
  await backfillKpis(app.deps)
  const shop = await sellingIn(app, { onHand: 1_000 })
  for (let day = 0; day <= daysSold; day += 10) {
    await shop.placeOrder()
    if (day < daysSold) app.clock.advance(10 * dayMs)
  }
  await foldKpis(app.deps)
  await app.deps.db.write(async (tx) => {
    await tx.rows(sql`delete from kpi_days where substr(kpi, 1, 5) = 'SHOP_'`)
    await tx.rows(sql`delete from kpi_state`)
    await tx.insert(kpiState).values({ id: 4, filledAt: 1 })
  })
  return shop
}
const openOperator = async (app: TestApp) => {
  const { id } = await app.superAdmin()
  return async (path: string) => {
    const { accessToken } = (await startSession(app.deps, { id, role: 'SUPER_ADMIN' }, system)).data
    return app.call('GET', `/admin/${path}${path.includes('?') ? '&' : '?'}mode=ALL`, { token: accessToken })
  }
}
const readOverview = ({ app, secretKey }: Selling, query = '') => app.call('GET', `/shops/v2/overview${query}`, { key: secretKey })
async function findings({ deps }: TestApp): Promise<string[]> {
  const found: string[] = []
  for await (const { problems } of checkKpis(deps.db.read)) found.push(...problems)
  return found
}
const countedParts = ({ deps }: TestApp) => deps.db.read.rows<{ id: number }>(sql`select id from kpi_state order by id`)

test('dashboards are served while figures of shops are counted, whose finished days are available; an interruption continues', async () => {
  await using app = await testApp()
  const readDashboard = await openOperator(app)
  const shop = await createOldShop(app)
  const before = [ok(await readDashboard('dashboard/gmv')).body, ok(await readDashboard('affiliate/top-products')).body]
  expect(before[0].total).toBeGreaterThan(0)

  // The process stops half-way.
  const { setCountedFrom } = kpiStore
  const countedDays: number[] = []
  kpiStore.setCountedFrom = async (tx, part, day) => {
    expect(part).toBe('SHOPS')
    // A write may be run again.
    if (countedDays.at(-1) !== day) countedDays.push(day)
    await setCountedFrom(tx, part, day)
    if (countedDays.length === stopAfter) app.deps.life.stopping = true
  }
  try {
    const backfilling = backfillKpis(app.deps)
    expect([ok(await readDashboard('dashboard/gmv')).body, ok(await readDashboard('affiliate/top-products')).body]).toEqual(before)
    const refused = await readOverview(shop)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
    await backfilling
    expect([ok(await readDashboard('dashboard/gmv')).body, ok(await readDashboard('affiliate/top-products')).body]).toEqual(before)
    // Counted days are available if as many days before them are counted, and others are refused.
    expect(ok(await readOverview(shop)).body.orders).toMatchObject({ confirmed: 3, previousConfirmed: 3 })
    expect((await readOverview(shop, '?startDate=2026-02-01&endDate=2026-05-30')).status).toBe(503)
    expect(await findings(app)).toEqual([])
    await shop.placeOrder()
    expect(countedDays.length).toBe(stopAfter)
    app.deps.life.stopping = false
    await backfillKpis(app.deps)
    // Each day is counted once, newest first.
    expect(countedDays).toEqual([...new Set(countedDays)].sort((a, b) => b - a))
    expect(countedDays.length).toBe(daysSold / 10 + 1)
  } finally {
    kpiStore.setCountedFrom = setCountedFrom
  }
  expect((await countedParts(app)).map(({ id }) => Number(id))).toEqual([3, 4])
  expect(ok(await readOverview(shop)).body.orders).toMatchObject({ confirmed: 4, previousConfirmed: 3 })
  expect(ok(await readOverview(shop, '?startDate=2026-01-01&endDate=2026-07-01')).body.orders.confirmed).toBe(daysSold / 10 + 2)
  await foldKpis(app.deps)
  expect(await findings(app)).toEqual([])
  expect((await rebuildKpis(app.deps)).differences).toBe(0)
  expect(app.logged.filter(({ event }) => event === 'kpis.differ')).toEqual([])
})

test('two processes count the past of shops during purchases, and what an older process folds without them is recounted', async () => {
  await using app = await testApp()
  const shop = await createOldShop(app)
  const foldAsBefore = () => app.deps.db.write((tx) => kpiStore.fold(tx, 1_000, async () => []), { isolation: 'locking' })
  const backfilling = [backfillKpis(app.deps), backfillKpis(app.deps)]
  for (let nth = 0; nth < 4; nth++) {
    await shop.placeOrder()
    await foldKpis(app.deps)
  }
  await Promise.all(backfilling)
  const soldCount = daysSold / 10 + 5
  const total = async () => ok(await readOverview(shop, '?startDate=2026-01-01&endDate=2026-07-01')).body.orders.confirmed
  expect(await total()).toBe(soldCount)
  if (engine !== 'postgres') return
  await shop.placeOrder()
  await foldAsBefore()
  expect(await total()).toBe(soldCount)
  app.clock.advance(10 * 60_000)
  await foldKpis(app.deps)
  expect(await total()).toBe(soldCount + 1)
  expect(await findings(app)).toEqual([])
  expect(app.logged.some(({ event }) => event === 'kpis.shops_recounted')).toBe(true)
})
