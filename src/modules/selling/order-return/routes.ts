import type { ListRequest } from '../../../core/csv-list.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import { readOrder } from '../order/index.ts'
import type { ReturnFilter } from './domain.ts'
import { listReturns, listShopReturns, type ReturnDeps, receiveReturn, requestReturn, settleReturnRequest } from './index.ts'
import {
  ApproveReturn,
  CreateReturn,
  ListReturns,
  OrderParam,
  OrderReturns,
  ReceiveReturn,
  RejectReturn,
  ReturnParams,
  ReturnRecord,
  Returns,
} from './model.ts'

export const returnRoutes = (deps: HttpDeps & ReturnDeps) =>
  routes(deps, 'Orders')
    .get(
      '/v2/returns',
      ({ query: { page, limit, status }, shop }) => listShopReturns(deps, { shopId: shop.id, status }, sliceOf({ page, limit })),
      {
        access: 'management',
        csv: csvOf('returns', Returns, ({ shop, query: { status } }: ListRequest<Omit<ReturnFilter, 'shopId'>>, slice) =>
          listShopReturns(deps, { shopId: shop.id, status }, slice),
        ),
        query: ListReturns,
        response: { 200: Returns, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'listShopReturns',
          summary: 'Lists the returns of all orders',
          description:
            'Returns returns of all orders, newest first. `status=REQUESTED` lists those that the shop has to approve or reject, and `status=APPROVED` those whose goods are not back yet.',
        },
      },
    )
    .get('/v2/orders/:orderId/returns', ({ params: { orderId }, shop }) => listReturns(deps, { shopId: shop.id, orderId }), {
      access: 'management',
      params: OrderParam,
      response: { 200: OrderReturns, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listReturns',
        summary: 'Lists the returns of an order',
        description: 'Returns all returns of the order, at most 100, and the units that can still be returned.',
      },
    })
    .post(
      '/v2/orders/:orderId/returns',
      ({ params: { orderId }, body: { lines }, shop, principal, actor, once }) => {
        const customerId = principal.kind === 'customer' ? principal.id : undefined
        const by = customerId === undefined ? 'SHOP' : 'SHOPPER'
        return once(201, (write) => requestReturn(deps, { shopId: shop.id, orderId }, { by, customerId, actor, write }, lines), {
          assertVisible: () => readOrder(deps, { shopId: shop.id, customerId }, orderId),
        })
      },
      {
        access: 'address',
        idempotent: true,
        params: OrderParam,
        body: CreateReturn,
        response: { 201: ReturnRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'createReturn',
          summary: 'Requests a return',
          description:
            "Requests the return of units that were sent and are neither in another return that stands nor refunded without a return; for more, the response is 409. Customers can request returns of their own orders, for the shop's `returnDays` after the fulfilment that sent the units. The shop can at any time. An order has at most 100 returns. The shopper gets a mail at each step.",
        },
      },
    )
    .post(
      '/v2/orders/:orderId/returns/:returnId/approve',
      ({ params: { orderId, returnId }, shop, actor, once }) =>
        once(200, (write) => settleReturnRequest(deps, { shopId: shop.id, orderId, returnId }, { actor, write }, { status: 'APPROVED' }), {
          assertVisible: () => readOrder(deps, { shopId: shop.id }, orderId),
        }),
      {
        access: 'management',
        idempotent: true,
        params: ReturnParams,
        body: ApproveReturn,
        response: { 200: ReturnRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'approveReturn',
          summary: 'Approves a return',
          description: 'The return must be REQUESTED. The shopper may then send the goods.',
        },
      },
    )
    .post(
      '/v2/orders/:orderId/returns/:returnId/reject',
      ({ params: { orderId, returnId }, body: { reason }, shop, actor, once }) =>
        once(
          200,
          (write) =>
            settleReturnRequest(
              deps,
              { shopId: shop.id, orderId, returnId },
              { actor, write },
              { status: 'REJECTED', reason: reason || undefined },
            ),
          { assertVisible: () => readOrder(deps, { shopId: shop.id }, orderId) },
        ),
      {
        access: 'management',
        idempotent: true,
        params: ReturnParams,
        body: RejectReturn,
        response: { 200: ReturnRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'rejectReturn',
          summary: 'Rejects a return',
          description: 'The return must be REQUESTED. Its units can then be in another return.',
        },
      },
    )
    .post(
      '/v2/orders/:orderId/returns/:returnId/receive',
      ({ params: { orderId, returnId }, body, shop, actor, once }) =>
        once(200, (_, attempt) => receiveReturn(deps, { shopId: shop.id, orderId, returnId }, { actor, attempt }, body), {
          assertVisible: () => readOrder(deps, { shopId: shop.id }, orderId),
        }),
      {
        access: 'management',
        idempotent: true,
        params: ReturnParams,
        body: ReceiveReturn,
        response: { 200: ReturnRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'receiveReturn',
          summary: 'Marks a return as received',
          description:
            'The return must be APPROVED. `restock` returns tracked units to stock at once. `refund` refunds the lines, as `POST …/refunds` with `lines` does: `refund` of the response tells its status, and a refund that fails leaves the return RECEIVED. If the lines were refunded otherwise or less money is left, the response is 409 and nothing is changed: receive it without `refund`.',
        },
      },
    )
