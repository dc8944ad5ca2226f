import { and, asc, desc, eq, gte, inArray, lte } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { fxRates } from '../../../../db/schema/ledger.ts'
import type { Rate } from './domain.ts'

type From = Pick<Reader, 'select'>
type FxRow = typeof fxRates.$inferSelect
type Days = { first: string; last: string }

const columns = { usdPerUnit: fxRates.usdPerUnit, day: fxRates.day }
const within = (currency: string, { first, last }: Days) =>
  and(eq(fxRates.currency, currency), gte(fxRates.day, first), lte(fxRates.day, last))

export const fxStore = {
  /** Returns the latest rate in these days. */
  async latest(from: From, currency: string, days: Days): Promise<Rate | undefined> {
    const [rate] = await from.select(columns).from(fxRates).where(within(currency, days)).orderBy(desc(fxRates.day)).limit(1)
    return rate
  },
  /** Returns the earliest rate in these days. */
  async earliest(from: From, currency: string, days: Days): Promise<Rate | undefined> {
    const [rate] = await from.select(columns).from(fxRates).where(within(currency, days)).orderBy(asc(fxRates.day)).limit(1)
    return rate
  },
  /** Returns the days with a rate, ascending. */
  async days(from: From, currency: string): Promise<string[]> {
    const rows = await from.select({ day: fxRates.day }).from(fxRates).where(eq(fxRates.currency, currency)).orderBy(asc(fxRates.day))
    return rows.map(({ day }) => day)
  },
  /** Returns whether any of these currencies has a rate of the day. */
  async hasDay(from: From, currencies: readonly string[], day: string): Promise<boolean> {
    const rows = await from
      .select({ day: fxRates.day })
      .from(fxRates)
      .where(and(inArray(fxRates.currency, [...currencies]), eq(fxRates.day, day)))
      .limit(1)
    return rows.length > 0
  },
  /** Inserts missing rates: a used rate never changes. Returns their number. */
  async insertNew(tx: Writer, rows: readonly FxRow[]): Promise<number> {
    const inserted = await tx
      .insert(fxRates)
      .values([...rows])
      .onConflictDoNothing()
      .returning({ day: fxRates.day })
    return inserted.length
  },
}
