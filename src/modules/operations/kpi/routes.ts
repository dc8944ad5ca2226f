import type { TSchema } from '@sinclair/typebox'
import type { Deps } from '../../../core/deps.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { type Figure, readFigure, readGmv, readRefundRate, readTopMerchants, readTopProducts } from './index.ts'
import { CountFigure, GmvFigure, ReadFigure, ReadRanking, ReadSales, RefundRate, TopMerchants, TopProducts } from './model.ts'

type WindowedQuery = Parameters<typeof readGmv>[1]
type Ranking = Parameters<typeof readTopMerchants>[1]
type Cell = string | number | null
type RouteInput<Query> = { query: Query; request: Request; set: { headers: object } }

/**
 * Answers with JSON, or with the series or ranking as CSV.
 * @param name of the file
 */
const jsonOrCsv =
  <Query, Answer extends { startDate: string; endDate: string }, Row extends Readonly<Record<string, Cell>>>(
    name: string,
    read: (query: Query) => Promise<Answer>,
    rowsOf: (answer: Answer) => readonly Row[],
    columns: readonly (keyof Row & string)[],
  ) =>
  async ({ query, request, set }: RouteInput<Query>): Promise<Answer> => {
    const answer = await read(query)
    Object.assign(set.headers, { vary: 'accept' })
    if (!wantsCsv(request.headers)) return answer
    return csvResponse(`${name}-${answer.startDate}-${answer.endDate}`, rowsOf(answer), columns) as never
  }

const ofDays = ['date', 'value'] as const
const seriesOf = <Day>({ series }: { series: Day }): Day => series
const dataOf = <Ranked>({ data }: { data: Ranked }): Ranked => data
const refusals = errorResponses(401, 403)
const csvToo = ' With `accept: text/csv`, the response is the series as CSV.'
const exactOnly = ' Figures are exact: sums of ten trillion dollars and more, which JSON numbers cannot represent to the cent, are 400.'
/** KPIs count the present mode of each shop. */
const modes =
  " Orders of shops in live mode count. `mode=TEST` counts those of shops in test mode, including the sandbox's (under `sandbox`), and `mode=ALL` both. When a shop goes live, its test orders are removed from the figures, also of past days."
const counts = {
  'registered-users': [
    'getRegisteredUsers',
    'USERS',
    'Returns registered users',
    'Counts sign-ups by role: merchants, and customers who chose a password. Customers that a shop created are not counted.',
  ],
  'verified-shops': [
    'getVerifiedShops',
    'SHOPS',
    'Returns verified shops',
    "Counts shops when they first become `KYB_VERIFIED`, by the merchant's cohort.",
  ],
  'confirmed-orders': [
    'getConfirmedOrders',
    'ORDERS',
    'Returns confirmed orders',
    `Counts orders that became \`CONFIRMED\`, whatever their status is now, by processor: \`gift_card\` for those paid by gift cards, \`none\` for free ones.${modes}`,
  ],
  'created-products': ['getCreatedProducts', 'PRODUCTS', 'Returns created products', 'Counts products by their status at creation.'],
} as const satisfies Record<string, readonly [string, Figure, string, string]>

/** The options of an operator route. */
const routeOptions = <Query extends TSchema, Answer extends TSchema>(
  query: Query,
  answer: Answer,
  operationId: string,
  summary: string,
  description: string,
) => ({
  access: 'operator' as const,
  query,
  response: { 200: answer, ...refusals },
  detail: { operationId, summary, description },
})

/** Routes of the network's figures and of the affiliate rankings. */
export function kpiRoutes(deps: HttpDeps & Pick<Deps, 'db' | 'clock' | 'life'>) {
  const app = routes(deps, 'Dashboards')
  for (const [name, [operationId, figure, summary, description]] of Object.entries(counts))
    app.get(
      `/admin/dashboard/${name}`,
      jsonOrCsv(name, (query: WindowedQuery) => readFigure(deps, figure, query), seriesOf, ofDays),
      routeOptions(figure === 'ORDERS' ? ReadSales : ReadFigure, CountFigure, operationId, summary, description + csvToo),
    )
  return app
    .get(
      '/admin/dashboard/gmv',
      jsonOrCsv('gmv', (query: WindowedQuery) => readGmv(deps, query), seriesOf, ofDays),
      routeOptions(
        ReadSales,
        GmvFigure,
        'getGmv',
        'Returns gross merchandise value',
        `Sums the totals of orders at confirmation, before refunds, in US dollars at the rate of that day, by processor. Amounts without a rate yet are added later; \`unpriced\` says how many there are.${modes} \`ofTestMode\` is the part of the total that is test money.${exactOnly}${csvToo}`,
      ),
    )
    .get(
      '/admin/dashboard/refund-rate',
      jsonOrCsv('refund-rate', (query: WindowedQuery) => readRefundRate(deps, query), seriesOf, ofDays),
      routeOptions(
        ReadSales,
        RefundRate,
        'getRefundRate',
        'Returns the refund rate',
        `Divides the refunds made in the period, whenever their orders were confirmed, by the amount confirmed in the period, in US dollars at the rate of the order's confirmation. Refunds to gift cards are included; a refund that failed later is subtracted on the day of the failure. Disputes are not refunds.${modes}${exactOnly}${csvToo}`,
      ),
    )
    .get(
      '/admin/affiliate/top-merchants',
      jsonOrCsv('top-merchants', (query: Ranking) => readTopMerchants(deps, query), dataOf, [
        'rank',
        'merchantId',
        'shopName',
        'affiliateGmvUsd',
        'orders',
      ]),
      routeOptions(
        ReadRanking,
        TopMerchants,
        'listTopMerchants',
        'Lists the top merchants by affiliate sales',
        `Sums confirmed orders of affiliates, in US dollars at confirmation, before refunds. Equal merchants are ordered by id. A merchant's name is that of the first shop.${modes}${exactOnly} With \`accept: text/csv\`, the response is CSV.`,
      ),
    )
    .get(
      '/admin/affiliate/top-products',
      jsonOrCsv('top-products', (query: Ranking) => readTopProducts(deps, query), dataOf, [
        'rank',
        'productId',
        'title',
        'shopName',
        'unitsSold',
        'affiliateGmvUsd',
      ]),
      routeOptions(
        ReadRanking,
        TopProducts,
        'listTopProducts',
        'Lists the top products by affiliate sales',
        `Counts units in confirmed orders of affiliates, before refunds. Equal products are ordered by id. \`affiliateGmvUsd\` is the price of these units, without shipping and added tax.${modes}${exactOnly} With \`accept: text/csv\`, the response is CSV.`,
      ),
    )
}
