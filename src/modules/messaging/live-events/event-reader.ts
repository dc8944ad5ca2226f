import {
  changedVariantOf,
  changesStock,
  eventOfRow,
  type LiveEvent,
  operatorEventOf,
  orderEventOf,
  salesEventOf,
  shopEventOf,
  shopOfStaffChange,
  stockEventOf,
  stockOfOrder,
  suspendedShopOf,
} from './domain.ts'
import type { ChangePage, LiveStore } from './store.ts'

/** Events of rows that were committed together, and the cursor behind them. */
export type EventBatch = { readonly events: readonly LiveEvent[]; readonly cursor: string }
/** The events of a page. `changedRoles`: shops where a member's role changed. */
export type EventPage = {
  readonly batches: readonly EventBatch[]
  readonly suspendedShops: readonly string[]
  readonly changedRoles: readonly string[]
}

/** The audience of a page. */
type Audience = {
  /** Only this shop's events; undefined: of all shops that `includesShop` accepts. */
  readonly shopId?: string | undefined
  readonly includesShop: (shopId: string) => boolean
  readonly operators: boolean
}

type StockCause = { readonly orderId?: string; readonly at: number }

/**
 * Reads the events of rows. Orders and stock have their current values, which may be newer than the row.
 * @param page of the change feed
 */
export async function readEvents(store: LiveStore, page: ChangePage, { shopId, includesShop, operators }: Audience): Promise<EventPage> {
  const idsOf = (table: string) => page.groups.flatMap(({ rows }) => rows.flatMap((row) => (row.table === table ? [row.id] : [])))
  const [orderRows, auditRows, liveRows] = await Promise.all([
    store.orderRows(idsOf('order_events'), operators ? undefined : shopId),
    store.auditRows(idsOf('audit_log')),
    store.liveRows(idsOf('live_events')),
  ])
  const events = new Map<string, LiveEvent[]>()
  /** Order of each row that changed stock. */
  const orders = new Map<string, StockCause & { orderId: string }>()
  const manualChanges = new Map<string, StockCause & { variantId: string }>()
  const suspendedShops: string[] = []
  const changedRoles: string[] = []
  let sales = 0
  let soldAt = 0
  for (const row of orderRows) {
    if (row.type === 'CONFIRMED') {
      sales++
      soldAt = Math.max(soldAt, row.at)
    }
    if (!includesShop(row.shopId)) continue
    events.set(row.id, [orderEventOf(row)])
    if (changesStock(row)) orders.set(row.id, { orderId: row.orderId, at: row.at })
  }
  for (const row of auditRows) {
    const suspendedShop = suspendedShopOf(row)
    if (suspendedShop !== undefined) suspendedShops.push(suspendedShop)
    const changedShop = shopOfStaffChange(row)
    if (changedShop !== undefined) changedRoles.push(changedShop)
    const variantId = changedVariantOf(row)
    if (variantId !== undefined && row.shopId !== null && includesShop(row.shopId)) manualChanges.set(row.id, { variantId, at: row.at })
    const auditEvents = [shopEventOf(row), operators ? operatorEventOf(row) : undefined].filter((event) => event !== undefined)
    if (auditEvents.length > 0) events.set(row.id, auditEvents)
  }
  for (const row of liveRows) {
    if (row.shopId === null ? !operators : !includesShop(row.shopId)) continue
    const orderId = row.data['orderId']
    if (row.name !== stockOfOrder) events.set(row.id, [eventOfRow(row)])
    else if (typeof orderId === 'string') orders.set(row.id, { orderId, at: row.at })
  }
  const stock = await stockEvents(store, page, orders, manualChanges)
  const batches = page.groups.flatMap(({ rows, cursor }) => {
    const all = rows.flatMap(({ id }) => [...(events.get(id) ?? []), ...(stock.get(id) ?? [])])
    const visible = all.filter((event) => event.shopId === null || includesShop(event.shopId))
    return visible.length > 0 ? [{ events: visible, cursor }] : []
  })
  const counted = operators && sales > 0 ? [{ events: [salesEventOf(sales, soldAt)], cursor: page.cursor }] : []
  return { batches: [...batches, ...counted], suspendedShops, changedRoles }
}

/** Returns the stock event of each variant, attached to the last row of the page that changed it. */
async function stockEvents(
  store: LiveStore,
  page: ChangePage,
  orders: ReadonlyMap<string, StockCause & { orderId: string }>,
  manualChanges: ReadonlyMap<string, StockCause & { variantId: string }>,
): Promise<Map<string, LiveEvent[]>> {
  const events = new Map<string, LiveEvent[]>()
  if (orders.size === 0 && manualChanges.size === 0) return events
  const variantsOfOrders = Map.groupBy(
    await store.variantsOf([...new Set([...orders.values()].map(({ orderId }) => orderId))]),
    ({ orderId }) => orderId,
  )
  const last = new Map<string, { row: string; because: StockCause }>()
  for (const { id } of page.groups.flatMap(({ rows }) => rows)) {
    const order = orders.get(id)
    const manualChange = manualChanges.get(id)
    for (const { variantId } of order ? (variantsOfOrders.get(order.orderId) ?? []) : [])
      last.set(variantId, { row: id, because: order as StockCause })
    if (manualChange) last.set(manualChange.variantId, { row: id, because: { at: manualChange.at } })
  }
  for (const figures of await store.stockOf([...last.keys()])) {
    const { row, because } = last.get(figures.variantId) ?? {}
    if (row !== undefined && because) events.set(row, [...(events.get(row) ?? []), stockEventOf(figures, because)])
  }
  return events
}
