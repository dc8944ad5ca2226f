import { type BackgroundReader, isDatabaseAway } from '../../../../db/engine.ts'
import { dayText } from '../../../lib/day.ts'
import { backfillKpis } from './backfill.ts'
import { type Difference, type KpiPart, kpiParts } from './domain.ts'
import { findDifferences, nextDay, type SpanDifference, spanDifferences } from './facts-store.ts'
import { loggableSum, problemsMax, type RepairDeps, repairBlock, repairDay } from './repair.ts'
import { kpiStore as store } from './store.ts'

type Read = Pick<BackgroundReader, 'rows'>

/** Sums of several days are compared per block of this many days. */
const blockDays = 64
const blockOf = (day: number): number => Math.floor(day / blockDays) * blockDays

/** Yields the days with data, oldest first, and the thread between them. */
async function* days(read: Read): AsyncGenerator<number> {
  for (let day = await nextDay(read, 0); day !== undefined; day = await nextDay(read, day + 1)) {
    yield day
    await new Promise((resume) => setImmediate(resume))
  }
}

/** Yields each day, and each block after its days. */
async function* withBlocks(read: Read): AsyncGenerator<{ day: number } | { block: number }> {
  let block: number | undefined
  for await (const day of days(read)) {
    if (block !== undefined && block !== blockOf(day)) yield { block }
    block = blockOf(day)
    yield { day }
  }
  if (block !== undefined) yield { block }
}

const differenceText = ({ kpi, day, key, stored, counted }: Difference): string =>
  `${kpi} of ${key} on ${dayText(day)}: stored ${stored}, counted ${counted}`
const spanDifferenceText = (difference: SpanDifference): string =>
  `${difference.kpi} of ${difference.key} in ${difference.span} days from ${dayText(difference.day)}: stored ${difference.stored}, counted ${difference.counted}`

/** Compares stored figures with the facts. Each day is one statement, so that writes do not interfere. */
export async function* checkKpis(read: Read): AsyncGenerator<{ subject: string; problems: string[] }> {
  const parts: KpiPart[] = []
  for (const part of kpiParts) if ((await store.filledAt(read, part)) !== undefined) parts.push(part)
  if (parts.length === 0) return
  const problems: string[] = []
  for await (const unit of withBlocks(read)) {
    if ('day' in unit) problems.push(...(await findDifferences(read, unit.day, parts)).map(differenceText))
    else problems.push(...(await spanDifferences(read, unit.block)).map(spanDifferenceText))
    if (problems.length >= problemsMax) break
  }
  yield { subject: 'figures of the dashboards', problems: problems.slice(0, problemsMax) }
}

type RebuildResult = { readonly days: number; readonly differences: number }

/**
 * Recounts every day and repairs differences. Each difference is a log error and an audit row.
 * Concurrent writes do not interfere: a day is compared by one statement and repaired by one write.
 * @throws Error with the days that failed, after all others are done
 */
export async function rebuildKpis(deps: RepairDeps): Promise<RebuildResult> {
  // Days that were never counted would differ everywhere.
  await backfillKpis(deps)
  let [count, differences] = [0, 0]
  const failed: string[] = []
  const reader = deps.db.backgroundReader()
  try {
    for await (const unit of withBlocks(reader)) {
      if (deps.life.stopping) break
      const isDay = 'day' in unit
      if (isDay) count++
      const day = isDay ? unit.day : unit.block
      try {
        const found = isDay ? await findDifferences(reader, day) : await spanDifferences(reader, day)
        if (found.length === 0) continue
        differences += found.length
        logDifferences(deps, day, found)
        if (isDay) await repairDay(deps, day, found, false)
        else await repairBlock(deps, day)
      } catch (error) {
        // A slow day does not stop the others, but an unavailable database does.
        if (!isDatabaseAway(error) || failed.length === failedMax) throw error
        failed.push(`${dayText(day)}${isDay ? '' : ' and after'}`)
      }
    }
  } finally {
    reader.close()
  }
  if (failed.length > 0)
    throw new Error(`${failed.length === 1 ? '1 day' : `${failed.length} days`} could not be counted: ${failed.join(', ')}`)
  return { days: count, differences }
}

/** Failed days after which a run is aborted. */
const failedMax = 5

const logDifferences = ({ log }: Pick<RepairDeps, 'log'>, day: number, found: readonly Difference[]): void =>
  log.error('kpis.differ', {
    day: dayText(day),
    figures: found.slice(0, problemsMax).map((difference) => ({
      ...difference,
      day: dayText(difference.day),
      counted: loggableSum(difference.counted),
      stored: loggableSum(difference.stored),
    })),
  })
