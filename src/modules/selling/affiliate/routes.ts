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
        operationId: 'createAffiliate',
        summary: 'Creates an affiliate',
        description:
          'An affiliate is a partner who sends shoppers to the shop by links with a code, and earns a commission on what they buy.',
      },
    })
    .get('/affiliates', ({ query, shop }) => listAffiliates(deps, shop, sliceOf(query)), {
      access: 'management',
      csv: csvOf('affiliates', Affiliates, ({ shop }, slice) => listAffiliates(deps, shop, slice)),
      query: t.Object(pageQuery),
      response: { 200: Affiliates, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'listAffiliates', summary: 'Lists affiliates', description: 'Returns affiliates, newest first.' },
    })
    .get('/affiliates/:id', ({ params, shop }) => affiliateOf(deps, shop, params.id), {
      access: 'management',
      versioned: true,
      params: RecordId,
      response: { 200: AffiliateRecord, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getAffiliate',
        summary: 'Returns an affiliate',
        description:
          'Includes the clicks of the last 30 days and the commissions. A commission is pending during the refund window of 14 days. A refund takes back its share, also later: for lines, what they earned; for any other amount, in proportion to the order.',
      },
    })
    .patch(
      '/affiliates/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeAffiliate(deps, { shop, actor, expected, write }, params.id, body), {
          assertVisible: () => affiliateOf(deps, shop, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        body: ChangeAffiliate,
        response: { 200: AffiliateRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'updateAffiliate',
          summary: 'Updates an affiliate',
          description:
            'Fields that you leave out keep their values. A new rate applies to new orders. If the code changes, carts that came by the old code are no longer attributed.',
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
          operationId: 'createAffiliateClick',
          summary: "Records a click on an affiliate's link",
          description:
            "Clicks are counted for 30 days. With `cartId`, the cart is attributed to this affiliate, replacing any other; an order within 30 days earns the commission. The response is 404 if no active affiliate of the shop has the code, and 409 if the cart is not open. A publishable key cannot reach a customer's cart: set the cart's `affiliateCode` with the customer's token.",
        },
      },
    )
