import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { CartRecord } from '../../selling/cart/model.ts'
import type { OrderDeps } from '../../selling/order/index.ts'
import { takeHandOff } from './index.ts'
import { TakeHandOff } from './model.ts'

export const handOffRoutes = (deps: HttpDeps & OrderDeps) =>
  routes(deps, 'Carts').post('/cart/handoff', ({ body: { token }, shop, principal }) => takeHandOff(deps, { shop, principal }, token), {
    access: { by: 'cart', while: () => deps.config.agentsEnabled },
    body: TakeHandOff,
    response: { 200: CartRecord, ...errorResponses(401, 403, 404, 413, 415) },
    detail: {
      operationId: 'getHandOffCart',
      summary: "Returns the cart of an agent's checkout",
      description:
        'For a storefront with its own page (`pages.checkout` of `PATCH /shops/v2`), which an agent opens with `?token=` when the shopper has to continue. The cart is that of the checkout session. The response is 404 for an invalid link and for a session that was paid, cancelled or has ended.',
    },
  })
