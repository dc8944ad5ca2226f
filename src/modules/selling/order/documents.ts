import type { Database } from '../../../../db/engine.ts'
import { type Cache, createCache } from '../../../core/cache.ts'
import type { OrderLinkDeps } from '../order-link/index.ts'
import type { OrderStore } from './store.ts'
import { type FullOrder, orderView } from './view.ts'

/** An order as its shop sees it, as the text that is sent. */
export type OrderDocument = { readonly shopId: string; readonly text: string }

/** The orders that were asked for lately. Where the engine cannot tell of others' commits, nothing is kept. */
export type OrderDocuments = {
  /** The text of an order; undefined when the shop has no such order, or when it cannot be said at once. */
  textNow(shopId: string, id: string): string | undefined
}

const documentsMax = 20_000
const charactersMax = 24_000_000

export type OrderCache = Cache<OrderDocument>

/** What a process keeps of orders; whatever changes one forgets it. */
export const createOrderCache = ({ foreignVersion }: Pick<Database, 'foreignVersion'>): OrderCache =>
  createCache({ version: foreignVersion, entriesMax: documentsMax, charactersMax, charactersOf: ({ text }) => text.length })

export function createOrderDocuments(
  cache: OrderCache,
  { whole }: Pick<OrderStore, 'whole'>,
  orderLinks: OrderLinkDeps['orderLinks'],
): OrderDocuments {
  function read(id: string, urlOf: (orderId: string) => string): OrderDocument | undefined {
    const found = whole(id)
    return found instanceof Promise ? undefined : found && documentOf(found, urlOf(id))
  }

  return {
    textNow(shopId, id) {
      const links = orderLinks.now()
      if (!cache.isOn() || !links) return undefined
      const found = cache.recall(id, () => read(id, links.urlOf))
      return found instanceof Promise || found?.shopId !== shopId ? undefined : found.text
    },
  }
}

const documentOf = (whole: FullOrder, publicUrl: string): OrderDocument => ({
  shopId: whole.order.shopId,
  text: JSON.stringify(orderView(whole, publicUrl)),
})
