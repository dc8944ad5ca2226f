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
        operationId: 'goLive',
        summary: 'Switches the shop to live mode',
        description: `Changes the mode from \`TEST\` to \`LIVE\`, so that the shop takes real money. This cannot be undone. The response is 403 until the merchant's KYB record is approved. It is 409 while an order awaits payment, confirmation or a refund, and if the shop is \`LIVE\` already.

The shop gets new keys, and its test keys stop working at once. The response contains the publishable key; read the secret key with \`GET /shops/v2/private-key\`. The \`sandbox\`, test keys and accounts for test money stop working, and gift cards that were issued in test mode are disabled. Orders keep their \`mode\`: lists show all of them, and customers' totals count those of the current mode.`,
      },
    },
  )
