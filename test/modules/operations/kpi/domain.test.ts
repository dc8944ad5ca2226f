/** Tests windows of days, their sums, and what each money movement counts as. Needs no database. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, dayNumberOf, dayText } from '../../../../src/lib/day.ts'
import {
  amountsOf,
  type CountedMovement,
  type Delta,
  deltasOfMovement,
  deltasOfPricing,
  foldDeltas,
  listsOf,
  percentChange,
  previousOf,
  runsOf,
  windowOf,
} from '../../../../src/modules/operations/kpi/domain.ts'

const now = Date.UTC(2028, 2, 1, 23, 59, 59, 999)
const windowOrError = (startDate?: string, endDate?: string): string => {
  try {
    const { from, to } = windowOf({ startDate, endDate }, now)
    return `${dayText(from)} ${dayText(to)} ${to - from + 1}`
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  [undefined, undefined, '2028-02-01 2028-03-01 30'],
  ['2026-01-05', '2026-01-05', '2026-01-05 2026-01-05 1'],
  ['2027-03-02', '2028-02-29', '2027-03-02 2028-02-29 365'],
  ['2027-01-01', '2027-12-31', '2027-01-01 2027-12-31 365'],
  ['2028-01-01', '2028-12-30', '2028-01-01 2028-12-30 365'],
  ['2028-01-01', '2028-12-31', 'endDate: must be within 365 days of startDate'],
  ['2027-03-01', '2028-02-29', 'endDate: must be within 365 days of startDate'],
  ['2027-02-28', '2027-03-01', '2027-02-28 2027-03-01 2'],
  ['2028-02-28', '2028-03-01', '2028-02-28 2028-03-01 3'],
  ['2026-01-06', '2026-01-05', 'endDate: must not be before startDate'],
  ['2026-01-06', undefined, 'endDate: required together with startDate'],
  [undefined, '2026-01-06', 'startDate: required together with endDate'],
  ['2027-02-29', '2027-03-01', 'startDate: must be a calendar day such as 2026-01-31'],
  ['2027-02-01', '2027-02-30', 'endDate: must be a calendar day such as 2026-01-31'],
  ['2028-12-01', '2029-01-01', '2028-12-01 2029-01-01 32'],
])('a window from %p to %p is %p', (startDate, endDate, expected) => expect(windowOrError(startDate, endDate)).toBe(expected))

test('the previous window has the same length and ends the day before, also across a leap day', () => {
  const span = windowOf({ startDate: '2028-03-01', endDate: '2028-03-30' }, now)
  const before = previousOf(span)
  expect([dayText(before.from), dayText(before.to)]).toEqual(['2028-01-31', '2028-02-29'])
})

test('a change is a percentage of the previous value, and null if that was 0', () => {
  expect([percentChange(3, 2), percentChange(1, 2), percentChange(5, 0), percentChange(0, 0), percentChange(0, 4)]).toEqual([
    50,
    -50,
    null,
    null,
    -100,
  ])
})

test('the sums of a window contain each day once, and are few', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 0, max: 400 }), (from, length) => {
      const runs = runsOf(from, from + length)
      const days = runs.flatMap((run) => Array.from({ length: run.to - run.from }, (_, nth) => run.from + nth))
      expect(days).toEqual(Array.from({ length }, (_, nth) => from + nth))
      for (const { span, from: first, to } of runs) expect([first % span, to % span]).toEqual([0, 0])
      expect(runs.length).toBeLessThanOrEqual(5)
      const rows = runs.reduce((sum, { span, from: first, to }) => sum + (to - first) / span, 0)
      expect(rows).toBeLessThanOrEqual(2 * 7 + 2 * 7 + Math.ceil(400 / 64))
    }),
  )
})

test('runs of one length cover a window and exceed it by less than one at either end', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 1, max: 400 }), (from, length) => {
      const lists = listsOf({ from, to: from + length - 1 })
      const [{ span, day: first } = { span: 0, day: 0 }] = lists
      expect(lists).toEqual(lists.map((_, nth) => ({ span, day: first + nth * span })))
      expect([first % span, first > from, first <= from - span]).toEqual([0, false, false])
      const end = first + lists.length * span
      expect([end < from + length, end - span >= from + length]).toEqual([false, false])
      expect(lists.length).toBeLessThanOrEqual(25)
    }),
  )
})

test('folded deltas add up by 1, 8 and 64 days', () => {
  const delta = fc.record({
    kpi: fc.constantFrom('GMV' as const, 'PRODUCT_UNITS' as const),
    day: fc.integer({ min: 20_000, max: 20_200 }),
    key: fc.constantFrom('a', 'b'),
    value: fc.integer({ min: -9, max: 9 }),
  })
  fc.assert(
    fc.property(fc.array(delta), (deltas) => {
      const folded = foldDeltas(deltas)
      const total = (rows: readonly { kpi: string; value: number | bigint }[], kpi: string) =>
        rows.reduce((sum, row) => sum + (row.kpi === kpi ? BigInt(row.value) : 0n), 0n)
      for (const kpi of ['GMV', 'PRODUCT_UNITS'])
        for (const span of [1, 8, 64]) {
          const some = folded.filter((row) => row.span === span)
          expect(total(some, kpi)).toBe(total(deltas, kpi))
          for (const { day } of some) expect(day % span).toBe(0)
        }
      expect(new Set(folded.map(({ kpi, span, day, key }) => `${kpi} ${span} ${day} ${key}`)).size).toBe(folded.length)
    }),
  )
})

test('sums beyond exact numbers are folded to the cent, and split into deltas that are exact numbers', () => {
  const largest = Number.MAX_SAFE_INTEGER
  const deltas = [largest, largest, 3, 1].map((value) => ({ kpi: 'GMV' as const, day: 20_000, key: 'sandbox', value }))
  const total = 2n * BigInt(largest) + 4n
  expect(foldDeltas(deltas).map(({ value }) => value)).toEqual([total, total, total])
  for (const sum of [0n, 7n, -7n, BigInt(largest), total, -total]) {
    const amounts = amountsOf(sum)
    expect(amounts.every(Number.isSafeInteger)).toBe(true)
    expect(amounts.reduce((total, amount) => total + BigInt(amount), 0n)).toBe(sum)
  }
  expect([amountsOf(0n), amountsOf(-7n), amountsOf(total).length]).toEqual([[], [-7], 3])
})

const movement: CountedMovement = {
  id: 'txn_1',
  kind: 'CAPTURE',
  shopId: 'shop_1',
  processor: 'stripe',
  affiliateId: null,
  usdCents: 500,
  at: 20_000 * dayMs + 5,
  confirmed: true,
  mode: 'LIVE',
}
const summaryOf = (deltas: readonly Delta[]) => deltas.map(({ kpi, day, key, value }) => [kpi, day, key, value])

test.each([
  [{}, [['GMV', 20_000, 'stripe', 500]]],
  [
    { affiliateId: 'aff_1' },
    [
      ['GMV', 20_000, 'stripe', 500],
      ['MERCHANT_CENTS', 20_000, 'shop_1', 500],
    ],
  ],
  [{ kind: 'GIFT_CARD', processor: 'gift_card' }, [['GMV', 20_000, 'gift_card', 500]]],
  [{ mode: 'TEST' }, [['TEST_GMV', 20_000, 'stripe', 500]]],
  [
    { mode: 'TEST', affiliateId: 'aff_1' },
    [
      ['TEST_GMV', 20_000, 'stripe', 500],
      ['TEST_MERCHANT_CENTS', 20_000, 'shop_1', 500],
    ],
  ],
  [{ mode: 'TEST', kind: 'REFUND' }, [['TEST_REFUNDS', 20_000, 'stripe', 500]]],
  [{ mode: 'TEST', usdCents: null }, [['TEST_UNPRICED', 20_000, 'GMV', 1]]],
  [{ mode: 'LIVE' }, [['GMV', 20_000, 'stripe', 500]]],
  [{ kind: 'REFUND', affiliateId: 'aff_1' }, [['REFUNDS', 20_000, 'stripe', 500]]],
  [{ kind: 'GIFT_CARD_REFUND' }, [['REFUNDS', 20_000, 'stripe', 500]]],
  [{ kind: 'REFUND_REVERSED' }, [['REFUNDS', 20_000, 'stripe', -500]]],
  [{ kind: 'DISPUTE' }, []],
  [{ kind: 'DISPUTE_WON' }, []],
  [{ confirmed: false }, []],
  [{ usdCents: null }, [['UNPRICED', 20_000, 'GMV', 1]]],
  [{ usdCents: null, kind: 'REFUND' }, [['UNPRICED', 20_000, 'REFUNDS', 1]]],
] as const)('a movement that is %p counts as %p', (change, expected) =>
  expect(summaryOf(deltasOfMovement({ ...movement, ...change }))).toEqual(expected as never),
)

test('a movement priced later counts on its day and is no longer unpriced', () => {
  const unpriced = { ...movement, usdCents: null, affiliateId: 'aff_1' }
  const all = [...deltasOfMovement(unpriced), ...deltasOfPricing({ ...unpriced, usdCents: 7 })]
  expect(summaryOf(all)).toEqual([
    ['UNPRICED', 20_000, 'GMV', 1],
    ['GMV', 20_000, 'stripe', 7],
    ['UNPRICED', 20_000, 'GMV', -1],
    ['MERCHANT_CENTS', 20_000, 'shop_1', 7],
  ])
  expect(new Set(all.map(({ kpi, day, id }) => `${kpi} ${day} ${id}`)).size).toBe(all.length)
})

test('a day begins with its first millisecond', () => {
  expect([dayNumberOf(dayMs - 1), dayNumberOf(dayMs)]).toEqual([0, 1])
})
