import { t } from 'elysia'
import type { ListRequest } from '../../../core/csv-list.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import type { DraftStatus } from './domain.ts'
import { changeDraft, createDraft, type DraftDeps, listDrafts, pieceOfDrafts, readDraft, removeDraft, sendDraft } from './index.ts'
import { ChangeDraftOrder, CreateDraftOrder, DraftOrderRecord, DraftOrders, ListDraftOrders } from './model.ts'

export const draftOrderRoutes = (deps: HttpDeps & DraftDeps) =>
  routes(deps, 'Orders')
    .get(
      '/v2/orders/drafts',
      ({ query: { page, limit, status }, shop }) => listDrafts(deps, { shopId: shop.id, status }, sliceOf({ page, limit })),
      {
        access: 'orderRead',
        csv: csvOf('drafts', DraftOrders, ({ shop, query: { status } }: ListRequest<{ status?: DraftStatus }>, slice) =>
          pieceOfDrafts(deps, { shopId: shop.id, status }, slice),
        ),
        query: ListDraftOrders,
        response: { 200: DraftOrders, ...errorResponses(401, 403, 404) },
        detail: { operationId: 'listDraftOrders', summary: 'Lists draft orders', description: 'Returns draft orders, newest first.' },
      },
    )
    .post('/v2/orders/drafts', ({ body, shop, actor, once }) => once(201, (write) => createDraft(deps, { shop, actor, write }, body)), {
      access: 'management',
      versioned: true,
      idempotent: true,
      body: CreateDraftOrder,
      response: { 201: DraftOrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
      detail: {
        operationId: 'createDraftOrder',
        summary: 'Creates a draft order',
        description: `A draft order is a cart with fixed prices and a link (\`payUrl\`) on which the customer pays it; then it becomes an order. Totals are computed like those of a cart, with the shop's current shipping and tax settings. Automatic discounts do not apply. A discount code applies as in a cart, with its limits checked when the order is placed; while the code cannot be used, the draft cannot be paid. Stock is checked and reserved when the order is placed.

The customer can enter what the shop left open (e-mail address, addresses, shipping method) and apply gift cards. Changing a \`settled\` field, the lines or the discount with the cart's routes is 409. A draft expires 90 days after the shop's last change, and is deleted 90 days after it is closed. The response is 409 if the total is above the maximum amount, or if the shop has 10,000 drafts.`,
      },
    })
    .get('/v2/orders/drafts/:id', ({ params, shop }) => readDraft(deps, shop.id, params.id), {
      access: 'orderRead',
      versioned: true,
      params: RecordId,
      response: { 200: DraftOrderRecord, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getDraftOrder', summary: 'Returns a draft order' },
    })
    .patch(
      '/v2/orders/drafts/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeDraft(deps, { shop, actor, expected, write }, params.id, body), {
          assertVisible: () => readDraft(deps, shop.id, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        body: ChangeDraftOrder,
        response: { 200: DraftOrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'updateDraftOrder',
          summary: 'Updates a draft order',
          description:
            'Fields that you leave out keep their values; null clears a field, so that the customer enters it. `lines` replaces all lines; a variant that is in the draft keeps its price unless you send another. The response is 409 if the draft is being paid, was paid or has expired. A customer who has the draft open either pays what was shown or sees the new version.',
        },
      },
    )
    .delete(
      '/v2/orders/drafts/:id',
      ({ params, shop, actor, expected, set }) => noContent(set, removeDraft(deps, { shop, actor, expected }, params.id)),
      {
        access: 'management',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'The draft order and its link were deleted' }), ...errorResponses(401, 403, 404, 409) },
        detail: {
          operationId: 'deleteDraftOrder',
          summary: 'Deletes a draft order',
          description:
            'The response is 409 if the draft was paid, or if its order is unpaid (cancel the order first). Cancelled and expired orders remain.',
        },
      },
    )
    .post(
      '/v2/orders/drafts/:id/send',
      ({ params, shop, actor, once }) =>
        once(200, (write) => sendDraft(deps, { shop, actor, write }, params.id), {
          assertVisible: () => readDraft(deps, shop.id, params.id),
        }),
      {
        access: 'management',
        idempotent: true,
        params: RecordId,
        response: { 200: DraftOrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'sendDraftOrder',
          summary: 'Sends a draft order by e-mail',
          description:
            "Sends the link to the draft's e-mail address, in the shop's language. The version does not change. The response is 409 if the draft has no e-mail address, is not OPEN, was sent 20 times or is being changed, or if there is no mail server. In that case pass on `payUrl`.",
        },
      },
    )
