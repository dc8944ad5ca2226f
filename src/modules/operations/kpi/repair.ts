import { system } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { audit } from '../audit/index.ts'
import { amountsOf, type Difference, dayText, foldedOf } from './domain.ts'
import { keptName, keptOf, type SpanDifference, spanDifferences } from './facts-store.ts'
import { addSums, kpiStore as store } from './store.ts'

export type MendDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'log' | 'life'>

/** Figures that are told at once. */
export const problemsMax = 20

/** Figures that are made up in one write: others wait behind it. */
const mendedAtOnce = 500

/**
 * Makes up what is kept of a day for what its facts say, in small writes. What has changed since it was found is left: facts and figures
 * change together, so nothing else has.
 * @param isFirst of a day that was never counted: by sums at once, since nobody appends to most of these days, and nobody is told
 * @returns what it made up
 */
export async function mendDay(deps: MendDeps, day: number, found: readonly Difference[], isFirst: boolean): Promise<Difference[]> {
  const mended: Difference[] = []
  for (let at = 0; at < found.length; at += mendedAtOnce) {
    mended.push(
      ...(await deps.db.write(async (tx) => {
        const these = found.slice(at, at + mendedAtOnce)
        const kept = await keptOf(tx, day, these)
        const some = these.filter((one) => (kept.get(keptName(one)) ?? 0n) === one.kept)
        const missing = some.flatMap(({ kpi, key, counted, kept: before }) =>
          amountsOf(counted - before).map((value) => ({ kpi, day, id: deps.newId('change'), key, value })),
        )
        if (isFirst) await addSums(tx, foldedOf(missing))
        else await store.append(tx, missing)
        if (!isFirst && some.length > 0) await noteMended(tx, deps, day, some)
        return some
      })),
    )
    await new Promise((resume) => setImmediate(resume))
  }
  return mended
}

/** The same of the sums by 8 and by 64 days of 64 days. */
export const mendBlock = (deps: MendDeps, block: number): Promise<SpanDifference[]> =>
  deps.db.write(async (tx) => {
    const found = await spanDifferences(tx, block)
    await addSums(
      tx,
      found.map(({ kpi, span, day, key, counted, kept }) => ({ kpi, span, day, key, value: counted - kept })),
    )
    if (found.length > 0) await noteMended(tx, deps, block, found)
    return found
  })

/** A sum for the log and the trail: as text where a number would be another one. */
export const shown = (sum: bigint): number | string => (Number.isSafeInteger(Number(sum)) ? Number(sum) : String(sum))

const noteMended = (tx: Parameters<typeof audit>[0], deps: MendDeps, day: number, found: readonly (Difference & { span?: number })[]) => {
  const figures = (of: 'kept' | 'counted') =>
    Object.fromEntries(found.slice(0, problemsMax).map((one) => [`${one.kpi} ${one.key}${one.span ? ` ${one.span}` : ''}`, shown(one[of])]))
  const difference = { before: figures('kept'), after: figures('counted') }
  return audit(tx, deps, { actor: system, action: 'kpis.mended', subject: dayText(day), ...difference })
}
