import { AppError } from '../../../core/errors.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified } from '../../../http/schema.ts'
import type { MemberDeps } from '../../identity/member/index.ts'
import { shopCacheKey } from '../../shop/shop/index.ts'
import { type PaymentMethodDeps, paymentMethodsOf, resolvePaymentMethods, setPaymentMethods } from './index.ts'
import { PaymentMethods, ResolvedMethods, SetPaymentMethods, ShopUrlParam } from './model.ts'

export const paymentMethodRoutes = (deps: HttpDeps & PaymentMethodDeps & MemberDeps) =>
  routes(deps, 'Payment methods')
    .get('/shops/v2/payment-methods', ({ shop }) => paymentMethodsOf(deps, shop), {
      access: 'merchant',
      versioned: true,
      response: { 200: PaymentMethods, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listPaymentMethods',
        summary: 'Returns the payment methods',
        description:
          "Returns the shop's own choices. For a method that is left out, the partnership's and the KYB cohort's defaults apply.",
      },
    })
    .put('/shops/v2/payment-methods', ({ shop, body, actor, expected }) => setPaymentMethods(deps, { shop, actor, expected }, body), {
      access: 'merchant',
      largeJson: true,
      versioned: true,
      body: SetPaymentMethods,
      response: { 200: PaymentMethods, ...errorResponses(401, 403, 404, 413, 415) },
      detail: {
        operationId: 'replacePaymentMethods',
        summary: 'Replaces the payment methods',
        description:
          'Replaces all choices. For a method that you leave out, the next step of the resolver applies. Send the processor with its publishable key; a secret key is 400. Settings that can never be used are stored, and `warnings` explains them. Only the role OWNER changes `manual`, because it says where money goes; others are 403.',
      },
    })

export const resolverRoutes = (deps: HttpDeps & PaymentMethodDeps) =>
  routes(deps, 'Payment methods').get(
    '/checkout/:shopUrl/payment-intent-resolver',
    async ({ params: { shopUrl }, request }) => {
      const wait = await deps.resolverLimit.take(deps.limitKey(request))
      if (wait !== undefined)
        throw new AppError('RATE_LIMITED', 'Too many requests within a minute: try again', { retryAfterSeconds: wait })
      const compute = async () => JSON.stringify(await resolvePaymentMethods(deps, shopUrl))
      return deps.resolverAnswers.respond(request, compute, shopCacheKey(shopUrl)) as never
    },
    {
      fastRead: 'resolver',
      access: 'public',
      anyQuery: true,
      params: ShopUrlParam,
      response: { 200: ResolvedMethods, 304: notModified, ...errorResponses(404, 429) },
      detail: {
        operationId: 'resolvePaymentMethods',
        summary: 'Resolves the payment methods of a shop',
        description:
          "Returns what a payment page can offer. `shopUrl` is the shop's handle or a verified host name of its storefront, without a port and not case-sensitive. For each method, the first usable choice applies: the shop's, its partnership's, then its KYB cohort's. A processor is skipped if it does not respond, has no publishable key for the shop's mode, or does not support the shop's currency; `meta.chain` lists the reasons. `card` is null if no processor is left. The sandbox is never returned. `manual` lists payments outside souk. Limit: sixty requests a minute from a client address (429). Queries are ignored. A suspended shop is 404.",
      },
    },
  )
