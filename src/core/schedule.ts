/** Times of a cron pattern (see cron-pattern.ts), in UTC milliseconds. */
export type Schedule = {
  /** Returns the first time after `after`; undefined if there is none, such as February 30. */
  next(after: number): number | undefined
  /** Returns the last time before `before`. */
  last(before: number): number | undefined
}

/** Loads croner on demand, because most commands do not schedule anything. */
export async function openSchedule(pattern: string): Promise<Schedule> {
  const { Cron } = await import('croner')
  const cron = new Cron(pattern, { utcOffset: 0 })
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    last: (before) => cron.previousRuns(1, new Date(before))[0]?.getTime(),
  }
}
