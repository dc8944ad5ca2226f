import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { CurrencyCode, dayForm, Instant, integer, nullable, oneOf, text } from '../../../http/schema.ts'
import { kybStatuses } from '../../shop/kyb/domain.ts'
import { windowDaysDefault, windowDaysMax } from '../kpi/domain.ts'
import { disputesNamed, goLiveSteps, rankedProducts, waitingMax } from './domain.ts'

const day = (description: string) => t.Optional(text(10, { ...dayForm, description }))
export const ReadOverview = t.Object({
  startDate: day('The first day, UTC; needs `endDate`'),
  endDate: day(
    `The last day, UTC, inclusive: at most ${windowDaysMax} days with the first. Without both: the last ${windowDaysDefault} days with today`,
  ),
})

const Day = t.String({ format: 'date', maxLength: 10 })
/** Sums may exceed any single amount and may be negative. */
const sum = t.Object({ amount: integer({ description: 'Minor units' }), currency: CurrencyCode }, { title: 'Sum' })
const count = integer({ minimum: 0 })
const percent = nullable(Type.Number({ description: 'Against the days before; null where that was not more than 0' }))
const sums = { confirmed: sum, refunds: sum, net: sum }

const Sales = t.Object(
  {
    ...sums,
    previous: t.Object(sums, { description: 'Of as many days before' }),
    percentChange: percent,
    series: t.Array(t.Object({ date: Day, confirmed: integer(), refunds: integer(), net: integer() }), {
      description: 'One entry a day, in minor units',
    }),
  },
  { title: 'OverviewSales' },
)
const Orders = t.Object(
  {
    confirmed: count,
    previousConfirmed: count,
    percentChange: percent,
    series: t.Array(t.Object({ date: Day, value: count }), { description: 'One entry a day' }),
  },
  { title: 'OverviewOrders' },
)
const rate = nullable(
  Type.Number({ description: '`converted` divided by `begun`; null where none was begun, and where they are too many to count' }),
)
const conversion = { begun: count, converted: count, rate }
const Carts = t.Object(
  {
    ...conversion,
    previous: nullable(
      t.Object(conversion, { description: 'Of as many days before; null where carts of those days are forgotten already' }),
    ),
    capped: t.Optional(t.Literal(true, { description: 'There are more carts than were counted, and so no rate' })),
  },
  { title: 'OverviewCarts' },
)
const TopProduct = t.Object(
  {
    rank: integer({ minimum: 1 }),
    productId: t.String(),
    title: nullable(t.String({ description: 'As it is called now' })),
    units: count,
    revenue: sum,
  },
  { title: 'TopSeller' },
)
/** The form of totals in lists. */
const counted = {
  total: count,
  totalCapped: t.Optional(t.Literal(true, { description: `There are more: it is exact up to ${waitingMax.toLocaleString('en')}` })),
}
const waiting = (description: string) => t.Object(counted, { description })

export const OverviewRecord = t.Object(
  {
    asOf: Instant,
    startDate: Day,
    endDate: Day,
    currency: CurrencyCode,
    mode: oneOf(['TEST', 'LIVE'], { description: 'Of the shop: orders of the other mode are in none of the figures' }),
    sales: Sales,
    orders: Orders,
    carts: nullable(Carts),
    topProducts: t.Object({
      byRevenue: t.Array(TopProduct, { description: `${rankedProducts} at most` }),
      byUnits: t.Array(TopProduct, { description: `${rankedProducts} at most` }),
    }),
    waiting: t.Object({
      ordersToSend: waiting('`GET /v2/orders?toFulfil=true`'),
      paymentsProcessing: waiting('Paid, and not decided yet: `GET /v2/orders?paymentStatus=PROCESSING`'),
      ordersStuck: waiting('Paid or being undone, and what comes next has failed; it is tried again by itself'),
      refundsManual: waiting('To be paid back by hand: `GET /v2/refunds?status=MANUAL`'),
      refundsClaimable: waiting('To be fetched by the shopper: `GET /v2/refunds?status=CLAIMABLE`'),
      disputes: t.Object(
        {
          ...counted,
          orders: t.Array(t.Object({ id: t.String(), number: integer() }), {
            description: `Whose they are, of the newest ${disputesNamed}`,
          }),
        },
        { description: 'Open' },
      ),
      drafts: waiting('`GET /v2/orders/drafts?status=OPEN`'),
      lowStock: nullable(waiting('`GET /product-v2/low-stock`')),
      webhooks: nullable(
        t.Object({
          disabled: integer({ minimum: 0, description: 'Endpoints to which nothing is sent any more' }),
          failing: integer({ minimum: 0, description: 'Endpoints that have failed three times in a row or more, and are tried still' }),
          undelivered: waiting('Deliveries that have failed, and are tried again'),
        }),
      ),
    }),
    kyb: nullable(
      t.Object({
        status: oneOf(['NONE', ...kybStatuses], { description: 'NONE: none was filed' }),
        reason: nullable(t.String({ description: 'Why it was rejected' })),
      }),
    ),
    goLive: nullable(
      t.Object(
        {
          steps: t.Array(
            t.Object({
              step: oneOf(goLiveSteps),
              done: t.Boolean(),
              required: t.Boolean({ description: 'Whether going live is refused without it' }),
            }),
          ),
        },
        { description: 'Of a shop in mode TEST; null of one that is LIVE' },
      ),
    ),
  },
  { title: 'Overview' },
)
