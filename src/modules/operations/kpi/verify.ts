import { type Aside, isDatabaseAway } from '../../../../db/engine.ts'
import { fillKpis } from './backfill.ts'
import { type Difference, dayText, type KpiPart, kpiParts } from './domain.ts'
import { differencesOf, nextDay, type SpanDifference, spanDifferences } from './facts-store.ts'
import { type MendDeps, mendBlock, mendDay, problemsMax, shown } from './repair.ts'
import { kpiStore as store } from './store.ts'

type Read = Pick<Aside, 'rows'>

/** Days of which sums by more than a day are looked at together. */
const blockDays = 64
const blockOf = (day: number): number => Math.floor(day / blockDays) * blockDays

/** The days of which there is anything, oldest first. Between two of them others have their turn. */
async function* days(read: Read): AsyncGenerator<number> {
  for (let day = await nextDay(read, 0); day !== undefined; day = await nextDay(read, day + 1)) {
    yield day
    await new Promise((resume) => setImmediate(resume))
  }
}

/** The blocks that days lie in, each once, after its days. */
async function* withBlocks(read: Read): AsyncGenerator<{ day: number } | { block: number }> {
  let block: number | undefined
  for await (const day of days(read)) {
    if (block !== undefined && block !== blockOf(day)) yield { block }
    block = blockOf(day)
    yield { day }
  }
  if (block !== undefined) yield { block }
}

const told = ({ kpi, day, key, kept, counted }: Difference): string => `${kpi} of ${key} on ${dayText(day)}: ${kept} is kept of ${counted}`
const toldSpan = (one: SpanDifference): string =>
  `${one.kpi} of ${one.key} in ${one.span} days from ${dayText(one.day)}: ${one.kept} is kept of ${one.counted}`

/** What the dashboards count against what there is: each day by one statement, so that a write in between changes nothing. */
export async function* kpiFindings(read: Read): AsyncGenerator<{ subject: string; problems: string[] }> {
  const parts: KpiPart[] = []
  for (const part of kpiParts) if ((await store.filledAt(read, part)) !== undefined) parts.push(part)
  if (parts.length === 0) return
  const problems: string[] = []
  for await (const at of withBlocks(read)) {
    if ('day' in at) problems.push(...(await differencesOf(read, at.day, parts)).map(told))
    else problems.push(...(await spanDifferences(read, at.block)).map(toldSpan))
    if (problems.length >= problemsMax) break
  }
  yield { subject: 'figures of the dashboards', problems: problems.slice(0, problemsMax) }
}

export type Rebuilt = { readonly days: number; readonly differences: number }

/**
 * Counts the figures of every day anew from the facts, and holds what is kept against it. What differs is an error in the log, a row of the
 * audit trail, and mended. What is written meanwhile changes nothing: a day is looked at by one statement, and mended by one write.
 * @throws Error naming the days that could not be counted, once all others are
 */
export async function rebuildKpis(deps: MendDeps): Promise<Rebuilt> {
  // What was never counted differs from all that there is.
  await fillKpis(deps)
  let [count, differences] = [0, 0]
  const failed: string[] = []
  const aside = deps.db.aside()
  try {
    for await (const at of withBlocks(aside)) {
      if (deps.life.stopping) break
      const isDay = 'day' in at
      if (isDay) count++
      const day = isDay ? at.day : at.block
      try {
        const found = isDay ? await differencesOf(aside, day) : await spanDifferences(aside, day)
        if (found.length === 0) continue
        differences += found.length
        tellDifferences(deps, day, found)
        if (isDay) await mendDay(deps, day, found, false)
        else await mendBlock(deps, day)
      } catch (error) {
        // One that takes too long keeps no other from being looked at; a database that is away fails of all of them.
        if (!isDatabaseAway(error) || failed.length === failedMax) throw error
        failed.push(`${dayText(day)}${isDay ? '' : ' and after'}`)
      }
    }
  } finally {
    aside.close()
  }
  if (failed.length > 0)
    throw new Error(`${failed.length === 1 ? '1 day' : `${failed.length} days`} could not be counted: ${failed.join(', ')}`)
  return { days: count, differences }
}

/** Days that may fail of a night before it is given up. */
const failedMax = 5

const tellDifferences = ({ log }: Pick<MendDeps, 'log'>, day: number, found: readonly Difference[]): void =>
  log.error('kpis.differ', {
    day: dayText(day),
    figures: found
      .slice(0, problemsMax)
      .map((one) => ({ ...one, day: dayText(one.day), counted: shown(one.counted), kept: shown(one.kept) })),
  })
