import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import type { Writer } from '../../../../db/engine.ts'
import { fxRates, unifiedTransactions } from '../../../../db/schema/ledger.ts'
import { convertCurrencies } from '../../../../jobs/convert-currencies.ts'
import { addDays } from '../../../../src/lib/day.ts'
import { type Movement, recordMovements } from '../../../../src/modules/payments/ledger/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { insertOrder } from '../../../support/order-rows.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const today = '2026-01-06'

/** Creates a shop with an order, and a builder of movements of this order. */
async function orderIn(app: TestApp, currency: string) {
  const { shop } = await app.merchant()
  const order = await insertOrder(app, shop.id, { currency })
  const movement = (key: string, fields: Partial<Movement> = {}): Movement => ({
    key,
    kind: 'CAPTURE',
    shopId: shop.id,
    orderId: order.id,
    processor: 'sandbox',
    affiliateId: null,
    currency,
    amount: 1_000,
    at: app.clock.now(),
    rateDay: today,
    confirmed: true,
    ...fields,
  })
  return { shop, order, movement }
}

const record = (app: TestApp, movements: Movement[]) =>
  app.deps.db.write((tx) => recordMovements(tx, app.deps, movements, { isCounted: true, mode: 'TEST' }))
const rows = (app: TestApp) => app.deps.db.read.select().from(unifiedTransactions).orderBy(asc(unifiedTransactions.key))
const dollarValues = async (app: TestApp) => (await rows(app)).map(({ key, usdPerUnit, usdCents }) => [key, usdPerUnit, usdCents])

async function insertRate(app: TestApp, currency: string, day: string, usdPerUnit: string): Promise<void> {
  await app.deps.db.write(async (tx) => void (await tx.insert(fxRates).values({ currency, day, usdPerUnit, source: 'test' })))
}

describe('movements', () => {
  test('movements are stored with all fields and with their dollar value at the rate of their day', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'EUR')
    await insertRate(app, 'EUR', '2026-01-04', '1.1')
    await insertRate(app, 'EUR', '2026-01-06', '1.125')
    await insertRate(app, 'EUR', '2026-01-07', '9')
    const capture = movement('capture:1', { amount: 1_004, affiliateId: 'aff_1' })
    const earlier = movement('capture:2', { amount: 1_000, rateDay: '2026-01-05', confirmed: false })
    await record(app, [capture, earlier])
    const [first, second] = await rows(app)
    expect(first).toEqual({ ...capture, id: expect.stringMatching(/^txn_[0-9a-z]{26}$/), usdPerUnit: '1.125', usdCents: 1_130 })
    expect(second).toEqual({ ...earlier, id: expect.stringMatching(/^txn_/), usdPerUnit: '1.1', usdCents: 1_100 })
  })

  test('movements in dollars and pegged currencies have a dollar value without a stored rate, for any number of decimals', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'USD')
    await record(app, [
      movement('a', { amount: 1_999 }),
      movement('b', { currency: 'AED', amount: 36_725 }),
      movement('c', { currency: 'BHD', amount: 376 }),
    ])
    expect(await dollarValues(app)).toEqual([
      ['a', '1', 1_999],
      ['b', '0.272294077604', 10_000],
      ['c', '2.65957446809', 100],
    ])
  })

  test('movements with a key that is already stored are ignored, in the same batch or later', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'USD')
    await record(app, [movement('a', { amount: 5 }), movement('a', { amount: 6 })])
    await record(app, [movement('a', { amount: 7 }), movement('b', { amount: 8 })])
    expect(await dollarValues(app)).toEqual([
      ['a', '1', 5],
      ['b', '1', 8],
    ])
  })

  test('movements are rolled back with their write', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'EUR')
    const movements = [movement('a')]
    const write = (tx: Writer) => recordMovements(tx, app.deps, movements, { isCounted: true, mode: 'TEST' })
    const failed = app.deps.db.write(async (tx) => {
      await write(tx)
      throw new Error('the write fails')
    })
    await expect(failed).rejects.toThrow('the write fails')
    expect(await rows(app)).toEqual([])
    // An engine may run the work of a write twice.
    await app.deps.db.write(write)
    expect(await dollarValues(app)).toEqual([['a', null, null]])
  })

  test('movements without a rate within a week have no dollar value', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'EUR')
    await insertRate(app, 'EUR', '2025-12-29', '1.1')
    await insertRate(app, 'GBP', today, '1.3')
    await record(app, [movement('a')])
    expect(await dollarValues(app)).toEqual([['a', null, null]])
  })

  test('movements of one order and day have one rate, so that a full refund has the dollar value of the capture', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'EUR')
    await insertRate(app, 'EUR', '2026-01-05', '1.1')
    await record(app, [movement('capture')])
    await insertRate(app, 'EUR', today, '1.2')
    const other = await orderIn(app, 'EUR')
    await record(app, [movement('refund', { kind: 'REFUND' }), other.movement('z other')])
    expect(await dollarValues(app)).toEqual([
      ['capture', '1.1', 1_100],
      ['refund', '1.1', 1_100],
      ['z other', '1.2', 1_200],
    ])
  })

  test('partial refunds have in total the dollar value of the capture despite rounding, and reversed refunds that of the refunds', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'JPY')
    await insertRate(app, 'JPY', today, '0.0064308681672')
    const yenMovement = (key: string, kind: Movement['kind'], amount: number, processor = 'sandbox') =>
      movement(key, { kind, amount, processor })
    await record(app, [
      yenMovement('in', 'CAPTURE', 20),
      yenMovement('in:card 1', 'GIFT_CARD', 7, 'gift_card'),
      yenMovement('in:card 2', 'GIFT_CARD', 7, 'gift_card'),
    ])
    for (let nth = 0; nth < 20; nth++) await record(app, [yenMovement(`out:${nth}`, 'REFUND', 1)])
    await record(app, [yenMovement('out:cards', 'GIFT_CARD_REFUND', 14, 'gift_card')])
    const sum = async (kind: string, processor: string) =>
      (await rows(app))
        .filter((row) => row.kind === kind && row.processor === processor)
        .reduce((all, { usdCents }) => all + Number(usdCents), 0)
    expect(await sum('CAPTURE', 'sandbox')).toBe(13)
    expect(await sum('REFUND', 'sandbox')).toBe(13)
    expect(await sum('GIFT_CARD', 'gift_card')).toBe(9)
    expect(await sum('GIFT_CARD_REFUND', 'gift_card')).toBe(9)
    for (let nth = 0; nth < 20; nth++) await record(app, [yenMovement(`back:${nth}`, 'REFUND_REVERSED', 1)])
    expect(await sum('REFUND_REVERSED', 'sandbox')).toBe(13)
  })

  test('hundreds of movements of many orders are stored at once, each with its own dollar value', async () => {
    await using app = await testApp()
    const { movement, shop } = await orderIn(app, 'EUR')
    await insertRate(app, 'EUR', '2026-01-01', '1.5')
    const ids: string[] = []
    for (let nth = 0; nth < 30; nth++) ids.push((await insertOrder(app, shop.id, { currency: 'EUR' })).id)
    const many = Array.from({ length: 900 }, (_, nth) =>
      movement(`m:${nth}`, { orderId: ids[nth % 30] ?? '', amount: nth, rateDay: addDays('2026-01-01', nth % 8), processor: `p${nth}` }),
    )
    await record(app, many)
    const stored = await rows(app)
    expect(stored).toHaveLength(900)
    expect(new Set(stored.map(({ id }) => id)).size).toBe(900)
    for (const { amount, usdCents } of stored) expect(usdCents).toBe(Math.floor(amount * 1.5) + (amount % 4 === 1 ? 1 : 0))
  })
})

describe('movements without a dollar value', () => {
  test('movements without a dollar value get the latest rate of their day or before, else the earliest of the week after', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'EUR')
    const other = await orderIn(app, 'GBP')
    await record(app, [
      movement('a', { rateDay: '2026-01-06' }),
      movement('b', { rateDay: '2026-01-08' }),
      movement('c', { rateDay: '2026-01-01' }),
      other.movement('d'),
    ])
    expect(await convertCurrencies(app.deps)).toEqual({ priced: 0 })
    await insertRate(app, 'EUR', '2026-01-09', '1.9')
    await insertRate(app, 'EUR', '2026-01-10', '1.7')
    expect(await convertCurrencies(app.deps)).toEqual({ priced: 2 })
    await insertRate(app, 'GBP', '2026-01-06', '1.3')
    await insertRate(app, 'EUR', '2026-01-02', '1.2')
    expect(await convertCurrencies(app.deps)).toEqual({ priced: 2 })
    expect(await convertCurrencies(app.deps)).toEqual({ priced: 0 })
    expect(await dollarValues(app)).toEqual([
      ['a', '1.9', 1_900],
      ['b', '1.9', 1_900],
      ['c', '1.2', 1_200],
      ['d', '1.3', 1_300],
    ])
  })

  test('movements without a dollar value get the rate that their order already has', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'EUR')
    await record(app, [movement('a waits')])
    await insertRate(app, 'EUR', '2026-01-05', '1.1')
    await record(app, [movement('b priced')])
    await insertRate(app, 'EUR', '2026-01-06', '1.2')
    expect(await convertCurrencies(app.deps)).toEqual({ priced: 1 })
    expect(await dollarValues(app)).toEqual([
      ['a waits', '1.1', 1_100],
      ['b priced', '1.1', 1_100],
    ])
  })

  test('movements that are priced together are rounded as one sum, after those that had a dollar value', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'JPY')
    const yenMovement = (key: string, kind: Movement['kind'], amount: number) => movement(key, { kind, amount })
    await record(app, [
      yenMovement('in', 'CAPTURE', 250),
      ...Array.from({ length: 120 }, (_, nth) => yenMovement(`out:${nth}`, 'REFUND', 1)),
    ])
    await insertRate(app, 'JPY', today, '0.0064308681672')
    await record(
      app,
      Array.from({ length: 130 }, (_, nth) => yenMovement(`out then:${nth}`, 'REFUND', 1)),
    )
    expect(await convertCurrencies(app.deps)).toEqual({ priced: 121 })
    const all = (await rows(app)).filter(({ kind }) => kind === 'REFUND')
    expect(all.reduce((sum, { usdCents }) => sum + Number(usdCents), 0)).toBe(161)
  })

  test('movements without a rate within a week stay without a dollar value, and do not delay others', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'EUR')
    const old = Array.from({ length: 150 }, (_, nth) => movement(`old:${nth}`, { rateDay: '2025-12-20' }))
    const other = await orderIn(app, 'CHF')
    const unrated = Array.from({ length: 150 }, (_, nth) => other.movement(`chf:${nth}`))
    await record(app, [...old, ...unrated, movement('new')])
    await insertRate(app, 'EUR', '2025-12-01', '1.1')
    await insertRate(app, 'EUR', '2025-12-31', '1.5')
    expect(await convertCurrencies(app.deps)).toEqual({ priced: 1 })
    expect((await dollarValues(app)).filter(([, usdPerUnit]) => usdPerUnit !== null)).toEqual([['new', '1.5', 1_500]])
  })

  test('movements without a dollar value get the fixed rate of a currency that has been pegged since', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'SAR')
    await record(app, [movement('a', { rateDay: '1999-01-01' })])
    await app.deps.db.write(async (tx) => void (await tx.update(unifiedTransactions).set({ usdPerUnit: null, usdCents: null })))
    expect(await convertCurrencies(app.deps)).toEqual({ priced: 1 })
    expect(await dollarValues(app)).toEqual([['a', '0.266666666667', 267]])
  })

  test('movements without a dollar value are priced in small writes', async () => {
    await using app = await testApp()
    const { movement } = await orderIn(app, 'EUR')
    const many = Array.from({ length: 250 }, (_, nth) => movement(`m:${nth}`, { rateDay: addDays(today, nth % 5) }))
    await record(app, many)
    await insertRate(app, 'EUR', '2026-01-08', '1.5')
    const { writes } = app.deps.db.stats
    expect(await convertCurrencies(app.deps)).toEqual({ priced: 250 })
    expect(app.deps.db.stats.writes - writes).toBe(3)
    expect((await rows(app)).every(({ usdCents }) => usdCents === 1_500)).toBe(true)
  })
})
