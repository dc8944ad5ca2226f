import type { ListRequest } from '../../../core/csv-list.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { pageResponse } from '../../../http/web-page.ts'
import { sliceOf } from '../../../lib/page.ts'
import { CartRecord } from '../cart/model.ts'
import {
  type AbandonedCartDeps,
  exportKeyOf,
  listAbandonedCarts,
  openUnsubscribePage,
  pieceOfAbandonedCarts,
  restoreCart,
  unsubscribe,
} from './index.ts'
import { AbandonedCarts, abandonedCartTable, ListAbandonedCarts, PageToken, RestoreCart } from './model.ts'

type Query = Omit<typeof ListAbandonedCarts.static, 'page' | 'limit'>
const filterOf = (shopId: string, { mailed, recovered }: Query) => ({
  ...{ shopId, isRecovered: recovered === 'true' },
  mailed: mailed === undefined ? undefined : mailed === 'true',
})
/** Mail programs post without a form (RFC 8058). */
const formBytesMax = 1024

export const abandonedCartRoutes = (deps: HttpDeps & AbandonedCartDeps) =>
  routes(deps, 'Carts')
    .get(
      '/carts/abandoned',
      ({ query: { page, limit, ...query }, shop }) => listAbandonedCarts(deps, filterOf(shop.id, query), sliceOf({ page, limit })),
      {
        access: 'management',
        csv: csvOf(
          'abandoned-carts',
          AbandonedCarts,
          ({ shop, query }: ListRequest<Query>, slice) => pieceOfAbandonedCarts(deps, filterOf(shop.id, query), slice),
          { table: abandonedCartTable, keyOf: exportKeyOf },
        ),
        query: ListAbandonedCarts,
        response: { 200: AbandonedCarts, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'listAbandonedCarts',
          summary: 'Lists abandoned carts',
          description:
            'Returns open carts with lines and an e-mail address that were not changed for an hour, the last changed first; carts of draft orders are left out. `total` is exact up to 2,000; above that it is 2,000 with `totalCapped: true`, and later pages still return carts. Amounts are those last shown to the shopper. The e-mail `abandoned-cart` is a setting of `PUT /shops/v2/mail`.',
        },
      },
    )
    .post('/cart/restore', ({ body: { token }, shop, principal }) => restoreCart(deps, { shop, principal }, token), {
      access: 'cart',
      body: RestoreCart,
      response: { 200: CartRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
      detail: {
        operationId: 'restoreCart',
        summary: 'Returns the cart of an abandoned-cart e-mail',
        description:
          "For a storefront with its own page (`pages.cart` of `PATCH /shops/v2`), which the e-mail opens with `?token=`. The link is valid for 14 days and can be used repeatedly. An order of the cart is then marked `fromAbandonedCart`. The response is 404 for an invalid link, and for a customer's cart without that customer's token: ask the customer to log in.",
      },
    })

/** The page of the link that ends each mail. It is not in the API documents, and answers 200 in every case. */
export const unsubscribePageRoutes = (deps: HttpDeps & AbandonedCartDeps) =>
  routes(deps, 'Carts')
    .get('/pages/unsubscribe/:token', async ({ params: { token } }) => pageResponse(await openUnsubscribePage(deps, token)) as never, {
      access: 'public',
      anyQuery: true,
      params: PageToken,
      detail: { hide: true },
    })
    .post(
      '/pages/unsubscribe/:token',
      async ({ params: { token }, upload }) => {
        await upload.bytes()
        return pageResponse(await unsubscribe(deps, token)) as never
      },
      {
        access: 'public',
        anyQuery: true,
        params: PageToken,
        upload: { types: ['application/x-www-form-urlencoded', 'multipart/form-data'], bytesMax: formBytesMax },
        detail: { hide: true },
      },
    )
