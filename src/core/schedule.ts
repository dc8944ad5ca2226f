/** The times of a pattern (cron-pattern.ts says which there are), in milliseconds, UTC. */
export type Schedule = {
  /** The first time after this one; undefined where none comes, as of the 30th of February. */
  next(after: number): number | undefined
  /** The last time before this one. */
  last(before: number): number | undefined
}

/** Loads croner when it is first asked for: a command that runs nothing needs none. */
export async function openSchedule(pattern: string): Promise<Schedule> {
  const { Cron } = await import('croner')
  const cron = new Cron(pattern, { utcOffset: 0 })
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    last: (before) => cron.previousRuns(1, new Date(before))[0]?.getTime(),
  }
}
