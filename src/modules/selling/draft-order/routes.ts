import { t } from 'elysia'
import type { ListRequest } from '../../../core/csv-list.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
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
        detail: { summary: "The shop's draft orders", description: 'Newest first.' },
      },
    )
    .post('/v2/orders/drafts', ({ body, shop, actor, once }) => once(201, (write) => createDraft(deps, { shop, actor, write }, body)), {
      access: 'management',
      versioned: true,
      idempotent: true,
      body: CreateDraftOrder,
      response: { 201: DraftOrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
      detail: {
        summary: 'Draw up an order for somebody to pay',
        description:
          "A draft is a cart whose prices the shop has fixed, and a link (`payUrl`) by which it is paid; then it is an order like any other. Totals are made as those of a cart, with the shop's shipping and tax of the moment. Discounts that have no code do not come to it; one of a code counts as it would in a cart, with its limits when the order is placed, and never gives way silently: while it cannot be had, the draft cannot be paid. Stock is not reserved, and not looked at, before the order is placed. Whoever pays may say what the shop has left open (e-mail, addresses, shipping method) and put gift cards on it, and nothing else: changing what is `settled`, the lines, or the discount by the routes of its cart is 409 for everybody. It expires 90 days after the last change by the shop, and is forgotten 90 days after it is over. 409 for more than any order can be, and with 10,000 drafts.",
      },
    })
    .get('/v2/orders/drafts/:id', ({ params, shop }) => readDraft(deps, shop.id, params.id), {
      access: 'orderRead',
      versioned: true,
      params: RecordId,
      response: { 200: DraftOrderRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A draft order of the shop' },
    })
    .patch(
      '/v2/orders/drafts/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeDraft(deps, { shop, actor, expected, write }, params.id, body), {
          sees: () => readDraft(deps, shop.id, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        body: ChangeDraftOrder,
        response: { 200: DraftOrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Change a draft order',
          description:
            'Fields that are left out stay as they are; null clears, and leaves it to whoever pays. `lines` are all that there are then; a variant that is on the draft keeps its price unless another is said. 409 for one that is being paid, was paid or has expired. Whoever looks at it just then pays what they saw, or is shown it anew.',
        },
      },
    )
    .delete(
      '/v2/orders/drafts/:id',
      async ({ params, shop, actor, expected, set }) => {
        await removeDraft(deps, { shop, actor, expected }, params.id)
        set.status = 204
      },
      {
        access: 'management',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'It is gone, and its link with it' }), ...errorResponses(401, 403, 404, 409) },
        detail: {
          summary: 'Delete a draft order',
          description:
            '409 for one whose order waits for its payment (cancel the order first), or was paid. An order of it that came to nothing stays.',
        },
      },
    )
    .post(
      '/v2/orders/drafts/:id/send',
      ({ params, shop, actor, once }) =>
        once(200, (write) => sendDraft(deps, { shop, actor, write }, params.id), { sees: () => readDraft(deps, shop.id, params.id) }),
      {
        access: 'management',
        idempotent: true,
        params: RecordId,
        response: { 200: DraftOrderRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Mail the link of a draft order',
          description:
            'To its e-mail address, in the language of the shop. Its version does not change. 409 where it has no address, is not OPEN, was sent 20 times, is changed at the same moment, or no mail server is set: then pass on `payUrl`.',
        },
      },
    )
