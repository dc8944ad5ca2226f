import type { Writer } from '../../../../db/engine.ts'
import type { orders } from '../../../../db/schema/selling.ts'
import type { Deps } from '../../../core/deps.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayNumberOf } from '../../../lib/day.ts'
import { amountsOf, type Delta } from './domain.ts'
import { testSalesOf } from './facts-store.ts'
import { shopFigures } from './shop-facts-store.ts'
import { kpiStore as store } from './store.ts'

/** Deltas per fold, since other writes wait for it. */
const foldBatch = 1_000

/** Appends deltas in the write of their cause, in one statement. */
export const appendDeltas = (tx: Writer, deltas: readonly Delta[]): Promise<void> => store.append(tx, deltas)

/**
 * Counts a sign-up, or a claimed account that a shop had created. Runs in the same write.
 * @param at when the account was created, milliseconds
 */
export const recordSignUp = (tx: Writer, { id, role, at }: { id: string; role: 'MERCHANT' | 'CUSTOMER'; at: number }): Promise<void> =>
  appendDeltas(tx, [{ kpi: 'USERS', day: dayNumberOf(at), id, key: role, value: 1 }])

/**
 * Subtracts an erased person who had signed up. Runs in the same write.
 * @param at when they signed up
 */
export const recordErasure = (tx: Writer, { id, role, at }: { id: string; role: 'CUSTOMER'; at: number }): Promise<void> =>
  appendDeltas(tx, [{ kpi: 'USERS', day: dayNumberOf(at), id: `erased:${id}`, key: role, value: -1 }])

/** Counts a created product. Runs in the same write. */
export const recordProduct = (
  tx: Writer,
  { id, createdAs, createdAt }: { id: string; createdAs: string; createdAt: number },
): Promise<void> => appendDeltas(tx, [{ kpi: 'PRODUCTS', day: dayNumberOf(createdAt), id, key: createdAs, value: 1 }])

/** Subtracts a deleted product. Runs in the same write. */
export const recordProductRemoval = (
  tx: Writer,
  { id, createdAs, createdAt }: { id: string; createdAs: string; createdAt: number },
): Promise<void> => appendDeltas(tx, [{ kpi: 'PRODUCTS', day: dayNumberOf(createdAt), id: `deleted:${id}`, key: createdAs, value: -1 }])

/** Counts newly verified shops of an approved merchant. Runs in the same write. */
export async function recordVerifiedShops(
  tx: Writer,
  { merchantId, shopIds, at }: { merchantId: string; shopIds: readonly string[]; at: number },
): Promise<void> {
  const cohort = shopIds.length > 0 ? await store.approvedCohort(tx, merchantId) : undefined
  if (cohort === undefined) return
  await appendDeltas(
    tx,
    shopIds.map((id) => ({ kpi: 'SHOPS', day: dayNumberOf(at), id, key: cohort, value: 1 })),
  )
}

/**
 * Returns whether a change of an order counts: while its mode is its shop's mode. Runs in the same write.
 * Needed for earlier sales only; confirmations always count, since no shop goes live with an unfinished order.
 */
export const isCounted = async (tx: Writer, { mode, shopId }: Pick<typeof orders.$inferSelect, 'mode' | 'shopId'>): Promise<boolean> =>
  mode === 'LIVE' || store.holdTestMode(tx, shopId)

/**
 * Removes a shop's test sales from the figures with opposite deltas. Runs in the write by which it goes live, after the
 * check for unfinished orders.
 */
export async function removeTestSales(tx: Writer, shopId: string): Promise<void> {
  const sales = await testSalesOf(tx, shopId)
  await appendDeltas(
    tx,
    sales.flatMap(({ kpi, day, key, counted }) =>
      amountsOf(-counted).map((value, nth) => ({ kpi, day, id: `live:${shopId}:${key}${nth === 0 ? '' : `:${nth}`}`, key, value })),
    ),
  )
}

/** Folds deltas into sums in small writes. Returns how many. */
export const foldKpis = ({ db }: Pick<Deps, 'db'>): Promise<number> =>
  inBatches(foldBatch, async () => {
    const folded = await db.write((tx) => store.fold(tx, foldBatch, (deltas) => shopFigures.ofDeltas(tx, deltas)), { isolation: 'locking' })
    await new Promise((resume) => setImmediate(resume))
    return folded
  })
