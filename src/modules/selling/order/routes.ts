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
  correctOrder,
  createFulfilment,
  fulfilOrder,
  listOrders,
  listRefunds,
  markOrderPaid,
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
  CorrectOrder,
  CreateFulfilment,
  CreateNote,
  FulfilBody,
  FulfilmentIdParams,
  FulfilmentRecord,
  ListOrders,
  ListRefunds,
  MarkPaidBody,
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
import { orderLineTable, orderTable } from './search/csv.ts'

export const orderRoutes = (deps: HttpDeps & OrderDeps) =>
  routes(deps, 'Orders')
    .get(
      '/v2/orders',
      ({ query, shop }) => {
        const { page, limit, ...filter } = query
        return listOrders(deps, { ...filter, shopId: shop.id, timeZone: shop.timeZone }, sliceOf({ page, limit }))
      },
      {
        access: 'orderRead',
        csv: csvOf(
          'orders',
          Orders,
          ({ shop, query: { page: _, limit: __, ...filter } }: ListRequest<OrderQuery & PageQuery>, slice) =>
            orderRows(deps, { ...filter, shopId: shop.id, timeZone: shop.timeZone }, slice),
          {
            table: orderTable,
            tableOf: ({ lines }) => (lines === 'true' ? orderLineTable : undefined),
            keyOf: ({ order }) => order.number,
          },
        ),
        query: ListOrders,
        response: { 200: Orders, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'listOrders',
          summary: 'Lists orders',
          description: `Returns orders, newest first unless \`sort\` says otherwise. Orders must match all filters. Without a filter, \`total\` is exact. With filters other than \`q\`, \`total\` is exact up to 2,000; above that it is 2,000 with \`totalCapped: true\`, and later pages still return orders. With \`q\`, \`total\` is exact up to 1,000; above that it is 1,000 with \`totalCapped: true\`, and later pages are empty: use \`from\` and \`to\` to narrow the list. If very many orders match \`q\` and many others match a filter, only the newest thousands of each are searched, and the response says \`totalCapped: true\`.

After an upgrade from a version without this search, a background job indexes existing orders. Until it is done, \`q\` finds only indexed orders, and the response says \`totalCapped: true\`.`,
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
        versioned: true,
        params: OrderIdParam,
        response: { 200: OrderRecord, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'getOrder',
          summary: 'Returns an order',
          description: 'A customer can read own orders only, without the reasons of refunds and cancellations.',
        },
      },
    )
    .patch(
      '/v2/orders/:orderId',
      ({ params: { orderId }, body, shop, actor, expected, once }) =>
        once(200, (_, attempt) => correctOrder(deps, { shop, orderId, actor, expected, attempt }, body), {
          assertVisible: () => readOrder(deps, { shopId: shop.id }, orderId),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: OrderIdParam,
        body: CorrectOrder,
        response: { 200: OrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'updateOrder',
          summary: 'Updates the addresses, e-mail address and tags of an order',
          description: `Allowed until everything is sent: while the order is PENDING_PAYMENT, PAID or CONFIRMED, and at most 100 times; then the response is 409. The former values are in the \`detail\` of an UPDATED event, which shoppers do not see.

Another country or province can change tax or shipping. Then the response is 409 with the code \`price_difference\`, \`difference\` shows what the order was charged and would be charged now, and nothing is changed. \`acceptDifference: true\` changes the address anyway; nothing is charged or refunded, and the order keeps its amounts.

Later mails go to the new e-mail address; queued ones go to the former one. The order stays with its customer account. The link of its page does not change, so a reader of the former address can still open it; the page shows no e-mail address, street or phone number.`,
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
          { assertVisible: () => readOrder(deps, { shopId: shop.id }, params.orderId) },
        ),
      {
        access: 'management',
        idempotent: 'required',
        params: OrderIdParam,
        body: RefundBody,
        response: { 201: RefundRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'createRefund',
          summary: 'Creates a refund',
          description: `Send exactly one of \`amount\`, \`lines\` and \`all\`. A refund of lines returns their share of what was paid, with added tax and without shipping. It is rounded half-even over all refunds of the line, so that the last unit gets the rest. The response is 409 if a line has fewer units left or the order less money, or if the order has 100 refunds; the hundredth must refund all that is left. To prevent two people from refunding the same order twice, send the \`refundableTotal\` that you have seen: any other value is 409.

Captured money is refunded first, through its processor, and then gift cards. The order keeps its status; \`paymentStatus\` changes. If a processor cannot refund, the refund is \`MANUAL\`: pay it by hand and call \`…/settled\`. If the shopper has to collect the money, it is \`CLAIMABLE\`, with \`claimUrl\`.`,
        },
      },
    )
    .post(
      '/v2/orders/:orderId/refunds/:refundId/settled',
      ({ params: { orderId, refundId }, body: { reference }, shop, actor, once }) =>
        once(200, (write) => settleByHand(deps, { shop, actor, write }, { orderId, refundId, reference }), {
          assertVisible: () => readRefund(deps, { shopId: shop.id, orderId, refundId }),
        }),
      {
        access: 'management',
        idempotent: true,
        params: RefundIdParams,
        body: SettledBody,
        response: { 200: RefundRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'settleRefund',
          summary: 'Marks a refund as paid by hand',
          description:
            'For refunds that are MANUAL, that are PENDING for three days, or whose processor did not receive them or can no longer be asked. Any other is 409. The refund becomes SUCCEEDED and counts in the order and the reports. Nothing is sent to a processor.',
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
          operationId: 'listRefunds',
          summary: 'Lists refunds',
          description:
            "Returns refunds of all orders, newest first. `status=MANUAL` lists those that the shop has to pay by hand. Includes refunds that the shop made on a processor's own page, and payments that arrived too late and were returned.",
        },
      },
    )
    .post(
      '/v2/orders/:orderId/cancel',
      ({ params, body, shop, actor, once }) =>
        once(
          200,
          (_, attempt) => cancelOrder(deps, { shopId: shop.id, orderId: params.orderId, actor, attempt, reason: body.reason ?? undefined }),
          { assertVisible: () => readOrder(deps, { shopId: shop.id }, params.orderId) },
        ),
      {
        access: 'management',
        idempotent: true,
        params: OrderIdParam,
        body: CancelBody,
        response: { 200: OrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'cancelOrder',
          summary: 'Cancels an order',
          description:
            'An unpaid order is cancelled at once. A paid order is refunded in full first, and its goods return to stock. An order of which something was sent cannot be cancelled: refund it. If the processor does not respond within ten seconds, a paid order stays CONFIRMED with a PENDING refund and is cancelled when the refund is made; the payment of an unpaid order is cancelled later. A refund that is CLAIMABLE or MANUAL also completes the cancellation.',
        },
      },
    )
    .post(
      '/v2/orders/:orderId/mark-paid',
      ({ params: { orderId }, body: { reference }, shop, actor, once }) =>
        once(200, (_, attempt) => markOrderPaid(deps, { shopId: shop.id, orderId, actor, attempt, reference: reference || undefined }), {
          assertVisible: () => readOrder(deps, { shopId: shop.id }, orderId),
        }),
      {
        access: 'management',
        idempotent: true,
        params: OrderIdParam,
        body: MarkPaidBody,
        response: { 200: OrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'confirmOrderPayment',
          summary: 'Marks an order as paid',
          description:
            'For an order that the shopper pays outside souk (`manual`). It becomes CONFIRMED, as if a processor had captured the amount due: stock, ledger, mails and webhooks follow. The response is 409 unless the order is PENDING_PAYMENT with an open manual payment. If the order is cancelled or expires at the same moment, only one of these succeeds. Until the expiry has run, an order past its `expiresAt` can still be marked.',
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
          { assertVisible: () => readOrder(deps, { shopId: shop.id }, params.orderId) },
        ),
      {
        access: 'fulfilment',
        idempotent: true,
        params: OrderIdParam,
        body: FulfilBody,
        response: { 200: OrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'fulfilOrder',
          summary: 'Fulfils an order',
          description:
            'Marks everything that is left as sent: units that are not sent, not refunded and not in a pending refund. The order must be CONFIRMED. It becomes COMPLETED 14 days after the last fulfilment. The response is 409 if nothing is left.',
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
          { assertVisible: () => readOrder(deps, { shopId: shop.id }, params.orderId) },
        ),
      {
        access: 'fulfilment',
        versioned: true,
        idempotent: true,
        params: OrderIdParam,
        body: CreateFulfilment,
        response: { 201: FulfilmentRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'createFulfilment',
          summary: 'Creates a fulfilment',
          description:
            'Marks units of a CONFIRMED order as sent, including lines that need no shipping. The order stays CONFIRMED and PARTIALLY_FULFILLED until everything is sent or refunded; then it is FULFILLED. A refund takes unsent units first; while it is PENDING, they cannot be sent and the order is not FULFILLED. To refund a returned unit while others are still to be sent, refund by `amount`. An order of which something was sent cannot be cancelled. The response is 409 if a line has fewer units left (`unfulfilledQuantity`), or if the order has 100 fulfilments; the hundredth must contain everything that is left.',
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
          operationId: 'getFulfilment',
          summary: 'Returns a fulfilment',
          description: 'The `ETag` is for updating its tracking.',
        },
      },
    )
    .patch(
      '/v2/orders/:orderId/fulfilments/:fulfilmentId',
      ({ params: { orderId, fulfilmentId }, body, shop, actor, expected, once }) =>
        once(200, (write) => changeFulfilment(deps, { shop, actor, expected, write }, { orderId, fulfilmentId }, body), {
          assertVisible: () => readOrder(deps, { shopId: shop.id }, orderId),
        }),
      {
        access: 'fulfilment',
        versioned: true,
        idempotent: true,
        params: FulfilmentIdParams,
        body: ChangeFulfilment,
        response: { 200: FulfilmentRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'updateFulfilment',
          summary: 'Updates the tracking of a fulfilment',
          description:
            'Allowed in every status of the order. The sent units do not change. If nothing changes, no message is sent. An order accepts 100 updates; then the response is 409.',
        },
      },
    )
    .post(
      '/v2/orders/:orderId/notes',
      ({ params, body, shop, actor, once }) =>
        once(201, (write) => addOrderNote(deps, { shop, actor, write }, params.orderId, body.text), {
          assertVisible: () => readOrder(deps, { shopId: shop.id }, params.orderId),
        }),
      {
        access: 'management',
        idempotent: true,
        params: OrderIdParam,
        body: CreateNote,
        response: { 201: NoteRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'createOrderNote',
          summary: 'Creates a note on an order',
          description:
            "For the shop's staff, in every status of the order. Shoppers never see notes. `notes` of the order lists them; they cannot be changed or deleted. An order has at most 100 notes; then the response is 409.",
        },
      },
    )
