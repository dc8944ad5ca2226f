import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { dayForm, fieldsOf, integer, nullable, oneOf, pageQuery, text } from '../../../http/schema.ts'
import { rankedDefault, rankedMax, salesModes, windowDaysDefault, windowDaysMax } from './domain.ts'

const day = (description: string) => t.Optional(text(10, { ...dayForm, description }))
const windowQueryIn = (zone: string) => ({
  startDate: day(`First day, ${zone}. Requires \`endDate\``),
  endDate: day(
    `Last day, ${zone}, inclusive, at most ${windowDaysMax} days in total. Default for both: the last ${windowDaysDefault} days including today`,
  ),
})
const windowQuery = windowQueryIn('UTC')
/** The days of a shop. */
export const ReadShopFigures = t.Object(windowQueryIn("in the shop's `timeZone`"))
export const ReadFigure = t.Object(windowQuery)
const mode = t.Optional(oneOf(salesModes, { description: 'Orders of shops in live mode (default), in test mode, or all' }))
export const ReadSales = t.Object({ ...windowQuery, mode })
export const ReadRanking = t.Object({
  ...windowQuery,
  mode,
  limit: t.Optional(t.String({ ...pageQuery.limit, description: `Default: ${rankedDefault}. Clamped to 1 to ${rankedMax}` })),
})

const Day = t.String({ format: 'date', maxLength: 10 })
const days = { startDate: Day, endDate: Day }
const count = integer({ minimum: 0 })
const usd = (description = 'In US dollars') => Type.Number({ description })
const rate = nullable(Type.Number({ description: 'Refunded amount divided by confirmed amount. Null if nothing was confirmed' }))
const unpriced = integer({
  minimum: 0,
  description: 'Number of transactions without an exchange rate yet. They are not in the sums',
})

const figureOf = (value: ReturnType<typeof usd> | ReturnType<typeof integer>) => ({
  ...days,
  total: value,
  previousTotal: value,
  percentChange: nullable(Type.Number({ description: 'Change from `previousTotal` to `total`. Null if that was 0' })),
  breakdown: t.Record(t.String(), value),
  series: t.Array(t.Object({ date: Day, value }), { description: 'One entry per day' }),
})
export const CountFigure = t.Object(figureOf(count), { title: 'Kpi' })
const ofTestMode = usd('Part of `total` from shops that have not gone live, which is test money')
export const GmvFigure = t.Object({ ...figureOf(usd()), ofTestMode, unpriced }, { title: 'Gmv' })

const rated = { confirmedUsd: usd(), refundedUsd: usd('In US dollars, minus failed refunds'), rate }
export const RefundRate = t.Object(
  {
    ...days,
    network: t.Object(rated),
    processors: t.Array(t.Object({ processor: t.String(), ...rated })),
    series: t.Array(t.Object({ date: Day, value: rate }), { description: 'Rate of each day' }),
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
