import type { Log } from '../lib/log.ts'
import { createSemaphore } from './limits/semaphore.ts'
import { runUntracked } from './request-context.ts'

/** Concurrent tasks of one lane. Without a free slot the caller leaves a row that a job processes. */
const perLane = 8

/** Runs tasks that requests start and do not wait for. */
type BackgroundTasks = {
  /** Starts a task that continues after the response; does nothing if the lane has no free slot. */
  start(lane: string, run: () => Promise<unknown>): void
  /** Resolves when no task is running. */
  whenIdle(): Promise<void>
}

/** Creates the runner of a process. A task that fails is logged, not thrown. */
export function createBackgroundTasks({ log }: { readonly log: Pick<Log, 'error'> }): BackgroundTasks {
  const slots = createSemaphore({ perOwner: perLane })
  const running = new Set<Promise<void>>()

  return {
    start(lane, run) {
      const release = slots.tryTake(lane)
      if (!release) return
      const work = runUntracked(async () => void (await run()))
        .catch((error: unknown) => log.error('errand.failed', { lane, error }))
        .finally(() => {
          release()
          running.delete(work)
        })
      running.add(work)
    },
    async whenIdle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
