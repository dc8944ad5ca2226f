import type { Deps } from '../../../core/deps.ts'
import type { LiveDeps } from '../../messaging/live-events/index.ts'
import { createJobRunner } from './job-runner.ts'
import { createJobStore } from './store.ts'

export function jobProviders(deps: Deps & Pick<LiveDeps, 'liveNotes'>) {
  const jobStore = createJobStore(deps.db)
  return {
    jobStore,
    /** The jobs of this process and their state. */
    jobRunner: createJobRunner({ ...deps, jobStore }),
  }
}
export type JobDeps = ReturnType<typeof jobProviders>
