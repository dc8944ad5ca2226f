import { t } from 'elysia'
import { Instant, nullable, oneOf, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Shop, shopStatuses } from '../shop/domain.ts'
import { ShopRecord, shopView } from '../shop/model.ts'

export const AdminShop = t.Object(
  {
    ...ShopRecord.properties,
    merchantId: t.String(),
    verifiedAt: nullable(t.String({ ...Instant, description: 'When it first became `KYB_VERIFIED`' })),
  },
  { title: 'AdminShop' },
)
export const AdminShops = pageOf(AdminShop)
export const ListShops = t.Object({
  ...pageQuery,
  q: t.Optional(
    text(200, {
      minLength: 1,
      description: 'Part of the handle or title (a to z are not case-sensitive), or a whole id of a shop or merchant',
    }),
  ),
  status: t.Optional(oneOf(shopStatuses)),
  mode: t.Optional(oneOf(['TEST', 'LIVE'])),
})
export const ChangeShopStatus = t.Object({ status: oneOf(shopStatuses) })

/** Renders a shop for an operator: the owner's view, and when the shop was verified. */
export const adminShopView = (shop: Shop) => ({ ...shopView(shop), ...isoTimes(pick(shop, 'verifiedAt')) })
