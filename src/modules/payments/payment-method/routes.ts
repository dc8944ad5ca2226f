import { AppError } from '../../../core/errors.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified } from '../../../http/schema.ts'
import { shopCacheKey } from '../../shop/shop/index.ts'
import { type PaymentMethodDeps, paymentMethodsOf, resolvePaymentMethods, setPaymentMethods } from './index.ts'
import { PaymentMethods, ResolvedMethods, SetPaymentMethods, ShopUrlParam } from './model.ts'

export const paymentMethodRoutes = (deps: HttpDeps & PaymentMethodDeps) =>
  routes(deps, 'Payment methods')
    .get('/shops/v2/payment-methods', ({ shop }) => paymentMethodsOf(deps, shop), {
      access: 'merchant',
      versioned: true,
      response: { 200: PaymentMethods, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'Payment methods',
        description:
          'What the shop says of the ways to pay in it. A method that is left out is for its partnership and its KYB cohort to say.',
      },
    })
    .put('/shops/v2/payment-methods', ({ shop, body, actor, expected }) => setPaymentMethods(deps, { shop, actor, expected }, body), {
      access: 'merchant',
      largeJson: true,
      versioned: true,
      body: SetPaymentMethods,
      response: { 200: PaymentMethods, ...errorResponses(401, 403, 404, 413, 415) },
      detail: {
        summary: 'Replace the payment methods',
        description:
          'As a whole: what is left out falls to the next step of the resolver. A processor stands beside its key and is never guessed from it; what begins like a secret key is 400. What can never be chosen is kept, and `warnings` say why.',
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
        summary: 'What a payment page can render',
        description:
          'By the handle of the shop, or by a host name of its storefront that is verified, in any case and spelling, without a port. Of each method the first that can be used: what the shop has chosen, the default of its partnership, the default of its KYB cohort. A processor that does not answer just now, that has no publishable key of the mode of the shop or that cannot say its currency is passed over, and `meta.chain` says so. `card` is null where nothing is left; the sandbox is never offered to a page. Sixty requests a minute of an address, then 429. A query string is ignored. One that is suspended is 404.',
      },
    },
  )
