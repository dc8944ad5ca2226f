import { t } from 'elysia'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, pageQuery, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import { affiliateOf, changeAffiliate, createAffiliate, listAffiliates, type ReferringDeps, recordClick } from './index.ts'
import { AffiliateRecord, Affiliates, ChangeAffiliate, ClickRecord, CreateAffiliate, RecordClick } from './model.ts'

export const affiliateRoutes = (deps: HttpDeps & ReferringDeps) =>
  routes(deps, 'Affiliates')
    .post('/affiliates', ({ body, shop, actor, once }) => once(201, (write) => createAffiliate(deps, { shop, actor, write }, body)), {
      access: 'management',
      versioned: true,
      idempotent: true,
      body: CreateAffiliate,
      response: { 201: AffiliateRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
      detail: {
        summary: 'Create an affiliate',
        description: 'A partner who sends shoppers, known by a code, for a share of what they buy.',
      },
    })
    .get('/affiliates', ({ query, shop }) => listAffiliates(deps, shop, sliceOf(query)), {
      access: 'management',
      csv: csvOf('affiliates', Affiliates, ({ shop }, slice) => listAffiliates(deps, shop, slice)),
      query: t.Object(pageQuery),
      response: { 200: Affiliates, ...errorResponses(401, 403, 404) },
      detail: { summary: "The shop's affiliates", description: 'Newest first.' },
    })
    .get('/affiliates/:id', ({ params, shop }) => affiliateOf(deps, shop, params.id), {
      access: 'management',
      versioned: true,
      params: RecordId,
      response: { 200: AffiliateRecord, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'An affiliate',
        description:
          'With the clicks of the last 30 days and what was earned. A commission is pending for the 14 days of the refund window; a refund takes back its share, also later: one of lines what was earned by them, any other amount in proportion to the order.',
      },
    })
    .patch(
      '/affiliates/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeAffiliate(deps, { shop, actor, expected, write }, params.id, body), {
          sees: () => affiliateOf(deps, shop, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        body: ChangeAffiliate,
        response: { 200: AffiliateRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Change an affiliate',
          description:
            'Fields that are left out stay. A new rate is for orders to come; carts that came by the old code are attributed to nobody once the code has changed.',
        },
      },
    )
    .post(
      '/affiliates/clicks',
      ({ body, shop, principal, set }) => {
        set.status = 201
        return recordClick(deps, { shop, principal }, body)
      },
      {
        access: 'storefront',
        body: RecordClick,
        response: { 201: ClickRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          summary: "Record a click on an affiliate's link",
          description:
            "Counted for 30 days. With `cartId` the cart is attributed to the affiliate, whoever it was attributed to before; an order within 30 days earns the commission. A code that no active affiliate of the shop has is 404. A customer's own cart is out of a publishable key's reach: set `affiliateCode` on it with the customer's token. 409 when the cart is not open.",
        },
      },
    )
