import type { Writer } from '../../../../db/engine.ts'
import type { orders } from '../../../../db/schema/selling.ts'
import type { Deps } from '../../../core/deps.ts'
import { inBatches } from '../../../lib/batches.ts'
import { amountsOf, type Delta, dayNumberOf } from './domain.ts'
import { shopFigures, testSalesOf } from './facts-store.ts'
import { kpiStore as store } from './store.ts'

/** Deltas of one fold: others wait behind it. */
const foldedAtOnce = 1_000

/** Appends what facts change of the figures, inside the write of the facts: one statement, and none for nothing. */
export const noteDeltas = (tx: Writer, deltas: readonly Delta[]): Promise<void> => store.append(tx, deltas)

/**
 * Somebody signed up, or claimed the account that a shop had made of them, inside the write of that.
 * @param at when the account was made, milliseconds
 */
export const noteSignUp = (tx: Writer, { id, role, at }: { id: string; role: 'MERCHANT' | 'CUSTOMER'; at: number }): Promise<void> =>
  noteDeltas(tx, [{ kpi: 'USERS', day: dayNumberOf(at), id, key: role, value: 1 }])

/** The data of somebody who had signed up was erased, inside the write of that: they are registered no more. @param at when they signed up */
export const noteErasure = (tx: Writer, { id, role, at }: { id: string; role: 'CUSTOMER'; at: number }): Promise<void> =>
  noteDeltas(tx, [{ kpi: 'USERS', day: dayNumberOf(at), id: `erased:${id}`, key: role, value: -1 }])

/** A product was made, inside the write of that. */
export const noteProduct = (
  tx: Writer,
  { id, createdAs, createdAt }: { id: string; createdAs: string; createdAt: number },
): Promise<void> => noteDeltas(tx, [{ kpi: 'PRODUCTS', day: dayNumberOf(createdAt), id, key: createdAs, value: 1 }])

/** Shops of a merchant whose business is approved were verified for the first time, inside the write of that. */
export async function noteVerified(
  tx: Writer,
  { merchantId, shopIds, at }: { merchantId: string; shopIds: readonly string[]; at: number },
): Promise<void> {
  const cohort = shopIds.length > 0 ? await store.approvedCohort(tx, merchantId) : undefined
  if (cohort === undefined) return
  await noteDeltas(
    tx,
    shopIds.map((id) => ({ kpi: 'SHOPS', day: dayNumberOf(at), id, key: cohort, value: 1 })),
  )
}

/**
 * Whether what happens to an order now is counted, inside the write of that: while its mode is its shop's. To be asked of a sale that was
 * made before; no shop goes live while an order is unfinished, so what confirms one need not.
 */
export const isCounted = async (tx: Writer, { mode, shopId }: Pick<typeof orders.$inferSelect, 'mode' | 'shopId'>): Promise<boolean> =>
  mode === 'LIVE' || store.holdTestMode(tx, shopId)

/**
 * Takes out of the figures what a shop sold in test mode, inside the write by which it goes live and once that has found no order
 * unfinished: by deltas that undo those of the facts.
 */
export async function takeOutTestSales(tx: Writer, shopId: string): Promise<void> {
  const sales = await testSalesOf(tx, shopId)
  await noteDeltas(
    tx,
    sales.flatMap(({ kpi, day, key, counted }) =>
      amountsOf(-counted).map((value, nth) => ({ kpi, day, id: `live:${shopId}:${key}${nth === 0 ? '' : `:${nth}`}`, key, value })),
    ),
  )
}

/** Adds the deltas that there are to the sums, in small writes. Returns how many. */
export const foldKpis = ({ db }: Pick<Deps, 'db'>): Promise<number> =>
  inBatches(foldedAtOnce, async () => {
    const done = await db.write((tx) => store.fold(tx, foldedAtOnce, (gone) => shopFigures.ofDeltas(tx, gone)), { isolation: 'locking' })
    await new Promise((resume) => setImmediate(resume))
    return done
  })
