import { Elysia, t } from 'elysia'
import { access } from '../../http/access.ts'
import { actorOf } from '../../http/actor.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { idempotency } from '../../http/idempotency.ts'
import { pageQuery, RecordId, refusals } from '../../http/schema.ts'
import { sliceOf } from '../../lib/page.ts'
import type { CartDeps } from '../cart/service.ts'
import { AffiliateRecord, Affiliates, ChangeAffiliate, ClickRecord, CreateAffiliate, RecordClick } from './model.ts'
import { type AffiliateDeps, affiliateOf, changeAffiliate, createAffiliate, listAffiliates, recordClick } from './service.ts'

export type AffiliateRouteDeps = HttpDeps & AffiliateDeps & CartDeps

export const affiliateRoutes = (deps: AffiliateRouteDeps) =>
  new Elysia({ tags: ['Affiliates'] })
    .use(access(deps))
    .use(idempotency(deps))
    .post(
      '/affiliates',
      ({ body, shop, principal, request, once }) =>
        once(201, (keep) => createAffiliate(deps, { shop, actor: actorOf(principal, request), keep }, body)),
      {
        access: 'management',
        idempotent: true,
        body: CreateAffiliate,
        response: { 201: AffiliateRecord, ...refusals(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Create an affiliate',
          description: 'A partner who sends shoppers, known by a code, for a share of what they buy.',
        },
      },
    )
    .get('/affiliates', ({ query, shop }) => listAffiliates(deps, shop, sliceOf(query)), {
      access: 'management',
      query: t.Object(pageQuery),
      response: { 200: Affiliates, ...refusals(401, 403, 404) },
      detail: { summary: "The shop's affiliates", description: 'Newest first.' },
    })
    .get('/affiliates/:id', ({ params, shop }) => affiliateOf(deps, shop, params.id), {
      access: 'management',
      params: RecordId,
      response: { 200: AffiliateRecord, ...refusals(401, 403, 404) },
      detail: {
        summary: 'An affiliate',
        description:
          'With the clicks of the last 30 days and what was earned. A commission is pending for the 14 days of the refund window; a refund takes back its share, also later.',
      },
    })
    .patch(
      '/affiliates/:id',
      ({ params, body, shop, principal, request, once }) =>
        once(200, (keep) => changeAffiliate(deps, { shop, actor: actorOf(principal, request), keep }, params.id, body)),
      {
        access: 'management',
        idempotent: true,
        params: RecordId,
        body: ChangeAffiliate,
        response: { 200: AffiliateRecord, ...refusals(401, 403, 404, 409, 413, 415, 422) },
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
        response: { 201: ClickRecord, ...refusals(401, 403, 404, 409, 413, 415) },
        detail: {
          summary: "Record a click on an affiliate's link",
          description:
            "Counted for 30 days. With `cartId` the cart is attributed to the affiliate, whoever it was attributed to before; an order within 30 days earns the commission. A code that no active affiliate of the shop has is 404. A customer's own cart is out of a publishable key's reach: set `affiliateCode` on it with the customer's token. 409 when the cart is not open.",
        },
      },
    )
