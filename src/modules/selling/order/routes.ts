import type { ListRequest } from '../../../core/csv-list.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { type PageQuery, sliceOf } from '../../../lib/page.ts'
import type { OrderQuery, Refund } from './domain.ts'
import {
  addOrderNote,
  cancelOrder,
  changeFulfilment,
  createFulfilment,
  fulfilOrder,
  listOrders,
  listRefunds,
  type OrderDeps,
  orderRows,
  readFulfilment,
  readOrder,
  readRefund,
  refundOrder,
  settleByHand,
} from './index.ts'
import {
  CancelBody,
  ChangeFulfilment,
  CreateFulfilment,
  CreateNote,
  FulfilBody,
  FulfilmentIdParams,
  FulfilmentRecord,
  ListOrders,
  ListRefunds,
  NoteRecord,
  OrderIdParam,
  OrderRecord,
  Orders,
  RefundBody,
  RefundIdParams,
  RefundRecord,
  Refunds,
  SettledBody,
} from './model.ts'
import { orderTable } from './search/csv.ts'

export const orderRoutes = (deps: HttpDeps & OrderDeps) =>
  routes(deps, 'Orders')
    .get(
      '/v2/orders',
      ({ query, shop }) => {
        const { page, limit, ...filter } = query
        return listOrders(deps, { ...filter, shopId: shop.id }, sliceOf({ page, limit }))
      },
      {
        access: 'orderRead',
        csv: csvOf(
          'orders',
          Orders,
          ({ shop, query: { page: _, limit: __, ...filter } }: ListRequest<OrderQuery & PageQuery>, slice) =>
            orderRows(deps, { ...filter, shopId: shop.id }, slice),
          { table: orderTable, keyOf: ({ order }) => order.number },
        ),
        query: ListOrders,
        response: { 200: Orders, ...errorResponses(401, 403, 404) },
        detail: {
          summary: "The shop's orders",
          description:
            'By number, newest first; of several filters all count. Without a filter `total` is exact. With others than `q` it is exact up to 2,000, then 2,000 with `totalCapped: true`, and further pages are there all the same. With `q` it is exact up to 1,000, then 1,000 with `totalCapped: true`, and nothing lies past it: narrow the list by `from` and `to` to see the rest. Words that very many orders hold beside a filter that many others meet are looked for among the newest thousands of both alone, which `totalCapped` tells, too. After an upgrade from a version that had no such search, a job makes what is there findable: until it is through, what it has not come to yet is missing from what `q` finds, and `totalCapped: true` says so.',
        },
      },
    )
    .get(
      '/v2/orders/:orderId',
      ({ params, shop, principal }) =>
        readOrder(deps, { shopId: shop.id, ...(principal.kind === 'customer' ? { customerId: principal.id } : {}) }, params.orderId),
      {
        fastRead: 'order',
        access: 'order',
        params: OrderIdParam,
        response: { 200: OrderRecord, ...errorResponses(401, 403, 404) },
        detail: {
          summary: 'An order',
          description: "To a customer, somebody else's order does not exist, and their own shows no reasons of refunds and cancellations.",
        },
      },
    )
    .post(
      '/v2/orders/:orderId/refunds',
      ({ params, body: { reason, ...body }, shop, actor, once }) =>
        once(
          201,
          (_, { key: attemptKey }) =>
            refundOrder(deps, { ...body, shopId: shop.id, orderId: params.orderId, actor, attemptKey, reason: reason ?? undefined }),
          { sees: () => readOrder(deps, { shopId: shop.id }, params.orderId) },
        ),
      {
        access: 'management',
        idempotent: 'required',
        params: OrderIdParam,
        body: RefundBody,
        response: { 201: RefundRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Refund an order',
          description:
            'Exactly one of `amount`, `lines` and `all` says what goes back; none of them, or several, is 400. Of a line it is the share of what was paid for it, with the tax that came on top and without shipping, rounded half-even over all refunds of the line together: the last unit takes the rest. More units than are left of a line, or more money than is left of the order, is 409; so is any other `refundableTotal` than the order’s, where one is said: of two who refund at once by what they see, one does. What was captured goes back first, through its processor; then what gift cards paid, back to these. The order keeps its status: `paymentStatus` tells. What a processor cannot send back is answered as `MANUAL` (pay it by hand, and say so by `…/settled`), and what the shopper has to fetch as `CLAIMABLE`, with `claimUrl`.',
        },
      },
    )
    .post(
      '/v2/orders/:orderId/refunds/:refundId/settled',
      ({ params: { orderId, refundId }, body: { reference }, shop, actor, once }) =>
        once(200, (write) => settleByHand(deps, { shop, actor, write }, { orderId, refundId, reference }), {
          sees: () => readRefund(deps, { shopId: shop.id, orderId, refundId }),
        }),
      {
        access: 'management',
        idempotent: true,
        params: RefundIdParams,
        body: SettledBody,
        response: { 200: RefundRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Note that a refund was paid by hand',
          description:
            'Of one that is MANUAL; also of one that is PENDING for three days, or whose processor certainly was not told of it or cannot be asked any more. Any other is 409. It is SUCCEEDED from then on, and the order and the books count it. Nothing is sent to a processor.',
        },
      },
    )
    .get(
      '/v2/refunds',
      ({ query: { page, limit, status }, shop }) => listRefunds(deps, { shopId: shop.id, status }, sliceOf({ page, limit })),
      {
        access: 'orderRead',
        csv: csvOf('refunds', Refunds, ({ shop, query: { status } }: ListRequest<{ status?: Refund['status'] }>, slice) =>
          listRefunds(deps, { shopId: shop.id, status }, slice),
        ),
        query: ListRefunds,
        response: { 200: Refunds, ...errorResponses(401, 403, 404) },
        detail: {
          summary: "The shop's refunds",
          description:
            'Newest first, of all orders. With `status=MANUAL`: what its people have to pay back by hand. Among them are those that the shop made at a processor’s own page, and money that came too late and was sent back.',
        },
      },
    )
    .post(
      '/v2/orders/:orderId/cancel',
      ({ params, body, shop, actor, once }) =>
        once(
          200,
          (_, attempt) => cancelOrder(deps, { shopId: shop.id, orderId: params.orderId, actor, attempt, reason: body.reason ?? undefined }),
          { sees: () => readOrder(deps, { shopId: shop.id }, params.orderId) },
        ),
      {
        access: 'management',
        idempotent: true,
        params: OrderIdParam,
        body: CancelBody,
        response: { 200: OrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Cancel an order',
          description:
            'One that was not paid ends at once; a paid one gets all its money back first, and its goods return to stock. One that was sent cannot be cancelled: refund it. A processor is waited for ten seconds: while it has not answered, a paid order stays CONFIRMED with a PENDING refund, and is cancelled when it has, and the payment of an unpaid one is given up later; a refund that is CLAIMABLE or MANUAL cancels it, too.',
        },
      },
    )
    .post(
      '/v2/orders/:orderId/fulfil',
      ({ params, body: { trackingNumber, carrier }, shop, actor, once }) =>
        once(
          200,
          (_, attempt) => {
            const tracking = { trackingNumber: trackingNumber ?? undefined, carrier: carrier ?? undefined }
            return fulfilOrder(deps, { shopId: shop.id, orderId: params.orderId, actor, attempt }, tracking)
          },
          { sees: () => readOrder(deps, { shopId: shop.id }, params.orderId) },
        ),
      {
        access: 'fulfilment',
        idempotent: true,
        params: OrderIdParam,
        body: FulfilBody,
        response: { 200: OrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Note that an order was sent',
          description:
            'All that is left of one that is CONFIRMED: what is neither sent nor refunded, nor about to be. 14 days after the last parcel it is COMPLETED. 409 where nothing is left.',
        },
      },
    )
    .post(
      '/v2/orders/:orderId/fulfilments',
      ({ params, body: { lines, trackingNumber, carrier }, shop, actor, once }) =>
        once(
          201,
          (_, attempt) => {
            const parcel = { lines, trackingNumber: trackingNumber ?? undefined, carrier: carrier ?? undefined }
            return createFulfilment(deps, { shopId: shop.id, orderId: params.orderId, actor, attempt }, parcel)
          },
          { sees: () => readOrder(deps, { shopId: shop.id }, params.orderId) },
        ),
      {
        access: 'fulfilment',
        versioned: true,
        idempotent: true,
        params: OrderIdParam,
        body: CreateFulfilment,
        response: { 201: FulfilmentRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Note that a part of an order was sent',
          description:
            'Of one that is CONFIRMED; lines that need no shipping are noted like the others. It stays CONFIRMED and PARTIALLY_FULFILLED until all that was not refunded is sent, then it is FULFILLED: by the last parcel, or by the refund of what was still to be sent. A refund of units takes those first that were not sent; while it is PENDING they cannot be sent, and the order is not FULFILLED. Whoever sends a unit back while others are still to be sent is refunded by `amount`, so that those are sent all the same. An order of which something was sent cannot be cancelled. 409 for more of a line than is left of it (`unfulfilledQuantity`), and for an order in more than 100 parcels; the hundredth takes all that is left.',
        },
      },
    )
    .get(
      '/v2/orders/:orderId/fulfilments/:fulfilmentId',
      ({ params: { orderId, fulfilmentId }, shop }) => readFulfilment(deps, { shopId: shop.id, orderId, fulfilmentId }),
      {
        access: 'orderRead',
        versioned: true,
        params: FulfilmentIdParams,
        response: { 200: FulfilmentRecord, ...errorResponses(401, 403, 404) },
        detail: {
          summary: 'A fulfilment of an order',
          description: 'As the order shows it, with the `ETag` by which its tracking is corrected.',
        },
      },
    )
    .patch(
      '/v2/orders/:orderId/fulfilments/:fulfilmentId',
      ({ params: { orderId, fulfilmentId }, body, shop, actor, expected, once }) =>
        once(200, (write) => changeFulfilment(deps, { shop, actor, expected, write }, { orderId, fulfilmentId }, body), {
          sees: () => readOrder(deps, { shopId: shop.id }, orderId),
        }),
      {
        access: 'fulfilment',
        versioned: true,
        idempotent: true,
        params: FulfilmentIdParams,
        body: ChangeFulfilment,
        response: { 200: FulfilmentRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Correct the tracking of a fulfilment',
          description:
            'Whatever has become of the order since; what was sent stays as it is. Nothing is told where nothing is another. The parcels of an order are corrected 100 times at most, then 409.',
        },
      },
    )
    .post(
      '/v2/orders/:orderId/notes',
      ({ params, body, shop, actor, once }) =>
        once(201, (write) => addOrderNote(deps, { shop, actor, write }, params.orderId, body.text), {
          sees: () => readOrder(deps, { shopId: shop.id }, params.orderId),
        }),
      {
        access: 'management',
        idempotent: true,
        params: OrderIdParam,
        body: CreateNote,
        response: { 201: NoteRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Note something down of an order',
          description:
            'For the shop’s own people, whatever has become of the order: no shopper is ever shown it. Notes stand in `notes` of the order as its shop reads it, and neither change nor go. At most 100 an order, then 409.',
        },
      },
    )
