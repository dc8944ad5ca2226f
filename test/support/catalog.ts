/** Creates shops and products for tests. */

import { system } from '../../src/core/command-context.ts'
import type { PageSlice } from '../../src/lib/page.ts'
import { sliceOf } from '../../src/lib/page.ts'
import type { ProductInput } from '../../src/modules/catalog/products/domain.ts'
import { createProduct } from '../../src/modules/catalog/products/service.ts'
import type { Answer, TestApp } from './app.ts'

export const usd = (amount: number) => ({ amount, currency: 'USD' })

/** Returns a page slice, parsed from query values as a list does. */
export const pageSlice = (page: number, limit: number): PageSlice => sliceOf({ page: String(page), limit: String(limit) })

export async function shopIn(app: TestApp, settings: Parameters<TestApp['merchant']>[0] = {}) {
  const merchant = await app.merchant(settings)
  const { shop, secretKey } = merchant
  const list = `/product-v2/public/shop/${shop.name}`
  return {
    ...merchant,
    list,
    /** Creates a product without the routes; by default it is active and its price is 0. */
    add: (input: ProductInput & { title: string }) =>
      createProduct(
        app.deps,
        { shop: { id: shop.id, currency: shop.currency }, actor: system },
        { status: 'ACTIVE', variants: [{ price: { amount: 0, currency: shop.currency } }], ...input },
      ),
    post: (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
      app.call('POST', path, { key: secretKey, body, headers }),
    patch: (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
      app.call('PATCH', path, { key: secretKey, body, headers }),
    /** Changes stock by `{ delta }`, or sets it by `{ counted }`. */
    count: (productId: string, variantId: string, body: unknown): Promise<Answer> =>
      app.call('POST', `/product-v2/${productId}/variants/${variantId}/stock`, { key: secretKey, body }),
    put: (path: string, body: unknown): Promise<Answer> => app.call('PUT', path, { key: secretKey, body }),
    get: (path: string): Promise<Answer> => app.call('GET', path, { key: secretKey }),
    delete: (path: string): Promise<Answer> => app.call('DELETE', path, { key: secretKey }),
    /** Returns the titles in the public list of the shop. */
    async titles(query = ''): Promise<string[]> {
      const answer = await app.call('GET', `${list}${query}`)
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
      return answer.body.data.map(({ title }: { title: string }) => title)
    },
  }
}
