/** Orders that a shop has drawn up, and whoever pays them. */
import type { Answer, Json } from './app.ts'
import { ok, type Selling } from './selling.ts'

/** The routes of drafts, as the shop's people call them. */
export const draftsOf = (shop: Selling) => ({
  create: (body: Json = {}, headers: Record<string, string> = {}): Promise<Answer> =>
    shop.post('/v2/orders/drafts', { lines: [{ variantId: shop.variantId, quantity: 1 }], ...body }, headers),
  read: async (id: string): Promise<Answer['body']> => ok(await shop.get(`/v2/orders/drafts/${id}`)).body,
  change: (id: string, body: Json, headers: Record<string, string> = {}): Promise<Answer> =>
    shop.app.call('PATCH', `/v2/orders/drafts/${id}`, { token: shop.token, body, headers }),
  remove: (id: string, headers: Record<string, string> = {}): Promise<Answer> =>
    shop.app.call('DELETE', `/v2/orders/drafts/${id}`, { token: shop.token, headers }),
})
