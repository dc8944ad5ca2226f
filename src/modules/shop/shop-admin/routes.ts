import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import { listShops, readShop } from '../shop/index.ts'
import { type ShopAdminDeps, setShopStatus } from './index.ts'
import { AdminShop, AdminShops, adminShopView, ChangeShopStatus, ListShops } from './model.ts'

export const shopAdminRoutes = (deps: HttpDeps & ShopAdminDeps) =>
  routes(deps, 'Administration')
    .get(
      '/admin/shops',
      async ({ query: { q, status, mode, ...page } }) => {
        const { data, ...rest } = await listShops(deps, { q, status, mode }, sliceOf(page))
        return { data: data.map(adminShopView), ...rest }
      },
      {
        access: 'superAdmin',
        query: ListShops,
        response: { 200: AdminShops, ...errorResponses(401, 403) },
        detail: { summary: 'Shops', description: 'Of all merchants, newest first.' },
      },
    )
    .get('/admin/shops/:id', async ({ params }) => adminShopView(await readShop(deps, params.id)), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: AdminShop, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A shop' },
    })
    .patch(
      '/admin/shops/:id',
      async ({ params, body: { status }, actor, expected }) =>
        adminShopView(await setShopStatus(deps, { actor, expected }, params.id, status)),
      {
        access: 'superAdmin',
        versioned: true,
        params: RecordId,
        body: ChangeShopStatus,
        response: { 200: AdminShop, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          summary: 'Suspend or restore a shop',
          description:
            'A suspended shop is 404 on every public path, and nothing new is bought or paid in it (409 at the checkout). What has begun goes on: payments under way, refunds, fulfilment; its merchant and its keys go on managing it, its customers go on reading their orders. `ACTIVE` and `KYB_VERIFIED` restore it, and it is `KYB_VERIFIED` again if the KYB of its merchant is approved, also since. Asked for the status that it has, nothing changes. Anything else is 409.',
        },
      },
    )
