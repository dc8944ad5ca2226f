import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { dayForm, fieldsOf, integer, nullable, oneOf, text } from '../../../http/schema.ts'
import { rankedDefault, rankedMax, salesModes, windowDaysDefault, windowDaysMax } from './domain.ts'

const day = (description: string) => t.Optional(text(10, { ...dayForm, description }))
const windowQuery = {
  startDate: day('The first day, UTC; needs `endDate`'),
  endDate: day(
    `The last day, UTC, inclusive: at most ${windowDaysMax} days with the first. Without both: the last ${windowDaysDefault} days with today`,
  ),
}
export const ReadFigure = t.Object(windowQuery)
const mode = t.Optional(
  oneOf(salesModes, { description: 'The shops whose orders count: those in live mode (default), in test mode, or all' }),
)
export const ReadSales = t.Object({ ...windowQuery, mode })
export const ReadRanking = t.Object({
  ...windowQuery,
  mode,
  limit: t.Optional(
    t.String({
      pattern: '^-?\\d{1,100}$',
      maxLength: 101,
      rule: 'a whole number',
      description: `Default ${rankedDefault}, clamped to 1..${rankedMax}`,
      'x-type': 'integer',
    }),
  ),
})

const Day = t.String({ format: 'date', maxLength: 10 })
const days = { startDate: Day, endDate: Day }
const count = integer({ minimum: 0 })
const usd = (description = 'US dollars') => Type.Number({ description })
const rate = nullable(Type.Number({ description: 'What was refunded, divided by what was confirmed; null where nothing was confirmed' }))
const unpriced = integer({
  minimum: 0,
  description: 'Movements of money in the window that have no worth in dollars yet, and are in none of the sums',
})

const figureOf = (value: ReturnType<typeof usd> | ReturnType<typeof integer>) => ({
  ...days,
  total: value,
  previousTotal: value,
  percentChange: nullable(Type.Number({ description: 'From `previousTotal` to `total`; null where that was 0' })),
  breakdown: t.Record(t.String(), value),
  series: t.Array(t.Object({ date: Day, value }), { description: 'One entry a day' }),
})
export const CountFigure = t.Object(figureOf(count), { title: 'Kpi' })
const ofTestMode = usd('Of `total`: what shops that have not gone live sold, which is test money')
export const GmvFigure = t.Object({ ...figureOf(usd()), ofTestMode, unpriced }, { title: 'Gmv' })

const rated = { confirmedUsd: usd(), refundedUsd: usd('US dollars; less what came back of refunds'), rate }
export const RefundRate = t.Object(
  {
    ...days,
    network: t.Object(rated),
    processors: t.Array(t.Object({ processor: t.String(), ...rated })),
    series: t.Array(t.Object({ date: Day, value: rate }), { description: 'The rate of each day' }),
    unpriced,
  },
  { title: 'RefundRate' },
)

const rank = integer({ minimum: 1 })
export const TopMerchants = t.Object(
  {
    ...days,
    data: t.Array(t.Object({ rank, ...fieldsOf(t.String(), 'merchantId', 'shopName'), affiliateGmvUsd: usd(), orders: count })),
  },
  { title: 'TopMerchants' },
)
export const TopProducts = t.Object(
  {
    ...days,
    data: t.Array(t.Object({ rank, ...fieldsOf(t.String(), 'productId', 'title', 'shopName'), unitsSold: count, affiliateGmvUsd: usd() })),
  },
  { title: 'TopProducts' },
)
