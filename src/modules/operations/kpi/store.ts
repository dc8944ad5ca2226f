import { eq, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { insertAllOf } from '../../../../db/prepared.ts'
import { kpiDays, kpiDeltas, kpiState } from '../../../../db/schema/kpi.ts'
import { valueList } from '../../../../db/shop-figures.ts'
import { dayMs } from '../../../lib/day.ts'
import { type Delta, foldDeltas, type Kpi, type KpiPart, type KpiSum, runsOf, type Span, type SpanRun } from './domain.ts'

type From = Pick<Reader, 'rows'>

/**
 * Version of each part's figures. A higher number makes the backfill recount that part. 2: sales of test mode. 3: sales
 * of shops. 4: both modes separately.
 */
const kpiVersions = { NETWORK: 4, SHOPS: 3 } as const satisfies Record<KpiPart, number>

/** Rows per statement. */
const rowsBatch = 200

const insertDeltas = insertAllOf(kpiDeltas)

/** The FROM clauses of stored sums in a run, and of unfolded deltas. */
const sumsIn = (kpis: readonly Kpi[], { span, from, to }: SpanRun): SQL =>
  sql`kpi_days where kpi in (${valueList(kpis)}) and span = ${span} and day >= ${from} and day < ${to}`
const deltasIn = (kpis: readonly Kpi[], { from, to }: Span): SQL =>
  sql`kpi_deltas where kpi in (${valueList(kpis)}) and day >= ${from} and day <= ${to}`

/** All sums and deltas of a window. One statement, so that no fold comes between. */
const allSumsOf = (kpis: readonly Kpi[], span: Span): SQL =>
  sql.join(
    [...runsOf(span.from, span.to + 1).map((run) => sumsIn(kpis, run)), deltasIn(kpis, span)].map(
      (from) => sql`select kpi, key, value from ${from}`,
    ),
    sql` union all `,
  )

/** Text keeps every digit; drivers would round. */
const summed = sql`cast(sum(value) as text)`

export type Sum = { readonly kpi: Kpi; readonly day: number; readonly key: string; readonly value: bigint }

type RemovedDelta = Pick<Delta, 'kpi' | 'day' | 'id' | 'key' | 'value'>

export const kpiStore = {
  /** One statement. */
  append: (tx: Writer, deltas: readonly Delta[]): Promise<void> => insertDeltas(tx, deltas),

  /**
   * Reads sums of a window and the previous one in one statement: by day, by key, and the previous total. A day or key
   * may appear twice, from sums and from deltas.
   */
  async sums(read: From, kpis: readonly Kpi[], span: Span, before?: Span) {
    const days = [sumsIn(kpis, { span: 1, from: span.from, to: span.to + 1 }), deltasIn(kpis, span)]
    const queries = [
      ...days.map((from) => sql`select 'days' as part, kpi, day, '' as key, ${summed} as value from ${from} group by kpi, day`),
      sql`select 'keys', kpi, 0, key, ${summed} from (${allSumsOf(kpis, span)}) now group by kpi, key`,
      ...(before ? [sql`select 'before', kpi, 0, '', ${summed} from (${allSumsOf(kpis, before)}) earlier group by kpi`] : []),
    ]
    const rows = await read.rows<{ part: string; kpi: Kpi; day: number; key: string; value: string }>(sql.join(queries, sql` union all `))
    const of = (part: string): Sum[] =>
      rows.filter((row) => row.part === part).map(({ kpi, day, key, value }) => ({ kpi, day: Number(day), key, value: BigInt(value) }))
    return { days: of('days'), keys: of('keys'), before: of('before') }
  },

  /**
   * Deletes deltas and adds them to the sums, inside a write. Concurrent folds delete different rows.
   * @param extra further sums of the deltas
   * @returns how many deltas
   */
  async fold(
    tx: Writer,
    limit: number,
    extra: (removed: readonly RemovedDelta[]) => Promise<readonly Omit<RemovedDelta, 'id'>[]>,
  ): Promise<number> {
    const rows = await tx.rows<RemovedDelta>(sql`
      delete from kpi_deltas where (kpi, day, id) in (select kpi, day, id from kpi_deltas limit ${limit})
      returning kpi, day, id, key, value`)
    const deltas = rows.map((row) => ({ ...row, day: Number(row.day), value: Number(row.value) }))
    await addSums(tx, foldDeltas([...deltas, ...(await extra(deltas))]))
    return rows.length
  },

  async approvedCohort(tx: Writer, merchantId: string): Promise<string | undefined> {
    const rows = await tx.rows<{ cohort: string }>(
      sql`select cohort from kyb_records where merchant_id = ${merchantId} and status <> 'REJECTED' and status = 'APPROVED' limit 1`,
    )
    return rows[0]?.cohort
  },

  /** Returns when the backfill of a part ended (milliseconds); undefined before. */
  filledAt: (read: From, part: KpiPart): Promise<number | undefined> => stateOf(read, kpiVersions[part]),
  async setFilled(tx: Writer, part: KpiPart, filledAt: number): Promise<void> {
    await tx.insert(kpiState).values({ id: kpiVersions[part], filledAt }).onConflictDoNothing()
    await tx.delete(kpiState).where(eq(kpiState.id, -kpiVersions[part]))
  },
  /** Returns the day down to which a running backfill has counted. */
  async countedFrom(read: From, part: KpiPart): Promise<number | undefined> {
    const from = await stateOf(read, -kpiVersions[part])
    return from === undefined ? undefined : from / dayMs
  },
  /** Keeps the earlier day if two processes count. */
  async setCountedFrom(tx: Writer, part: KpiPart, day: number): Promise<void> {
    await tx
      .insert(kpiState)
      .values({ id: -kpiVersions[part], filledAt: day * dayMs })
      .onConflictDoUpdate({
        target: kpiState.id,
        set: { filledAt: sql`excluded.filled_at` },
        setWhere: sql`${kpiState.filledAt} > excluded.filled_at`,
      })
  },

  /**
   * Returns whether changes of a test shop's orders still count. Updates the shop's row, so that a concurrent switch to
   * live mode is serialized.
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

/** Casts a sum that a number cannot hold exactly. */
const sumLiteral = (sum: bigint): number | SQL => (Number.isSafeInteger(Number(sum)) ? Number(sum) : sql`cast(${String(sum)} as bigint)`)

/** Adds to sums in a fixed order, so that concurrent writes do not deadlock. */
export async function addSums(tx: Writer, rows: readonly KpiSum[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsBatch)
    await tx
      .insert(kpiDays)
      .values(rows.slice(at, at + rowsBatch).map((row) => ({ ...row, value: sumLiteral(row.value) })))
      .onConflictDoUpdate({
        target: [kpiDays.kpi, kpiDays.span, kpiDays.day, kpiDays.key],
        set: { value: sql`${kpiDays.value} + excluded.value` },
      })
}
