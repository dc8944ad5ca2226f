import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { CurrencyCode, Instant, integer, nullable, oneOf } from '../../../http/schema.ts'
import { kybStatuses } from '../../shop/kyb/domain.ts'

import { disputesNamed, goLiveSteps, rankedProducts } from './domain.ts'

const Day = t.String({ format: 'date', maxLength: 10 })
/** Sums may exceed any single amount and may be negative. */
const sum = t.Object({ amount: integer({ description: 'In minor units' }), currency: CurrencyCode }, { title: 'SignedMoney' })
const count = integer({ minimum: 0 })
const percent = nullable(Type.Number({ description: 'Change from the previous period. Null if that was not above 0' }))
const sums = { confirmed: sum, refunds: sum, net: sum }

const Sales = t.Object(
  {
    ...sums,
    previous: t.Object(sums, { description: 'Of the previous period of the same length' }),
    percentChange: percent,
    series: t.Array(t.Object({ date: Day, confirmed: integer(), refunds: integer(), net: integer() }), {
      description: 'One entry per day, in minor units',
    }),
  },
  { title: 'OverviewSales' },
)
const Orders = t.Object(
  {
    confirmed: count,
    previousConfirmed: count,
    percentChange: percent,
    series: t.Array(t.Object({ date: Day, value: count }), { description: 'One entry per day' }),
  },
  { title: 'OverviewOrders' },
)
const rate = nullable(Type.Number({ description: '`converted` divided by `begun`. Null if there are none, or too many to count' }))
const conversion = { begun: count, converted: count, rate }
const Carts = t.Object(
  {
    ...conversion,
    previous: nullable(
      t.Object(conversion, { description: 'Of the previous period of the same length. Null if its carts were deleted already' }),
    ),
    capped: t.Optional(t.Literal(true, { description: 'True if there are more carts than were counted. Then there is no rate' })),
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
  totalCapped: t.Optional(t.Literal(true, { description: 'True if there are more. Exact up to 1,000' })),
}
const waitingCount = (description: string) => t.Object(counted, { description })

export const OverviewRecord = t.Object(
  {
    asOf: Instant,
    startDate: Day,
    endDate: Day,
    currency: CurrencyCode,
    mode: oneOf(['TEST', 'LIVE'], { description: "The shop's current mode. Orders of the other mode are not included" }),
    sales: Sales,
    orders: Orders,
    carts: nullable(Carts),
    topProducts: t.Object({
      byRevenue: t.Array(TopProduct, { description: `At most ${rankedProducts}` }),
      byUnits: t.Array(TopProduct, { description: `At most ${rankedProducts}` }),
    }),
    waiting: t.Object({
      ordersToSend: waitingCount('`GET /v2/orders?toFulfil=true`'),
      paymentsProcessing: waitingCount('Payments that the processor has not decided: `GET /v2/orders?paymentStatus=PROCESSING`'),
      ordersStuck: waitingCount('Paid or reversed orders whose next step failed. souk retries them'),
      returnsRequested: nullable(waitingCount('Returns to approve or reject: `GET /v2/returns?status=REQUESTED`')),
      returnsApproved: nullable(waitingCount('Returns whose goods are not back yet: `GET /v2/returns?status=APPROVED`')),
      refundsManual: waitingCount('Refunds to pay by hand: `GET /v2/refunds?status=MANUAL`'),
      refundsClaimable: waitingCount('Refunds that the shopper has to collect: `GET /v2/refunds?status=CLAIMABLE`'),
      disputes: t.Object(
        {
          ...counted,
          orders: t.Array(t.Object({ id: t.String(), number: integer() }), {
            description: `Orders of the newest ${disputesNamed}`,
          }),
        },
        { description: 'Open disputes' },
      ),
      drafts: waitingCount('`GET /v2/orders/drafts?status=OPEN`'),
      lowStock: nullable(waitingCount('`GET /product-v2/low-stock`')),
      webhooks: nullable(
        t.Object({
          disabled: integer({ minimum: 0, description: 'Number of disabled endpoints' }),
          failing: integer({
            minimum: 0,
            description: 'Number of endpoints that have failed three times in a row or more and are not disabled',
          }),
          undelivered: waitingCount('Number of failed deliveries that will be sent again'),
        }),
      ),
    }),
    kyb: nullable(
      t.Object({
        status: oneOf(['NONE', ...kybStatuses], { description: 'NONE: there is no record' }),
        reason: nullable(t.String({ description: 'Reason of the rejection' })),
      }),
    ),
    goLive: nullable(
      t.Object(
        {
          steps: t.Array(
            t.Object({
              step: oneOf(goLiveSteps),
              done: t.Boolean(),
              required: t.Boolean({ description: 'Whether it is required to go live' }),
            }),
          ),
        },
        { description: 'For a shop in mode TEST. Null for LIVE' },
      ),
    ),
  },
  { title: 'Overview' },
)
