/** Tests the overview and order lists by days of the shop's time zone. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { dayMs, hourMs } from '../../../../src/lib/day.ts'
import { foldKpis } from '../../../../src/modules/operations/kpi/index.ts'
import { utcDaysWithin } from '../../../../src/modules/operations/kpi/shops.ts'
import { type Json, type TestApp, testApp } from '../../../support/app.ts'
import { ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Sets the zone in the database, because tokens expire while days pass. */
const setZone = ({ app, shop }: Selling, timeZone: string) =>
  app.deps.db.write((tx) => app.deps.shopStore.update(tx, shop.id, { timeZone }))
const readOverview = async (shop: Selling, query = '') => ok(await shop.get(`/shops/v2/overview${query}`)).body
const between = (from: string, to: string) => `?startDate=${from}&endDate=${to}`
const countsOf = ({ orders }: Json): Record<string, number> =>
  Object.fromEntries(orders.series.flatMap(({ date, value }: Json) => (value ? [[date, value]] : [])))
const netsOf = ({ sales }: Json): Record<string, number> =>
  Object.fromEntries(sales.series.flatMap(({ date, net }: Json) => (net ? [[date, net]] : [])))
async function openShop(app: TestApp, timeZone: string): Promise<Selling> {
  const shop = await sellingIn(app, { onHand: 1_000 })
  ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { timeZone } }))
  return shop
}
/** Buys at moments in ascending order. */
async function buyAt(shop: Selling, moments: readonly string[]): Promise<Json[]> {
  const orders: Json[] = []
  for (const moment of moments) {
    shop.app.clock.advance(Date.parse(moment) - shop.app.clock.now())
    orders.push(await shop.placeOrder())
  }
  return orders
}

describe("the overview by the shop's days", () => {
  test('the overview counts orders, refunds, carts and products by local days, before and after a fold', async () => {
    await using app = await testApp()
    const shop = await openShop(app, 'Asia/Kuwait')
    const [first] = await buyAt(shop, [
      '2026-01-09T20:59:59.999Z',
      '2026-01-09T21:00:00.000Z',
      '2026-01-10T20:59:59.999Z',
      '2026-01-10T21:00:00Z',
    ])
    ok(await shop.refund(first?.id, { amount: shop.usd(300) }, randomUUID()))
    const day = await readOverview(shop, between('2026-01-10', '2026-01-10'))
    expect([day.orders.confirmed, day.orders.previousConfirmed]).toEqual([2, 1])
    expect(day.topProducts.byUnits).toMatchObject([{ units: 2, revenue: shop.usd(2_000) }])
    expect([day.carts.begun, day.carts.converted]).toEqual([2, 2])
    const all = await readOverview(shop)
    expect([all.endDate, countsOf(all)]).toEqual(['2026-01-11', { '2026-01-09': 1, '2026-01-10': 2, '2026-01-11': 1 }])
    expect(netsOf(all)).toEqual({ '2026-01-09': 1_000, '2026-01-10': 2_000, '2026-01-11': 700 })
    expect(all.topProducts.byRevenue).toMatchObject([{ units: 4 }])
    await foldKpis(app.deps)
    expect(await readOverview(shop)).toEqual(all)
    expect(await readOverview(shop, between('2026-01-10', '2026-01-10'))).toEqual(day)
  })

  test('a change of the zone applies to the past, and UTC days are as before', async () => {
    await using app = await testApp()
    const shop = await openShop(app, 'UTC')
    await buyAt(shop, ['2026-01-09T03:00:00Z', '2026-01-09T23:00:00Z', '2026-01-10T12:00:00Z'])
    await foldKpis(app.deps)
    const utc = await readOverview(shop)
    expect(countsOf(utc)).toEqual({ '2026-01-09': 2, '2026-01-10': 1 })
    await setZone(shop, 'America/New_York')
    expect(countsOf(await readOverview(shop))).toEqual({ '2026-01-08': 1, '2026-01-09': 1, '2026-01-10': 1 })
    await setZone(shop, 'Pacific/Kiritimati')
    const inKiritimati = await readOverview(shop)
    expect([inKiritimati.endDate, countsOf(inKiritimati)]).toEqual(['2026-01-11', { '2026-01-09': 1, '2026-01-10': 1, '2026-01-11': 1 }])
    await setZone(shop, 'Etc/UTC')
    expect(await readOverview(shop)).toEqual(utc)
  })

  test('days of 23 and 25 hours contain what was sold in them', async () => {
    await using app = await testApp()
    const shop = await openShop(app, 'Europe/Berlin')
    const moments = ['2026-03-28T22:59:59Z', '2026-03-28T23:00:00Z', '2026-03-29T21:59:59Z', '2026-03-29T22:00:00Z']
    await buyAt(shop, moments)
    const spring = { '2026-03-28': 1, '2026-03-29': 2, '2026-03-30': 1 }
    expect(countsOf(await readOverview(shop))).toEqual(spring)
    expect((await readOverview(shop, between('2026-03-29', '2026-03-29'))).topProducts.byUnits).toMatchObject([{ units: 2 }])
    await buyAt(shop, ['2026-10-24T21:59:59Z', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z'])
    const autumn = { '2026-10-24': 1, '2026-10-25': 2, '2026-10-26': 1 }
    expect(countsOf(await readOverview(shop))).toEqual(autumn)
    const year = await readOverview(shop, between('2026-01-01', '2026-12-31'))
    expect([countsOf(year), year.orders.series.length]).toEqual([{ ...spring, ...autumn }, 365])
    expect(year.topProducts.byUnits).toMatchObject([{ units: 8 }])
  })

  test('a zone without an offset has the same figures as UTC, and each shop its own days', async () => {
    await using app = await testApp()
    const [one, other] = [await openShop(app, 'Asia/Tokyo'), await openShop(app, 'Africa/Accra')]
    app.clock.advance(Date.parse('2026-01-09T16:00:00Z') - app.clock.now())
    for (const shop of [one, other]) await shop.placeOrder()
    expect([countsOf(await readOverview(one)), countsOf(await readOverview(other))]).toEqual([{ '2026-01-10': 1 }, { '2026-01-09': 1 }])
  })
})

describe("lists of orders by the shop's days", () => {
  test('from and to are local days, in JSON and CSV, and the file has the local date', async () => {
    await using app = await testApp()
    const shop = await openShop(app, 'Europe/Berlin')
    await buyAt(shop, ['2026-10-24T21:59:59Z', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z'])
    const numbers = async (query: string) => ok(await shop.get(`/v2/orders?${query}`)).body.data.map(({ number }: Json) => number)
    expect(await numbers('from=2026-10-25&to=2026-10-25')).toEqual([3, 2])
    expect(await numbers('from=2026-10-26')).toEqual([4])
    expect(await numbers('to=2026-10-24')).toEqual([1])
    expect(await numbers('from=9999-12-31')).toEqual([])
    const file = await app.call('GET', '/v2/orders?from=2026-10-25&to=2026-10-25', { key: shop.secretKey, headers: { accept: 'text/csv' } })
    expect([file.status, file.text.trim().split('\n').length]).toEqual([200, 3])
    expect(file.headers.get('content-disposition')).toContain('orders-2026-10-26')
    await setZone(shop, 'UTC')
    expect(await numbers('from=2026-10-25&to=2026-10-25')).toEqual([4, 3])
  })
})

test('a time zone is an IANA name, also of a new shop', async () => {
  await using app = await testApp({ SIGNUP_ENABLED: 'true' })
  const shop = await openShop(app, 'Asia/Dubai')
  const change = (timeZone: unknown) => app.call('PATCH', '/shops/v2', { token: shop.token, body: { timeZone } })
  for (const zone of ['+04:00', 'Mars/Olympus', 'Asia/Dubai ', '', 'x'.repeat(65), '<b>', '=1+1', 4])
    expect([zone, (await change(zone)).body.field]).toEqual([zone, 'timeZone'])
  const open = (timeZone: string | undefined, shopName: string) =>
    app.call('POST', '/shops/v2', {
      token: shop.token,
      body: { shopName, title: 'Two', country: 'US', currency: 'USD', ...(timeZone === undefined ? {} : { timeZone }) },
    })
  expect((await open('Nowhere', 'two')).body.field).toBe('timeZone')
  expect(ok(await open('Asia/Tokyo', 'two')).body.timeZone).toBe('Asia/Tokyo')
  expect(ok(await open(undefined, 'three')).body.timeZone).toBe('UTC')
})

test('a period is split into its complete UTC days and the edges around them', () => {
  const at = (days: number, hours: number) => days * dayMs + hours * hourMs
  expect(utcDaysWithin({ since: at(10, -3), until: at(12, -3) })).toEqual({
    whole: { from: 10, to: 10 },
    edges: [
      { since: at(10, -3), until: at(10, 0) },
      { since: at(11, 0), until: at(12, -3) },
    ],
  })
  expect(utcDaysWithin({ since: at(10, 5), until: at(11, 5) })).toEqual({
    whole: { from: 11, to: 10 },
    edges: [
      { since: at(10, 5), until: at(11, 0) },
      { since: at(11, 0), until: at(11, 5) },
    ],
  })
  expect(utcDaysWithin({ since: at(10, 0), until: at(10, 23) }).edges).toEqual([{ since: at(10, 0), until: at(10, 23) }])
  expect(utcDaysWithin({ since: at(10, 1), until: at(10, 23) }).edges).toEqual([{ since: at(10, 1), until: at(10, 23) }])
})
