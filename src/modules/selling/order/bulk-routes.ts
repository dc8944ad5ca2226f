import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { fulfilOrders, type OrderDeps } from './index.ts'
import { BulkFulfilment, BulkFulfilmentResult } from './model.ts'

/** Commands on several orders. */
export const bulkOrderRoutes = (deps: HttpDeps & OrderDeps) =>
  routes(deps, 'Orders').post(
    '/v2/orders/fulfilments',
    ({ body: { orders }, shop, actor, once }) =>
      once(200, async (_, attempt) => {
        const entries = orders.map(({ trackingNumber, carrier, ...entry }) => ({
          ...entry,
          trackingNumber: trackingNumber ?? undefined,
          carrier: carrier ?? undefined,
        }))
        return { data: await fulfilOrders(deps, { shopId: shop.id, actor, attempt }, entries) }
      }),
    {
      access: 'fulfilment',
      idempotent: true,
      body: BulkFulfilment,
      response: { 200: BulkFulfilmentResult, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
      detail: {
        operationId: 'createFulfilments',
        summary: 'Fulfils several orders',
        description:
          'Creates a fulfilment of each order, as `POST /v2/orders/{orderId}/fulfilments` does: of `lines`, or of everything that is left. Each order succeeds or fails on its own, and the response is 200 also if all fail. A repeated order is 400. With an `Idempotency-Key`, a repeated request sends nothing twice, also after an interruption.',
      },
    },
  )
