import { eq, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { insertAllOf } from '../../../../db/prepared.ts'
import { kpiDays, kpiDeltas, kpiState } from '../../../../db/schema/kpi.ts'
import { dayMs } from '../../../lib/day.ts'
import {
  type Delta,
  type Folded,
  foldedOf,
  inModes,
  type Kpi,
  type KpiPart,
  type RankedRow,
  type Run,
  runsOf,
  type SalesMode,
  type Span,
} from './domain.ts'

type From = Pick<Reader, 'rows'>

/**
 * Version of each part's figures. A higher number makes the backfill recount that part. 2: sales of test mode. 3: sales
 * of shops. 4: both modes separately.
 */
const figuresKept = { NETWORK: 4, SHOPS: 3 } as const satisfies Record<KpiPart, number>

/** Rows to a statement. */
const rowsAtOnce = 200

const insertDeltas = insertAllOf(kpiDeltas)

const list = (kpis: readonly Kpi[]): SQL =>
  sql.join(
    kpis.map((kpi) => sql`${kpi}`),
    sql`, `,
  )

/** What is kept of some figures in a run of days, and what has come since: `select` over either, with its end. */
const keptIn = (kpis: readonly Kpi[], { span, from, to }: Run): SQL =>
  sql`kpi_days where kpi in (${list(kpis)}) and span = ${span} and day >= ${from} and day < ${to}`
const freshIn = (kpis: readonly Kpi[], { from, to }: Span): SQL =>
  sql`kpi_deltas where kpi in (${list(kpis)}) and day >= ${from} and day <= ${to}`

/** The sums and the fresh deltas of some figures over a window. A fold cannot come between: it is one statement. */
const counted = (kpis: readonly Kpi[], span: Span): SQL =>
  sql.join(
    [...runsOf(span.from, span.to + 1).map((run) => keptIn(kpis, run)), freshIn(kpis, span)].map(
      (from) => sql`select kpi, key, value from ${from}`,
    ),
    sql` union all `,
  )

/** As text, which has every digit: a driver would hand over the nearest number. */
const summed = sql`cast(sum(value) as text)`

/** A sum of a figure, by what stands beside it. */
export type Sum = { readonly kpi: Kpi; readonly day: number; readonly key: string; readonly value: bigint }

/** What is ranked, with its two figures. */
const rankedSums = (cents: readonly Kpi[], n: readonly Kpi[], span: Span): SQL => sql`
  select key, sum(case when kpi in (${list(cents)}) then value else 0 end) as cents, sum(case when kpi in (${list(n)}) then value else 0 end) as n
  from (${counted([...cents, ...n], span)}) counted
  group by key`

/** A delta that was taken away. */
type Gone = Pick<Delta, 'kpi' | 'day' | 'id' | 'key' | 'value'>

export const kpiStore = {
  /** One statement. */
  append: (tx: Writer, deltas: readonly Delta[]): Promise<void> => insertDeltas(tx, deltas),

  /**
   * Some figures over a window and the one before, by one statement: `days` each with its sum, `keys` with theirs over the window, and
   * `before` the sums of the earlier one. A day or a key may come twice, of what is kept and of what came since.
   */
  async sums(read: From, kpis: readonly Kpi[], span: Span, before?: Span) {
    const days = [keptIn(kpis, { span: 1, from: span.from, to: span.to + 1 }), freshIn(kpis, span)]
    const parts = [
      ...days.map((from) => sql`select 'days' as part, kpi, day, '' as key, ${summed} as value from ${from} group by kpi, day`),
      sql`select 'keys', kpi, 0, key, ${summed} from (${counted(kpis, span)}) now group by kpi, key`,
      ...(before ? [sql`select 'before', kpi, 0, '', ${summed} from (${counted(kpis, before)}) earlier group by kpi`] : []),
    ]
    const rows = await read.rows<{ part: string; kpi: Kpi; day: number; key: string; value: string }>(sql.join(parts, sql` union all `))
    const of = (part: string): Sum[] =>
      rows.filter((row) => row.part === part).map(({ kpi, day, key, value }) => ({ kpi, day: Number(day), key, value: BigInt(value) }))
    return { days: of('days'), keys: of('keys'), before: of('before') }
  },

  /** Merchants whose shops partners have sold the most for, each under the name of their first shop. */
  topMerchants: async (read: From, mode: SalesMode, span: Span, limit: number): Promise<RankedRow[]> =>
    rankedRows(
      await read.rows<RankedRow>(sql`
        select best.id as id, '' as title, best.cents as cents, best.n as n,
          (select name from shops f where f.merchant_id = best.id order by f.id limit 1) as "shopName"
        from (
          select s.merchant_id as id, sum(r.cents) as cents, sum(r.n) as n
          from (${rankedSums(inModes(['MERCHANT_CENTS'], mode), inModes(['MERCHANT_ORDERS'], mode), span)}) r join shops s on s.id = r.key
          group by s.merchant_id having sum(r.n) > 0
          order by 2 desc, 1 limit ${limit}) best
        order by best.cents desc, best.id`),
    ),
  /** Products of which partners have sold the most units. */
  topProducts: async (read: From, mode: SalesMode, span: Span, limit: number): Promise<RankedRow[]> =>
    rankedRows(
      await read.rows<RankedRow>(sql`
        select p.id as id, p.title as title, s.name as "shopName", best.cents as cents, best.n as n
        from (
          select key, cents, n from (${rankedSums(inModes(['PRODUCT_CENTS'], mode), inModes(['PRODUCT_UNITS'], mode), span)}) r where n > 0
          order by n desc, key limit ${limit}) best
          join products p on p.id = best.key join shops s on s.id = p.shop_id
        order by best.n desc, p.id`),
    ),

  /**
   * Takes some deltas away and adds them to the sums, inside a write. Whoever deletes a row has it: of two folds each adds its own.
   * @param more what comes to the sums with them
   * @returns how many there were
   */
  async fold(tx: Writer, limit: number, more: (gone: readonly Gone[]) => Promise<readonly Omit<Gone, 'id'>[]>): Promise<number> {
    const gone = await tx.rows<Gone>(sql`
      delete from kpi_deltas where (kpi, day, id) in (select kpi, day, id from kpi_deltas limit ${limit})
      returning kpi, day, id, key, value`)
    const told = gone.map((row) => ({ ...row, day: Number(row.day), value: Number(row.value) }))
    await addSums(tx, foldedOf([...told, ...(await more(told))]))
    return gone.length
  },

  /** Of a merchant whose business is approved. */
  async approvedCohort(tx: Writer, merchantId: string): Promise<string | undefined> {
    const rows = await tx.rows<{ cohort: string }>(
      sql`select cohort from kyb_records where merchant_id = ${merchantId} and status <> 'REJECTED' and status = 'APPROVED' limit 1`,
    )
    return rows[0]?.cohort
  },

  /** When all that was there before the figures of a part were kept had been counted, milliseconds; undefined until then. */
  filledAt: (read: From, part: KpiPart): Promise<number | undefined> => stateOf(read, figuresKept[part]),
  async setFilled(tx: Writer, part: KpiPart, filledAt: number): Promise<void> {
    await tx.insert(kpiState).values({ id: figuresKept[part], filledAt }).onConflictDoNothing()
    await tx.delete(kpiState).where(eq(kpiState.id, -figuresKept[part]))
  },
  /** The day from which on the past has been counted so far; undefined where that has not begun, and where it has ended. */
  async countedFrom(read: From, part: KpiPart): Promise<number | undefined> {
    const from = await stateOf(read, -figuresKept[part])
    return from === undefined ? undefined : from / dayMs
  },
  /** Of two that count, whoever is further says how far. */
  async setCountedFrom(tx: Writer, part: KpiPart, day: number): Promise<void> {
    await tx
      .insert(kpiState)
      .values({ id: -figuresKept[part], filledAt: day * dayMs })
      .onConflictDoUpdate({
        target: kpiState.id,
        set: { filledAt: sql`excluded.filled_at` },
        setWhere: sql`${kpiState.filledAt} > excluded.filled_at`,
      })
  },

  /**
   * Whether what is done to an order of a shop in test mode counts still. The row is written, so that a shop that goes live at the same time
   * sees what was done, or is seen to be live.
   */
  async holdTestMode(tx: Writer, shopId: string): Promise<boolean> {
    const rows = await tx.rows(sql`update shops set updated_at = updated_at where id = ${shopId} and mode = 'TEST' returning 1 as done`)
    return rows.length > 0
  },
}

async function stateOf(read: From, id: number): Promise<number | undefined> {
  const [row] = await read.rows<{ filledAt: number | string }>(sql`select filled_at as "filledAt" from kpi_state where id = ${id}`)
  return row && Number(row.filledAt)
}

const rankedRows = (rows: readonly RankedRow[]): RankedRow[] =>
  rows.map(({ cents, n, ...row }) => ({ ...row, cents: Number(cents), n: Number(n) }))

/** A sum as the database is told it: by its digits where no number is it. */
const stored = (sum: bigint): number | SQL => (Number.isSafeInteger(Number(sum)) ? Number(sum) : sql`cast(${String(sum)} as bigint)`)

/** Adds to sums, in their order: so of two that add none waits for one who waits. */
export async function addSums(tx: Writer, rows: readonly Folded[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsAtOnce)
    await tx
      .insert(kpiDays)
      .values(rows.slice(at, at + rowsAtOnce).map((row) => ({ ...row, value: stored(row.value) })))
      .onConflictDoUpdate({
        target: [kpiDays.kpi, kpiDays.span, kpiDays.day, kpiDays.key],
        set: { value: sql`${kpiDays.value} + excluded.value` },
      })
}
