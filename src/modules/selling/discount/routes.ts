import { t } from 'elysia'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
import { errorResponses, pageQuery, RecordId } from '../../../http/schema.ts'
import { parseInstant } from '../../../lib/instant.ts'
import { sliceOf } from '../../../lib/page.ts'
import { changeDiscount, createDiscount, type DiscountDeps, listDiscounts, readDiscount, removeDiscount } from './index.ts'
import { ChangeDiscount, CreateDiscount, DiscountRecord, Discounts } from './model.ts'

const msOf = (text: string | null | undefined) => (typeof text === 'string' ? parseInstant(text) : text)
/** Returns the body with its times in milliseconds. */
const timesInMs = <Body extends { startsAt?: string | null; endsAt?: string | null }>({ startsAt, endsAt, ...rest }: Body) => ({
  ...rest,
  startsAt: msOf(startsAt),
  endsAt: msOf(endsAt),
})

export const discountRoutes = (deps: HttpDeps & DiscountDeps) =>
  routes(deps, 'Discounts')
    .get('/discounts', ({ query, shop }) => listDiscounts(deps, shop.id, sliceOf(query)), {
      access: 'management',
      query: t.Object(pageQuery),
      csv: csvOf('discounts', Discounts, ({ shop }, slice) => listDiscounts(deps, shop.id, slice)),
      response: { 200: Discounts, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listDiscounts',
        summary: 'Lists discounts',
        description: 'Returns discounts of every status, newest first, except deleted ones.',
      },
    })
    .post(
      '/discounts',
      ({ body, shop, actor, once }) => once(201, (write) => createDiscount(deps, { shop, actor, write }, timesInMs(body))),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        body: CreateDiscount,
        response: { 201: DiscountRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'createDiscount',
          summary: 'Creates a discount',
          description:
            'A discount with a `code` applies to carts that have the code; one without applies to all carts. Of the discounts that could apply to a cart, the highest one does, in addition to one FREE_SHIPPING. If several are equal, one with a code comes first, then the oldest. PERCENT is rounded half-even; FIXED takes off at most the amount of the eligible lines. The discount is divided among the lines in proportion (largest remainder), and each line is taxed on the rest. The response is 409 if another discount of the shop has the code, if the shop has 10,000 discounts, or if it has 50 that are ACTIVE, automatic and not ended.',
        },
      },
    )
    .get('/discounts/:id', ({ params, shop }) => readDiscount(deps, shop.id, params.id), {
      access: 'management',
      versioned: true,
      params: RecordId,
      response: { 200: DiscountRecord, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getDiscount', summary: 'Returns a discount' },
    })
    .patch(
      '/discounts/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeDiscount(deps, { shop, actor, expected, write }, params.id, timesInMs(body)), {
          assertVisible: () => readDiscount(deps, shop.id, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        body: ChangeDiscount,
        response: { 200: DiscountRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'updateDiscount',
          summary: 'Updates a discount',
          description:
            'Fields that you leave out keep their values; null clears. Open carts get the new discount, which a checkout reports like a changed price; orders keep theirs. A new `usageLimit` includes earlier orders. When a shop goes live, all its discounts are DISABLED and their use is counted from 0.',
        },
      },
    )
    .delete(
      '/discounts/:id',
      ({ params, shop, actor, expected, set }) => noContent(set, removeDiscount(deps, { shop, actor, expected }, params.id)),
      {
        access: 'management',
        versioned: true,
        params: RecordId,
        response: {
          204: t.Void({ description: 'The discount was deleted. Orders keep it' }),
          ...errorResponses(401, 403, 404),
        },
        detail: { operationId: 'deleteDiscount', summary: 'Deletes a discount', description: 'Its code can be used for another discount.' },
      },
    )
