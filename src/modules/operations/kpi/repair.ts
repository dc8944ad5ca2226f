import { system } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { dayText } from '../../../lib/day.ts'
import { audit } from '../audit/index.ts'
import { amountsOf, type Difference, foldDeltas } from './domain.ts'
import { readStoredSums, type SpanDifference, spanDifferences, sumKey } from './facts-store.ts'
import { addSums, kpiStore as store } from './store.ts'

export type RepairDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'log' | 'life'>

/** Figures per log entry. */
export const problemsMax = 20

/** Figures per write, since other writes wait for it. */
const repairBatch = 500

/**
 * Repairs the stored figures of a day in small writes. Figures that changed since the comparison are left, since facts
 * and figures change together.
 * @param isFirst the day was never counted: writes sums instead of deltas, and no audit rows
 * @returns the repaired figures
 */
export async function repairDay(
  deps: RepairDeps,
  day: number,
  differences: readonly Difference[],
  isFirst: boolean,
): Promise<Difference[]> {
  const repaired: Difference[] = []
  for (let at = 0; at < differences.length; at += repairBatch) {
    repaired.push(
      ...(await deps.db.write(async (tx) => {
        const batch = differences.slice(at, at + repairBatch)
        const stored = await readStoredSums(tx, day, batch)
        const unchanged = batch.filter((difference) => (stored.get(sumKey(difference)) ?? 0n) === difference.stored)
        const deltas = unchanged.flatMap(({ kpi, key, counted, stored: before }) =>
          amountsOf(counted - before).map((value) => ({ kpi, day, id: deps.newId('change'), key, value })),
        )
        if (isFirst) await addSums(tx, foldDeltas(deltas))
        else await store.append(tx, deltas)
        if (!isFirst && unchanged.length > 0) await auditRepair(tx, deps, day, unchanged)
        return unchanged
      })),
    )
    await new Promise((resume) => setImmediate(resume))
  }
  return repaired
}

/** Repairs the sums of 8 and 64 days within a block of 64 days. */
export const repairBlock = (deps: RepairDeps, block: number): Promise<SpanDifference[]> =>
  deps.db.write(async (tx) => {
    const differences = await spanDifferences(tx, block)
    await addSums(
      tx,
      differences.map(({ kpi, span, day, key, counted, stored }) => ({ kpi, span, day, key, value: counted - stored })),
    )
    if (differences.length > 0) await auditRepair(tx, deps, block, differences)
    return differences
  })

/** Formats a sum for log and trail: as text if a number would be inexact. */
export const loggableSum = (sum: bigint): number | string => (Number.isSafeInteger(Number(sum)) ? Number(sum) : String(sum))

const auditRepair = (
  tx: Parameters<typeof audit>[0],
  deps: RepairDeps,
  day: number,
  differences: readonly (Difference & { span?: number })[],
) => {
  const figures = (of: 'stored' | 'counted') =>
    Object.fromEntries(
      differences
        .slice(0, problemsMax)
        .map((item) => [`${item.kpi} ${item.key}${item.span ? ` ${item.span}` : ''}`, loggableSum(item[of])]),
    )
  const difference = { before: figures('stored'), after: figures('counted') }
  return audit(tx, deps, { actor: system, action: 'kpis.mended', subject: dayText(day), ...difference })
}
