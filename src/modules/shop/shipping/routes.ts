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
        operationId: 'listShippingCountries',
        summary: 'Lists the countries to which a shop ships',
        description:
          "Returns the countries that the shop's shipping methods cover, by name, with their provinces. If a country is covered in part, only those provinces are returned. A shop without shipping methods ships to every country.",
      },
    },
  )
