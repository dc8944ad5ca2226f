import { t } from 'elysia'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
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
      detail: { summary: "The shop's discounts", description: 'Newest first, whatever their status; not those that were removed.' },
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
          summary: 'Make a discount',
          description:
            'With a `code` it counts for carts that have the code, without one for all. Of all that could count for a cart the one that takes off the most does (of equal ones that with a code, then the oldest), beside one FREE_SHIPPING. PERCENT is half-even of the lines that it is for; FIXED takes off no more than these come to. What is taken off is parted among the lines in proportion, by largest remainder, and each is taxed on what is left. 409 when another discount of the shop has the code, with 10,000 discounts, and with 50 that are ACTIVE, have no code and have not ended.',
        },
      },
    )
    .get('/discounts/:id', ({ params, shop }) => readDiscount(deps, shop.id, params.id), {
      access: 'management',
      versioned: true,
      params: RecordId,
      response: { 200: DiscountRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A discount of the shop' },
    })
    .patch(
      '/discounts/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeDiscount(deps, { shop, actor, expected, write }, params.id, timesInMs(body)), {
          sees: () => readDiscount(deps, shop.id, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        body: ChangeDiscount,
        response: { 200: DiscountRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Change a discount',
          description:
            'Fields that are left out stay as they are; null clears. Carts come to what it makes of them from then on, which a checkout tells like a changed price; orders keep what they have. A `usageLimit` counts the orders of before it, too. A shop that goes live has all of its discounts DISABLED, and their uses begin anew.',
        },
      },
    )
    .delete(
      '/discounts/:id',
      async ({ params, shop, actor, expected, set }) => {
        await removeDiscount(deps, { shop, actor, expected }, params.id)
        set.status = 204
      },
      {
        access: 'management',
        versioned: true,
        params: RecordId,
        response: {
          204: t.Void({ description: 'The discount is gone; orders keep what they have of it' }),
          ...errorResponses(401, 403, 404),
        },
        detail: { summary: 'Remove a discount', description: 'Its code is free from then on.' },
      },
    )
