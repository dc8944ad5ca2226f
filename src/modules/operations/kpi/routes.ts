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
const csvToo = ' `accept: text/csv` answers the series as CSV.'
const exactOnly =
  ' A figure is told exactly or not at all: sums of ten trillion dollars and more, which a number cannot tell to the cent, are 400.'
/** Contract, section 2: KPIs count the present mode of each shop. */
const modes =
  " Orders of shops in live mode count; `mode=TEST` counts those of shops in test mode, whatever money they moved (the sandbox's too, under `sandbox`), and `mode=ALL` both. Test orders leave the figures, of past days too, when their shop goes live."
const counts = {
  'registered-users': [
    'USERS',
    'Sign-ups',
    'People who signed up: merchants, and customers with a password of their own. Customers whom a shop entered have not signed up. By role.',
  ],
  'verified-shops': ['SHOPS', 'Verified shops', 'Shops that became `KYB_VERIFIED`, the first time only, by the cohort of their merchant.'],
  'confirmed-orders': [
    'ORDERS',
    'Confirmed orders',
    `Orders that became \`CONFIRMED\`, whatever became of them later, by processor: \`gift_card\` for those that gift cards paid, \`none\` for those that cost nothing.${modes}`,
  ],
  'created-products': ['PRODUCTS', 'Created products', 'By the status that they were made with.'],
} as const satisfies Record<string, readonly [Figure, string, string]>

/** The options of an operator route. */
const routeOptions = <Query extends TSchema, Answer extends TSchema>(
  query: Query,
  answer: Answer,
  summary: string,
  description: string,
) => ({
  access: 'operator' as const,
  query,
  response: { 200: answer, ...refusals },
  detail: { summary, description },
})

/** Routes of the network's figures and of the affiliate rankings. */
export function kpiRoutes(deps: HttpDeps & Pick<Deps, 'db' | 'clock' | 'life'>) {
  const app = routes(deps, 'Dashboards')
  for (const [name, [figure, summary, description]] of Object.entries(counts))
    app.get(
      `/admin/dashboard/${name}`,
      jsonOrCsv(name, (query: WindowedQuery) => readFigure(deps, figure, query), seriesOf, ofDays),
      routeOptions(figure === 'ORDERS' ? ReadSales : ReadFigure, CountFigure, summary, description + csvToo),
    )
  return app
    .get(
      '/admin/dashboard/gmv',
      jsonOrCsv('gmv', (query: WindowedQuery) => readGmv(deps, query), seriesOf, ofDays),
      routeOptions(
        ReadSales,
        GmvFigure,
        'Gross merchandise value',
        `The totals of confirmed orders at confirmation, before refunds, in US dollars at the rate of that day, by what paid them. Money whose rate is not known yet is counted once it is; \`unpriced\` says how many sums wait.${modes} \`ofTestMode\` says what of the total such money is.${exactOnly}${csvToo}`,
      ),
    )
    .get(
      '/admin/dashboard/refund-rate',
      jsonOrCsv('refund-rate', (query: WindowedQuery) => readRefundRate(deps, query), seriesOf, ofDays),
      routeOptions(
        ReadSales,
        RefundRate,
        'Refund rate',
        `Refunds that were made in the window, whenever their orders were confirmed, divided by what was confirmed in it, in US dollars at the rate of the order's confirmation. What goes back to gift cards is refunded too; a refund that came back is taken off on the day on which it did. What a shopper's bank took back by a dispute is no refund.${modes}${exactOnly}${csvToo}`,
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
        'Merchants by what affiliates sold for them',
        `Confirmed orders that a partner brought, in US dollars at confirmation, before refunds; equal ones by id. A merchant stands under the name of their first shop.${modes}${exactOnly} \`accept: text/csv\` answers the same as CSV.`,
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
        'Products by how many of them affiliates sold',
        `Units in confirmed orders that a partner brought, before refunds; equal ones by id. \`affiliateGmvUsd\` is what these units cost, without shipping and without tax that comes on top.${modes}${exactOnly} \`accept: text/csv\` answers the same as CSV.`,
      ),
    )
}
