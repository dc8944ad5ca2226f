import { type JobView, storedJobs } from '../modules/operations/job/index.ts'
import type { Input } from './command.ts'
import { readOnlyDeps, withDatabase } from './database-command.ts'

/**
 * `souk jobs`: shows the stored state of every job, without keys or migrations.
 * @returns 1 if a job is stuck or its last run failed
 */
export async function jobs({ config: settings }: Input): Promise<number> {
  const config = settings()
  return withDatabase(config, async (db) => {
    const all = await storedJobs({ ...readOnlyDeps, db, config, processName: 'jobs' })
    process.stdout.write(jobsText(all))
    return all.some(({ state, lastRun }) => state === 'stuck' || (lastRun && lastRun.result !== 'OK')) ? 1 : 0
  })
}

/** Returns a table for a terminal, followed by errors and idle jobs. */
function jobsText(all: readonly JobView[]): string {
  const rows = all.map(({ name, state, lastRun, nextRun }) => [
    name,
    state,
    lastRun?.startedAt ?? 'never',
    lastRun?.result ?? '',
    lastRun?.durationMs === null || lastRun === null ? '' : `${lastRun.durationMs} ms`,
    nextRun ?? '',
  ])
  const table = [['JOB', 'STATE', 'LAST RUN', 'RESULT', 'TOOK', 'NEXT RUN'], ...rows]
  const widths = table.reduce((most, row) => row.map((cell, at) => Math.max(most[at] ?? 0, cell.length)), [] as number[])
  const lines = table.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const notes = all.flatMap(({ name, lastRun, idleBecause }) =>
    idleBecause ? [`${name} is idle: ${idleBecause}`] : lastRun?.error ? [`${name}: ${lastRun.error}`] : [],
  )
  return `${[...lines, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`
}
