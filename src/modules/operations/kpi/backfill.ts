import type { BackgroundReader, Database } from '../../../../db/engine.ts'
import { dayMs, dayNumberOf, dayText, minuteMs } from '../../../lib/day.ts'
import { type KpiPart, kpiParts } from './domain.ts'
import { dayBefore, findDifferences } from './facts-store.ts'
import { type RepairDeps, repairDay } from './repair.ts'
import { kpiStore as store } from './store.ts'

/** The interval of progress log entries. */
const progressMs = minuteMs / 2

/** Attempts per day while sales continue. The nightly job repairs the rest. */
const dayTries = 5

/** After every day with data. */
const endOfDays = 1_000_000

/**
 * Counts the figures of the time before they were stored: first the network's, then the shops'. Sales continue
 * meanwhile.
 * Reads of a part that is being counted get UNAVAILABLE. An aborted run continues after the last counted day, also in
 * another process.
 */
export async function backfillKpis(deps: RepairDeps): Promise<void> {
  const { db, life } = deps
  // Set before the first read, which would otherwise show a past without sales.
  life.countingPast = 'NETWORK'
  for (const part of kpiParts) {
    if ((await store.filledAt(db.read, part)) === undefined && !(await backfillPart(deps, part))) return
    life.countingPast = part === 'NETWORK' ? 'SHOPS' : undefined
  }
}

/**
 * Counts from the newest day back, since recent days are read most.
 * @returns false if the process stops before the end
 */
async function backfillPart(deps: RepairDeps, part: KpiPart): Promise<boolean> {
  const { db, log, clock, life } = deps
  const reader = db.backgroundReader()
  try {
    let [count, loggedAt] = [0, clock.now()]
    let day = await dayBefore(reader, (await store.countedFrom(db.read, part)) ?? endOfDays)
    while (day !== undefined) {
      if (life.stopping) return false
      const countedDay = day
      await countDay(deps, reader, countedDay, part)
      await db.write((tx) => store.setCountedFrom(tx, part, countedDay))
      count++
      if (clock.now() - loggedAt >= progressMs) {
        loggedAt = clock.now()
        log.info('kpis.counting', { figures: part, day: dayText(countedDay), days: count })
      }
      day = await dayBefore(reader, countedDay)
    }
    await db.write((tx) => store.setFilled(tx, part, clock.now()))
    if (count > 0) log.info('kpis.counted', { figures: part, days: count })
    return true
  } finally {
    reader.close()
  }
}

/** @returns how many figures were written */
async function countDay(deps: RepairDeps, reader: Pick<BackgroundReader, 'rows'>, day: number, part: KpiPart): Promise<number> {
  let repaired = 0
  for (let triesLeft = dayTries; triesLeft > 0; triesLeft--) {
    const differences = await findDifferences(reader, day, [part])
    const written = (await repairDay(deps, day, differences, true)).length
    repaired += written
    if (written === differences.length) break
  }
  return repaired
}

/**
 * How often, and for how long after the backfill, recent days are counted again. By then an upgrade of all processes
 * has ended, and the nightly job repairs the rest.
 */
const [recountEveryMs, recountForMs] = [10 * minuteMs, dayMs]
const lastRecounts = new WeakMap<Database, number>()

/**
 * Counts the shops' figures of yesterday and today again. During an upgrade on PostgreSQL, processes of a version
 * without these figures may fold sales.
 * Runs at the first call, then every ten minutes for a day after the backfill.
 * @returns how many figures were written
 */
export async function recountShops(deps: RepairDeps): Promise<number> {
  const { db, clock, log } = deps
  const now = clock.now()
  const last = lastRecounts.get(db)
  if (db.file !== undefined || (last !== undefined && last <= now && now < last + recountEveryMs)) return 0
  const filledAt = await store.filledAt(db.read, 'SHOPS')
  if (filledAt === undefined || (last !== undefined && now > filledAt + recountForMs)) return 0
  lastRecounts.set(db, now)
  const [reader, today] = [db.backgroundReader(), dayNumberOf(now)]
  try {
    let repaired = 0
    for (const day of [today - 1, today]) repaired += await countDay(deps, reader, day, 'SHOPS')
    if (repaired > 0)
      log.warn('kpis.shops_recounted', {
        figures: repaired,
        reason: 'sales were folded by a process of a version without figures of shops',
      })
    return repaired
  } finally {
    reader.close()
  }
}
