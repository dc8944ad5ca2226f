import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { type OverviewDeps, readOverview } from './index.ts'
import { OverviewRecord, ReadOverview } from './model.ts'

export const overviewRoutes = (deps: HttpDeps & OverviewDeps) =>
  routes(deps, 'Shops').get('/shops/v2/overview', ({ query, shop, principal }) => readOverview(deps, shop, principal, query), {
    access: 'orderRead',
    query: ReadOverview,
    response: { 200: OverviewRecord, ...errorResponses(401, 403, 404) },
    detail: {
      summary: 'How the shop is doing, and what waits',
      description:
        "What a home page shows, in one read. Days are of UTC, both inclusive. Sales are the totals of orders confirmed in these days, whatever became of them later, and what was refunded in them, whenever its order was; `topProducts` are of the same orders, less discounts, without shipping and without tax that comes on top, before refunds. All of it in the shop's present currency and mode: orders in another currency, and test orders of a shop that has gone live, are in none of the figures. `carts` are those that shoppers began in these days, and how many of these have become an order by now, whatever became of it; null where the window reaches back further than 90 days, since carts are forgotten after that. What waits is as of now, counted up to 1,000; then `totalCapped` says that there is more. What the caller's role may not read by its own route is null: `lowStock` without the catalog, `carts` but for managers and owners, `webhooks`, `kyb` and `goLive` but for owners (webhooks for the secret key, too). A figure is told exactly or not at all.",
    },
  })
