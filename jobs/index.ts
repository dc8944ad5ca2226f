/** Croner wiring only: what a job does is in its own file. */
import { Cron } from 'croner'
import type { AppDeps } from '../src/app.ts'
import { checkpoint } from './checkpoint.ts'
import { foldListings } from './fold-listings.ts'
import { forget } from './forget.ts'

type Job = {
  name: string
  /** Croner pattern, with seconds. */
  pattern: string
  run: (deps: AppDeps) => Promise<unknown>
}

const jobs: readonly Job[] = [
  { name: 'forget', pattern: '0 */10 * * * *', run: forget },
  { name: 'fold-listings', pattern: '15 * * * * *', run: foldListings },
  { name: 'checkpoint', pattern: '30 * * * * *', run: checkpoint },
]

/** Runs every job on its schedule, never twice at once. `stop` waits for those at work. */
export function startJobs(deps: AppDeps): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>()
  const crons = jobs.map(({ name, pattern, run }) => {
    const once = async () => {
      try {
        await run(deps)
      } catch (error) {
        deps.log.error('job.failed', { job: name, error })
      }
    }
    return new Cron(pattern, { name, protect: true, timezone: 'UTC' }, () => {
      const work = once().finally(() => running.delete(work))
      running.add(work)
      return work
    })
  })
  return {
    async stop() {
      for (const cron of crons) cron.stop()
      await Promise.all(running)
    },
  }
}
