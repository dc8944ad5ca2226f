import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified } from '../../../http/schema.ts'
import { assertOriginOf } from '../../../http/shop.ts'
import { findPublicShopByName, type ShopDeps } from '../shop/index.ts'
import { ShopNameParam } from '../shop/model.ts'
import { listServedCountries } from './index.ts'
import { ServedCountries } from './model.ts'

export const servedCountryRoutes = (deps: HttpDeps & ShopDeps) =>
  routes(deps, 'Shops').get(
    '/shops/v2/public/name/:shopName/countries',
    async ({ params, request }) => {
      await assertOriginOf(deps, params.shopName, request)
      return deps.answers.respond(request, async () => {
        const { shippingMethods } = await findPublicShopByName(deps, params.shopName)
        return JSON.stringify({ data: await listServedCountries(shippingMethods) })
      }) as never
    },
    {
      access: 'public',
      params: ShopNameParam,
      response: { 200: ServedCountries, 304: notModified, ...errorResponses(403, 404) },
      detail: {
        summary: 'Where a shop sends to',
        description:
          'The countries that its shipping methods reach, by name, with their provinces; of a country that is reached in part, those provinces alone. A shop without methods sends everywhere.',
      },
    },
  )
