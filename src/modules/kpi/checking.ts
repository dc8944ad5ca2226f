import { type Aside, isDatabaseAway } from '../../../db/engine.ts'
import { system } from '../../core/change.ts'
import type { Deps } from '../../core/deps.ts'
import { audit } from '../audit/index.ts'
import { amountsOf, type Difference, dayText } from './domain.ts'
import { differencesOf, keptName, keptOf, nextDay, type SpanDifference, spanDifferences } from './facts-store.ts'
import { addSums, kpiStore as store } from './store.ts'

type MendDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'log' | 'life'>
type Read = Pick<Aside, 'rows'>

const problemsMax = 20
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
  if (!(await store.isFilled(read))) return
  const problems: string[] = []
  for await (const at of withBlocks(read)) {
    if ('day' in at) problems.push(...(await differencesOf(read, at.day)).map(told))
    else problems.push(...(await spanDifferences(read, at.block)).map(toldSpan))
    if (problems.length >= problemsMax) break
  }
  yield { subject: 'figures of the dashboards', problems: problems.slice(0, problemsMax) }
}

/** Figures that are made up in one write: others wait behind it. Each of these looks at the whole day first, and of a past that was never counted all are. */
const mendedAtOnce = { first: 2_500, later: 500 }

/**
 * Makes up what is kept of a day for what its facts say, in small writes. What has changed since it was found is left: facts and figures
 * change together, so nothing else has.
 * @returns what it made up
 */
async function mendDay(deps: MendDeps, day: number, found: readonly Difference[], isFirst: boolean): Promise<Difference[]> {
  const mended: Difference[] = []
  const atOnce = isFirst ? mendedAtOnce.first : mendedAtOnce.later
  for (let at = 0; at < found.length; at += atOnce)
    mended.push(
      ...(await deps.db.write(async (tx) => {
        const kept = await keptOf(tx, day)
        const some = found.slice(at, at + atOnce).filter((one) => (kept.get(keptName(one)) ?? 0n) === one.kept)
        await store.append(
          tx,
          some.flatMap(({ kpi, key, counted, kept: before }) =>
            amountsOf(counted - before).map((value) => ({ kpi, day, id: deps.newId('change'), key, value })),
          ),
        )
        if (!isFirst && some.length > 0) await noteMended(tx, deps, day, some)
        return some
      })),
    )
  return mended
}

const mendBlock = (deps: MendDeps, block: number): Promise<SpanDifference[]> =>
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
const shown = (sum: bigint): number | string => (Number.isSafeInteger(Number(sum)) ? Number(sum) : String(sum))

const noteMended = (tx: Parameters<typeof audit>[0], deps: MendDeps, day: number, found: readonly (Difference & { span?: number })[]) => {
  const figures = (of: 'kept' | 'counted') =>
    Object.fromEntries(found.slice(0, problemsMax).map((one) => [`${one.kpi} ${one.key}${one.span ? ` ${one.span}` : ''}`, shown(one[of])]))
  const difference = { before: figures('kept'), after: figures('counted') }
  return audit(tx, deps, { actor: system, action: 'kpis.mended', subject: dayText(day), ...difference })
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

/** Days between two lines of the log that say how far a first count is. */
const progressDays = 100

/** How often a day is counted of which something changed meanwhile; the night mends what is left. */
const triesOfDay = 5

/**
 * Counts what was there before the figures were kept: once. Others buy and read meanwhile, and until it has ended the dashboards say that they
 * cannot tell yet. One that is broken off goes on at the next start, and of two processes neither counts twice.
 */
export async function fillKpis(deps: MendDeps): Promise<void> {
  const { db, log, clock, life } = deps
  // Until it is known: whoever asks before that would be told of a past without sales.
  life.countingPast = true
  if (await store.isFilled(db.read)) {
    life.countingPast = false
    return
  }
  const aside = db.aside()
  try {
    let count = 0
    for await (const day of days(aside)) {
      if (life.stopping) return
      for (let left = triesOfDay; left > 0; left--) {
        const found = await differencesOf(aside, day)
        if ((await mendDay(deps, day, found, true)).length === found.length) break
      }
      if (++count % progressDays === 0) log.info('kpis.counting', { day: dayText(day), days: count })
    }
    await db.write((tx) => store.setFilled(tx, clock.now()))
    if (count > 0) log.info('kpis.counted', { days: count })
    life.countingPast = false
  } finally {
    aside.close()
  }
}
