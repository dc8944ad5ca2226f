import { and, eq, gte, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Writer } from '../../../../db/engine.ts'
import { prepare } from '../../../../db/prepared.ts'
import { stockHistory, variants } from '../../../../db/schema/catalog.ts'
import { onHandMax, onHandMin } from '../products/domain.ts'

export type StockChange = typeof stockHistory.$inferSelect

const after = sql`${variants.onHand} + ${sql.placeholder('delta')}`
/** The rule of `applyStockChange` in SQL, checked when the row is changed. */
const isAllowed = or(
  eq(variants.allowBackorder, true),
  gte(after, variants.onHand),
  and(gte(after, 0), or(eq(variants.trackInventory, false), gte(after, variants.reserved))),
)
const adjustStockWhere = (guard?: SQL) =>
  prepare((queries) =>
    queries
      .update(variants)
      .set({ onHand: after })
      .where(and(eq(variants.id, sql.placeholder('id')), gte(after, onHandMin), lte(after, onHandMax), isAllowed, guard))
      .returning({ onHand: variants.onHand, reserved: variants.reserved }),
  )
const adjustStock = adjustStockWhere()
const adjustStockFrom = adjustStockWhere(eq(variants.onHand, sql.placeholder('was')))

/** Manual stock changes and their history. */
export const stockHistoryStore = {
  /**
   * Adds `delta` to the stock.
   * @param was the required stock before the change; any if undefined
   * @returns the stock after the change; undefined if a limit forbids it or `was` differs
   */
  async adjust(
    tx: Writer,
    { id, delta, was }: { id: string; delta: number; was?: number | undefined },
  ): Promise<{ onHand: number; reserved: number } | undefined> {
    return was === undefined ? tx.first(adjustStock, { id, delta }) : tx.first(adjustStockFrom, { id, delta, was })
  },

  async append(tx: Writer, rows: readonly StockChange[]): Promise<void> {
    if (rows.length > 0) await tx.insert(stockHistory).values([...rows])
  },
}
