import type { Aside, Database } from '../../../../db/engine.ts'
import { dayNumberOf, dayText, type KpiPart, kpiParts } from './domain.ts'
import { dayBefore, differencesOf } from './facts-store.ts'
import { type MendDeps, mendDay } from './repair.ts'
import { kpiStore as store } from './store.ts'

const minute = 60_000
/** Between two lines of the log that say how far a first count is. */
const progressMs = minute / 2

/** How often a day is counted of which something changed meanwhile; the night mends what is left. */
const triesOfDay = 5

/** After every day that there is anything of. */
const endOfDays = 1_000_000

/**
 * Counts what was there before figures were kept: once, those of the dashboards and those of shops by themselves. Others buy and read meanwhile; until it has
 * ended whoever asks for what is being counted is told that nobody can tell yet. One that is broken off goes on behind the last day that it had counted, and of
 * two processes neither counts twice.
 */
export async function fillKpis(deps: MendDeps): Promise<void> {
  const { db, life } = deps
  // Until it is known: whoever asks before that would be told of a past without sales.
  life.countingPast = 'NETWORK'
  for (const part of kpiParts) {
    if ((await store.filledAt(db.read, part)) === undefined && !(await fillPart(deps, part))) return
    life.countingPast = part === 'NETWORK' ? 'SHOPS' : undefined
  }
}

/** Day by day from the newest back, so that what people look at first is there first. @returns false where the process ends before that */
async function fillPart(deps: MendDeps, part: KpiPart): Promise<boolean> {
  const { db, log, clock, life } = deps
  const aside = db.aside()
  try {
    let [count, toldAt] = [0, clock.now()]
    let day = await dayBefore(aside, (await store.countedFrom(db.read, part)) ?? endOfDays)
    while (day !== undefined) {
      if (life.stopping) return false
      const done = day
      await countDay(deps, aside, done, part)
      await db.write((tx) => store.setCountedFrom(tx, part, done))
      count++
      if (clock.now() - toldAt >= progressMs) {
        toldAt = clock.now()
        log.info('kpis.counting', { figures: part, day: dayText(done), days: count })
      }
      day = await dayBefore(aside, done)
    }
    await db.write((tx) => store.setFilled(tx, part, clock.now()))
    if (count > 0) log.info('kpis.counted', { figures: part, days: count })
    return true
  } finally {
    aside.close()
  }
}

/** @returns how many figures were made up */
async function countDay(deps: MendDeps, aside: Pick<Aside, 'rows'>, day: number, part: KpiPart): Promise<number> {
  let mended = 0
  for (let left = triesOfDay; left > 0; left--) {
    const found = await differencesOf(aside, day, [part])
    const made = (await mendDay(deps, day, found, true)).length
    mended += made
    if (made === found.length) break
  }
  return mended
}

/** How often it is looked, and for how long after the past was counted: until then an upgrade of all processes has ended, and a night has mended the rest. */
const [lookedEveryMs, lookedForMs] = [10 * minute, 24 * 60 * minute]
const lookedAt = new WeakMap<Database, number>()

/**
 * Counts figures of shops anew of yesterday and today, where a process of a version that has none may have folded sales beside this one: at the first call of a
 * process, and every ten minutes of the day after the past was counted. On SQLite no two versions run beside each other.
 * @returns how many figures it made up
 */
export async function recountShops(deps: MendDeps): Promise<number> {
  const { db, clock, log } = deps
  const now = clock.now()
  const last = lookedAt.get(db)
  if (db.file !== undefined || (last !== undefined && last <= now && now < last + lookedEveryMs)) return 0
  const filledAt = await store.filledAt(db.read, 'SHOPS')
  if (filledAt === undefined || (last !== undefined && now > filledAt + lookedForMs)) return 0
  lookedAt.set(db, now)
  const [aside, today] = [db.aside(), dayNumberOf(now)]
  try {
    let mended = 0
    for (const day of [today - 1, today]) mended += await countDay(deps, aside, day, 'SHOPS')
    if (mended > 0)
      log.warn('kpis.shops_recounted', { figures: mended, reason: 'folded by a process of a version that keeps none of shops' })
    return mended
  } finally {
    aside.close()
  }
}
