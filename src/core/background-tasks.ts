import type { Log } from '../lib/log.ts'
import { aside } from './request-context.ts'

/** Of one lane at once. Whoever finds no place leaves a row behind, which a job takes up. */
const placesMax = 8

/** A place in a lane: what is begun in it goes on when the request that began it has been answered. */
export type Place = {
  begin(run: () => Promise<unknown>): void
  /** Gives the place back unused. */
  leave(): void
}

/** What requests leave behind to be done at once, for which they do not wait. */
export type Errands = {
  /** Undefined when there is no place. */
  placeIn(lane: string): Place | undefined
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
}

export function createErrands({ log }: { readonly log: Pick<Log, 'error'> }): Errands {
  const taken = new Map<string, number>()
  const underWay = new Set<Promise<void>>()
  const count = (lane: string, by: number) => {
    const places = (taken.get(lane) ?? 0) + by
    if (places > 0) taken.set(lane, places)
    else taken.delete(lane)
  }

  return {
    placeIn(lane) {
      if ((taken.get(lane) ?? 0) >= placesMax) return undefined
      count(lane, 1)
      return {
        begin(run) {
          const work = aside(async () => void (await run()))
            .catch((error: unknown) => log.error('errand.failed', { lane, error }))
            .finally(() => {
              count(lane, -1)
              underWay.delete(work)
            })
          underWay.add(work)
        },
        leave: () => count(lane, -1),
      }
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
