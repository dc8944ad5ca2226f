import { t } from 'elysia'
import { ShopRecord } from '../shop/model.ts'

export const LiveShop = t.Object(
  { shop: ShopRecord, publishableKey: t.String({ description: 'What storefronts identify themselves with from now on' }) },
  { title: 'LiveShop' },
)
