/** Tests the figures, periods and registry forms of the operator's screens. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { toCsv } from '../../src/console/lib/format/csv-text.ts'
import { sparklinePath } from '../../src/console/lib/format/sparkline-path.ts'
import { parseDateRange, previousRange, rangeDates, rangeQuery } from '../../src/console/lib/navigation/date-range.ts'
import { firstParts, isKpi, kpiNames, shareOf, toCountKpi, toRateKpi, unitOf } from '../../src/console/screens/figures/kpi.domain.ts'
import jobWords from '../../src/console/screens/jobs/i18n.en.ts'
import { bodyOf, differencesOf, findDuplicateShops } from '../../src/console/screens/partnerships/draft.domain.ts'
import {
  isFinal,
  movesFrom,
  statusMoves,
  walletBodies,
  walletBody,
  walletRow,
} from '../../src/console/screens/registries/registry.domain.ts'
import { jobNames } from '../../src/lib/job-table.ts'

describe('the days of a period', () => {
  const today = (before: number) => new Date(Date.UTC(2026, 10, 23 - before)).toISOString().slice(0, 10)

  test('are those of the URL, or the API’s default of thirty', () => {
    expect(parseDateRange({}, [7, 30], today)).toEqual({ days: 30 })
    expect(parseDateRange({ days: '7' }, [7, 30], today)).toEqual({ days: 7, startDate: '2026-11-17', endDate: '2026-11-23' })
    expect(parseDateRange({ days: '365' }, [7, 30], today)).toEqual({ days: 30 })
    expect(parseDateRange({ from: '2026-01-01', to: '2026-01-31', days: '7' }, [7], today)).toEqual({
      days: undefined,
      startDate: '2026-01-01',
      endDate: '2026-01-31',
    })
    expect(parseDateRange({ from: '2026-01-01' }, [7], today)).toEqual({ days: 30 })
    expect(rangeDates({ days: 30 })).toEqual({})
  })

  test('are the only part of the URL that links keep', () => {
    expect(rangeQuery({ days: '90', page: '3', q: 'x' })).toBe('?days=90')
    expect(rangeQuery({ from: '2026-01-01', to: '2026-01-31', days: '90' })).toBe('?from=2026-01-01&to=2026-01-31')
    expect(rangeQuery({ from: '2026-01-01' })).toBe('')
  })

  test('are as many as those of the previous period, across months and leap years', () => {
    expect(previousRange({ startDate: '2026-11-17', endDate: '2026-11-23' })).toEqual({ startDate: '2026-11-10', endDate: '2026-11-16' })
    expect(previousRange({ startDate: '2024-03-01', endDate: '2024-03-01' })).toEqual({ startDate: '2024-02-29', endDate: '2024-02-29' })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 366 }), (first, length) => {
        const day = (at: number) => new Date(at * 86_400_000).toISOString().slice(0, 10)
        const before = previousRange({ startDate: day(first + length), endDate: day(first + 2 * length - 1) })
        expect(before).toEqual({ startDate: day(first), endDate: day(first + length - 1) })
      }),
    )
  })
})

describe('figures', () => {
  const series = [{ date: '2026-11-23', value: 3 }]
  const dates = { startDate: '2026-11-23', endDate: '2026-11-23' }

  test('of every route are converted to one shape, with the largest part first and changes as fractions', () => {
    const gmv = { ...dates, total: 10, previousTotal: 8, percentChange: 25, breakdown: { tap: 1, stripe: 9 }, series }
    expect(toCountKpi({ ...gmv, ofTestMode: 4, unpriced: 2 })).toEqual({
      ...{ ...dates, total: 10, previous: 8, change: 0.25, series, unpriced: 2 },
      parts: [
        { name: 'stripe', value: 9 },
        { name: 'tap', value: 1 },
      ],
    })
    expect(toCountKpi({ ...gmv, percentChange: null })).toMatchObject({ change: null, unpriced: 0 })
  })

  test('of a rate combine two requests, and a processor without sales has no rate and comes last', () => {
    const of = (rate: number | null, refundedUsd: number) => ({
      ...{ ...dates, series, unpriced: 0, network: { rate, refundedUsd, confirmedUsd: 100 } },
      processors: [
        { processor: 'qpay', rate: null, refundedUsd: 0, confirmedUsd: 0 },
        { processor: 'tap', rate: 0.02, refundedUsd: 2, confirmedUsd: 100 },
      ],
    })
    const kpi = toRateKpi(of(0.02, 2), of(0.5, 50))
    expect(kpi).toMatchObject({ total: 0.02, previous: 0.5, change: null, amounts: { refundedUsd: 2, confirmedUsd: 100 } })
    expect(kpi.parts.map(({ name }) => name)).toEqual(['tap', 'qpay'])
    expect(toRateKpi(of(null, 0), undefined)).toMatchObject({ total: null, previous: null })
  })

  test('show only non-empty parts, and never hide a single one', () => {
    const parts = (...values: (number | null)[]) => values.map((value, at) => ({ name: `${at}`, value }))
    expect(firstParts(parts(3, 2, 0, null), 4)).toEqual({ shown: parts(3, 2), more: 0 })
    expect(firstParts(parts(5, 4, 3), 2)).toMatchObject({ more: 0 })
    expect(firstParts(parts(5, 4, 3, 2), 2)).toEqual({ shown: parts(5, 4), more: 2 })
    expect([shareOf(1, 4), shareOf(1, 0), shareOf(null, 4), shareOf(1, null)]).toEqual([0.25, null, null, null])
  })

  test('have only the names that URLs accept', () => {
    expect(kpiNames.every(isKpi)).toBe(true)
    for (const name of [undefined, '', 'constructor', 'GMV']) expect([name, isKpi(name)]).toEqual([name, false])
    expect([unitOf('gmv'), unitOf('refund-rate'), unitOf('created-products')]).toEqual(['usd', 'part', 'count'])
  })

  test('are drawn from a zero line, with gaps for missing values', () => {
    expect(sparklinePath([0, 10, 5])).toBe('M0 31L50 1L100 16')
    expect(sparklinePath([null, 10, null, 10])).toBe('M33.33 1M100 1')
    expect(sparklinePath([0, 0])).toBe('M0 31L100 31')
    expect([sparklinePath([]), sparklinePath([null]), sparklinePath([7])]).toEqual(['', '', 'M0 1'])
    // A negative value, and two plots of the same scale.
    expect(sparklinePath([10, -5])).toBe('M0 1L100 31')
    expect(sparklinePath([5, 0], [5, 0, 10])).toBe('M0 16L100 31')
  })

  test('as CSV have no cell that a spreadsheet reads as a formula', () => {
    const rows = ['=1+1', '+1', '-1', '@x', 'a,"b"\nc'].map((cell) => [cell, -1] as const)
    expect(toCsv(['part', 'value'], rows)).toBe(`part,value\r\n'=1+1,-1\r\n'+1,-1\r\n'-1,-1\r\n'@x,-1\r\n"a,""b""\nc",-1\r\n`)
  })
})

describe('registries', () => {
  const stored = { address: '0xAb', from: '2026-01-05T10:00:12.345Z', to: null }

  test('an unchanged wallet is sent unchanged, to the millisecond', () => {
    expect(walletBody(walletRow(stored), 'bad')).toEqual(stored)
    const ended = { ...stored, to: '2026-02-01T00:00:59.999Z' }
    expect(walletBody(walletRow(ended), 'bad')).toEqual(ended)
  })

  test('times are UTC, empty ones mean now and never, and invalid ones are refused', () => {
    const row = { ...walletRow(stored), from: '2026-01-06T09:30', to: '2026-03-01T00:00' }
    expect(walletBody(row, 'bad')).toEqual({ address: '0xAb', from: '2026-01-06T09:30:00.000Z', to: '2026-03-01T00:00:00.000Z' })
    expect(walletBody({ address: ' 0x1 ', from: '', to: '' }, 'bad')).toEqual({ address: '0x1', to: null })
    expect(() => walletBody({ address: '0x1', from: 'soon', to: '' }, 'bad')).toThrow('bad')
    expect(walletBodies([{ address: ' ', from: '', to: '' }], 'bad')).toEqual([])
    expect(walletBodies([{ address: '', from: '', to: '2026-03-01T00:00' }], 'bad')).toHaveLength(1)
  })

  test('every state has its transitions, and final states have none', () => {
    for (const [registry, table] of Object.entries(statusMoves))
      for (const [status, next] of Object.entries(table)) {
        expect(movesFrom(registry as 'lender', status as 'ACTIVE')).toEqual([...next] as never)
        if (next.length === 0) expect(isFinal(status)).toBe(true)
      }
    expect(movesFrom('lender', 'NEW' as 'ACTIVE')).toEqual([])
  })
})

describe('partnerships', () => {
  const tea = { id: 'shop_tea', text: 'Tea' }
  const typed = [
    { name: ' Kyoto ', processor: 'tap' as const, shops: [tea, { id: 'shop_wool', text: 'Wool' }] },
    { name: 'Oslo', processor: 'qpay' as const, shops: [tea] },
  ]

  const names = { processor: (id: string) => id.toUpperCase(), shop: (id: string) => `The ${id}` }

  test('are sent as a whole, and name a shop that is in two', () => {
    expect(bodyOf(typed)[0]).toEqual({ name: 'Kyoto', defaultCardProcessor: 'tap', shopIds: ['shop_tea', 'shop_wool'] })
    expect(findDuplicateShops(typed)).toEqual(['Tea'])
    expect(findDuplicateShops(typed.slice(1))).toEqual([])
  })

  test('show differences to a concurrent change, whatever the order of shops', () => {
    const [first] = bodyOf(typed)
    if (!first) throw new Error('nothing typed')
    expect(differencesOf([first], [{ ...first, shopIds: first.shopIds.toReversed() }], names)).toEqual([])
    expect(differencesOf([first], [], names)).toEqual([['Kyoto', 'TAP, The shop_tea, The shop_wool', '']])
    const equalNames = { ...names, shop: () => 'Corner shop' }
    const otherShops = { ...first, shopIds: ['shop_other'] }
    expect(differencesOf([first], [otherShops], equalNames).map(([, ...values]) => values)).toEqual([
      ['TAP, Corner shop, Corner shop', 'TAP, Corner shop'],
    ])
    expect(differencesOf([{ ...first, shopIds: ['shop_tea'] }], [otherShops], equalNames)).toEqual([
      ['Kyoto', 'TAP, shop_tea', 'TAP, shop_other'],
    ])
  })
})

test('every job has a description, and there are no others', () => {
  const described = Object.keys(jobWords).filter((key) => key.startsWith('does.'))
  expect(described.map((key) => key.slice('does.'.length)).sort()).toEqual([...jobNames].sort())
})
