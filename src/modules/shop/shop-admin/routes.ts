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
        detail: { operationId: 'listShops', summary: 'Lists shops', description: 'Returns shops of all merchants, newest first.' },
      },
    )
    .get('/admin/shops/:id', async ({ params }) => adminShopView(await readShop(deps, params.id)), {
      access: 'superAdmin',
      versioned: true,
      params: RecordId,
      response: { 200: AdminShop, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getShop', summary: 'Returns a shop' },
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
          operationId: 'updateShopStatus',
          summary: 'Suspends or restores a shop',
          description:
            "A suspended shop is 404 on every public path, and checkouts are 409. Payments in progress, refunds and fulfilment continue. Its merchant and keys still manage it, and its customers still read their orders. `ACTIVE` and `KYB_VERIFIED` both restore it: it becomes `KYB_VERIFIED` if the merchant's KYB record is approved, otherwise `ACTIVE`. Setting the current status changes nothing. Any other change is 409.",
        },
      },
    )
