import { t } from 'elysia'
import { ShopRecord } from '../shop/model.ts'

export const LiveShop = t.Object(
  { shop: ShopRecord, publishableKey: t.String({ description: 'The new publishable key' }) },
  { title: 'LiveShop' },
)
