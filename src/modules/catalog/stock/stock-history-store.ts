import { and, eq, gte, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Writer } from '../../../../db/engine.ts'
import { prepare } from '../../../../db/prepared.ts'
import { stockHistory, variants } from '../../../../db/schema/catalog.ts'
import { onHandMax, onHandMin } from '../products/domain.ts'

export type StockChange = typeof stockHistory.$inferSelect

const after = sql`${variants.onHand} + ${sql.placeholder('delta')}`
/** The rule of `restockedVariant`, asked of the row as it is when it is changed. */
const enough = or(
  eq(variants.allowBackorder, true),
  gte(after, variants.onHand),
  and(gte(after, 0), or(eq(variants.trackInventory, false), gte(after, variants.reserved))),
)
const moveWhere = (guard?: SQL) =>
  prepare((queries) =>
    queries
      .update(variants)
      .set({ onHand: after })
      .where(and(eq(variants.id, sql.placeholder('id')), gte(after, onHandMin), lte(after, onHandMax), enough, guard))
      .returning({ onHand: variants.onHand, reserved: variants.reserved }),
  )
const move = moveWhere()
const moveFrom = moveWhere(eq(variants.onHand, sql.placeholder('was')))

/** What is changed of a variant's stock by hand, and the history of it. */
export const stockHistoryStore = {
  /**
   * Adds to what is on hand, or takes away from it.
   * @param was what must be there before; anything, when undefined
   * @returns what is there then; undefined when it may not be so much, or so little, or is not what it was
   */
  async move(
    tx: Writer,
    { id, delta, was }: { id: string; delta: number; was?: number | undefined },
  ): Promise<{ onHand: number; reserved: number } | undefined> {
    return was === undefined ? tx.first(move, { id, delta }) : tx.first(moveFrom, { id, delta, was })
  },

  /** Rows of one write. */
  async append(tx: Writer, rows: readonly StockChange[]): Promise<void> {
    if (rows.length > 0) await tx.insert(stockHistory).values([...rows])
  },
}
