import {
  auditTold,
  changesStock,
  type LiveEvent,
  orderTold,
  rowTold,
  salesTold,
  shopShut,
  shopTold,
  staffMoved,
  stockOfOrder,
  stockTold,
  variantChanged,
} from './domain.ts'
import type { LiveStore, TailPage } from './store.ts'

/** What is told of rows that were committed together, and where one is behind them. */
export type Told = { readonly events: readonly LiveEvent[]; readonly place: string }
/** A page as it is told; `shut`: shops whose people are to be let in anew; `moved`: those of which some may not be let in any more as they were. */
export type ToldPage = { readonly told: readonly Told[]; readonly shut: readonly string[]; readonly moved: readonly string[] }

/** For whom a page is read. */
export type Readers = {
  /** The only one whose events are wanted; undefined: of all that `hears`. */
  readonly shopId?: string | undefined
  readonly hears: (shopId: string) => boolean
  readonly operators: boolean
}

type Because = { readonly orderId?: string; readonly at: number }

/**
 * Looks up what rows say. Orders and stock are told as they are by now, which may be later than the row.
 * @param page of the tail
 */
export async function read(store: LiveStore, page: TailPage, { shopId, hears, operators }: Readers): Promise<ToldPage> {
  const idsOf = (table: string) => page.pieces.flatMap(({ rows }) => rows.flatMap((row) => (row.table === table ? [row.id] : [])))
  const [orderRows, auditRows, liveRows] = await Promise.all([
    store.orderRows(idsOf('order_events'), operators ? undefined : shopId),
    store.auditRows(idsOf('audit_log')),
    store.liveRows(idsOf('live_events')),
  ])
  const events = new Map<string, LiveEvent[]>()
  /** By row, whose stock it changed. */
  const orders = new Map<string, Because & { orderId: string }>()
  const byHand = new Map<string, Because & { variantId: string }>()
  const shut: string[] = []
  const moved: string[] = []
  let sales = 0
  let soldAt = 0
  for (const row of orderRows) {
    if (row.type === 'CONFIRMED') {
      sales++
      soldAt = Math.max(soldAt, row.at)
    }
    if (!hears(row.shopId)) continue
    events.set(row.id, [orderTold(row)])
    if (changesStock(row)) orders.set(row.id, { orderId: row.orderId, at: row.at })
  }
  for (const row of auditRows) {
    const isShut = shopShut(row)
    if (isShut !== undefined) shut.push(isShut)
    const isMoved = staffMoved(row)
    if (isMoved !== undefined) moved.push(isMoved)
    const variantId = variantChanged(row)
    if (variantId !== undefined && row.shopId !== null && hears(row.shopId)) byHand.set(row.id, { variantId, at: row.at })
    const told = [shopTold(row), operators ? auditTold(row) : undefined].filter((event) => event !== undefined)
    if (told.length > 0) events.set(row.id, told)
  }
  for (const row of liveRows) {
    if (row.shopId === null ? !operators : !hears(row.shopId)) continue
    const orderId = row.data['orderId']
    if (row.name !== stockOfOrder) events.set(row.id, [rowTold(row)])
    else if (typeof orderId === 'string') orders.set(row.id, { orderId, at: row.at })
  }
  const stock = await stockEvents(store, page, orders, byHand)
  const told = page.pieces.flatMap(({ rows, place }) => {
    const all = rows.flatMap(({ id }) => [...(events.get(id) ?? []), ...(stock.get(id) ?? [])])
    const heard = all.filter((event) => event.shopId === null || hears(event.shopId))
    return heard.length > 0 ? [{ events: heard, place }] : []
  })
  const counted = operators && sales > 0 ? [{ events: [salesTold(sales, soldAt)], place: page.place }] : []
  return { told: [...told, ...counted], shut, moved }
}

/** What became of variants, by the row that changed each last: it is told once a page. */
async function stockEvents(
  store: LiveStore,
  page: TailPage,
  orders: ReadonlyMap<string, Because & { orderId: string }>,
  byHand: ReadonlyMap<string, Because & { variantId: string }>,
): Promise<Map<string, LiveEvent[]>> {
  const told = new Map<string, LiveEvent[]>()
  if (orders.size === 0 && byHand.size === 0) return told
  const held = Map.groupBy(
    await store.variantsOf([...new Set([...orders.values()].map(({ orderId }) => orderId))]),
    ({ orderId }) => orderId,
  )
  const last = new Map<string, { row: string; because: Because }>()
  for (const { id } of page.pieces.flatMap(({ rows }) => rows)) {
    const order = orders.get(id)
    const hand = byHand.get(id)
    for (const { variantId } of order ? (held.get(order.orderId) ?? []) : []) last.set(variantId, { row: id, because: order as Because })
    if (hand) last.set(hand.variantId, { row: id, because: { at: hand.at } })
  }
  for (const figures of await store.stockOf([...last.keys()])) {
    const { row, because } = last.get(figures.variantId) ?? {}
    if (row !== undefined && because) told.set(row, [...(told.get(row) ?? []), stockTold(figures, because)])
  }
  return told
}
