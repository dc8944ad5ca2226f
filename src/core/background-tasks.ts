import type { Log } from '../lib/log.ts'
import { untracked } from './request-context.ts'

/** Concurrent tasks of one lane. Without a free slot the caller leaves a row that a job processes. */
const slotsMax = 8

/** A slot for one task. The task continues after the response to the request that started it. */
export type TaskSlot = {
  start(run: () => Promise<unknown>): void
  /** Releases an unused slot. */
  release(): void
}

/** Runs tasks that requests start and do not wait for. */
export type BackgroundTasks = {
  /** Reserves a slot; undefined if the lane has none free. */
  reserveSlot(lane: string): TaskSlot | undefined
  /** Resolves when no task is running. */
  whenIdle(): Promise<void>
}

export function createBackgroundTasks({ log }: { readonly log: Pick<Log, 'error'> }): BackgroundTasks {
  const taken = new Map<string, number>()
  const underWay = new Set<Promise<void>>()
  const count = (lane: string, by: number) => {
    const places = (taken.get(lane) ?? 0) + by
    if (places > 0) taken.set(lane, places)
    else taken.delete(lane)
  }

  return {
    reserveSlot(lane) {
      if ((taken.get(lane) ?? 0) >= slotsMax) return undefined
      count(lane, 1)
      return {
        start(run) {
          const work = untracked(async () => void (await run()))
            .catch((error: unknown) => log.error('errand.failed', { lane, error }))
            .finally(() => {
              count(lane, -1)
              underWay.delete(work)
            })
          underWay.add(work)
        },
        release: () => count(lane, -1),
      }
    },
    async whenIdle() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
