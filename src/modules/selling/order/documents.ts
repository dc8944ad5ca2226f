import type { Database } from '../../../../db/engine.ts'
import { type Cache, createCache } from '../../../core/cache.ts'
import { etagOfVersion } from '../../../core/versions.ts'
import type { OrderLinkDeps } from '../order-link/index.ts'
import type { OrderStore } from './store.ts'
import { type FullOrder, orderView } from './view.ts'

/** An order as its shop sees it, serialized. */
type OrderDocument = { readonly shopId: string; readonly text: string; readonly etag: string }

/** The cache of orders as JSON. It is off where the engine cannot report other processes' commits. */
type OrderDocuments = {
  /** Returns an order's JSON and ETag; undefined without such an order, or if it is not available synchronously. */
  documentNow(shopId: string, id: string): Pick<OrderDocument, 'text' | 'etag'> | undefined
}

const documentsMax = 20_000
const charactersMax = 24_000_000

export type OrderCache = Cache<OrderDocument>

/** Creates the cache of orders. Every change of an order drops its entry. */
export const createOrderCache = ({ foreignVersion }: Pick<Database, 'foreignVersion'>): OrderCache =>
  createCache({ version: foreignVersion, entriesMax: documentsMax, charactersMax, charactersOf: ({ text }) => text.length })

/** Creates the reader of orders as JSON. */
export function createOrderDocuments(
  cache: OrderCache,
  { loadFullOrder }: Pick<OrderStore, 'loadFullOrder'>,
  orderLinks: OrderLinkDeps['orderLinks'],
): OrderDocuments {
  function read(id: string, urlOf: (orderId: string) => string): OrderDocument | undefined {
    const found = loadFullOrder(id)
    return found instanceof Promise ? undefined : found && documentOf(found, urlOf(id))
  }

  return {
    documentNow(shopId, id) {
      const links = orderLinks.now()
      if (!cache.isEnabled() || !links) return undefined
      const found = cache.getOrLoad(id, () => read(id, links.urlOf))
      return found instanceof Promise || found?.shopId !== shopId ? undefined : found
    },
  }
}

const documentOf = (fullOrder: FullOrder, publicUrl: string): OrderDocument => ({
  shopId: fullOrder.order.shopId,
  text: JSON.stringify(orderView(fullOrder, publicUrl)),
  etag: etagOfVersion(fullOrder.order.version),
})
