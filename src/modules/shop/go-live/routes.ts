import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { shopView } from '../shop/model.ts'
import { type GoLiveDeps, goLive } from './index.ts'
import { LiveShop } from './model.ts'

export const goLiveRoutes = (deps: HttpDeps & GoLiveDeps) =>
  routes(deps, 'Shops').post(
    '/shops/v2/go-live',
    ({ shop, actor, once }) =>
      once(200, (write) =>
        goLive(deps, { shop, actor, write }, ({ shop: live, publishableKey }) => ({ shop: shopView(live), publishableKey })),
      ),
    {
      access: 'owner',
      idempotent: true,
      response: { 200: LiveShop, ...errorResponses(401, 403, 404, 409, 422) },
      detail: {
        summary: 'Take real money from now on',
        description:
          'Makes a shop of mode `TEST` one of mode `LIVE`; nothing takes that back. 403 before the KYB record of the merchant is approved; 409 while an order waits for its payment, is not confirmed yet or gives money back, and for a shop that is `LIVE`. Its test keys end at once and it has new ones: the publishable one is in the answer, the secret one is read by `GET /shops/v2/private-key`. The `sandbox`, test keys and accounts of test money work no more; gift cards that were issued in test are disabled. Orders keep their `mode`, lists show all of them, and the numbers of customers count those of the present one.',
      },
    },
  )
