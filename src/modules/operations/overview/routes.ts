import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { ReadShopFigures } from '../kpi/model.ts'
import { type OverviewDeps, readOverview } from './index.ts'
import { OverviewRecord } from './model.ts'

export const overviewRoutes = (deps: HttpDeps & OverviewDeps) =>
  routes(deps, 'Shops').get('/shops/v2/overview', ({ query, shop, principal }) => readOverview(deps, shop, principal, query), {
    access: 'orderRead',
    query: ReadShopFigures,
    response: { 200: OverviewRecord, ...errorResponses(401, 403, 404) },
    detail: {
      operationId: 'getShopOverview',
      summary: 'Returns the overview of the shop',
      description: `Returns everything that a home page shows. Days are those of the shop's \`timeZone\`, which may have 23 or 25 hours, and inclusive. A change of the time zone applies to all days, also past ones. Sales are the totals of orders confirmed in the period, whatever their status is now, and the refunds made in the period. \`topProducts\` are from the same orders, after discounts, before refunds, without shipping and added tax. Figures are in the shop's current currency and mode: orders in another currency, and test orders of a live shop, are not included. \`carts\` counts carts created in the period and how many of them have become orders; it is null if the period starts more than 90 days ago, because older carts are deleted.

Open tasks are current and counted up to 1,000; then \`totalCapped\` is true. Sections that the caller's role cannot read are null: \`lowStock\` needs access to the catalog, \`carts\` needs MANAGER or OWNER, and \`webhooks\`, \`kyb\` and \`goLive\` need OWNER (\`webhooks\` also the secret key). A figure that cannot be represented exactly is an error.`,
    },
  })
