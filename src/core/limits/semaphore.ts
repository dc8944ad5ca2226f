/**
 * Limits what runs at once, for an owner (such as a shop) and in this process.
 * Prevents: clients that start many uploads and exports at once and use up memory, disk and the main thread.
 * Bench: abuse, "imports of 19 MB, one after the other".
 */
import { AppError } from '../errors.ts'

type Semaphore = {
  /**
   * Takes a slot.
   * @param whose the owner in words, for the refusal
   * @param weight what it adds to `weight()`
   * @returns a function that releases the slot; repeated calls do nothing
   * @throws AppError RATE_LIMITED without a free slot
   */
  take(owner: string, whose?: string, weight?: number): () => void
  /** Takes a slot; returns undefined without a free one. */
  tryTake(owner: string, weight?: number): (() => void) | undefined
  /** Returns the sum of the weights in use. */
  weight(): number
}

type SemaphoreLimits = {
  readonly perOwner: number
  readonly total?: number
  /** What the refusals say. `ofOwner` gets the owner in words. */
  readonly refusals?: { readonly ofOwner: (whose: string) => string; readonly ofAll: string }
}

const retryAfterSeconds = 5

/** Creates a semaphore. Nothing waits for a slot: without a free one the caller is refused. */
export function createSemaphore({ perOwner, total = Number.POSITIVE_INFINITY, refusals }: SemaphoreLimits): Semaphore {
  const counts = new Map<string, number>()
  let [usedSlots, weights] = [0, 0]
  const isOwnerFull = (owner: string) => (counts.get(owner) ?? 0) >= perOwner

  function add(owner: string, by: 1 | -1, weight: number): void {
    const count = (counts.get(owner) ?? 0) + by
    if (count > 0) counts.set(owner, count)
    else counts.delete(owner)
    usedSlots += by
    weights += by * weight
  }

  function tryTake(owner: string, weight = 1): (() => void) | undefined {
    if (isOwnerFull(owner) || usedSlots >= total) return undefined
    add(owner, 1, weight)
    let isTaken = true
    return () => {
      if (isTaken) add(owner, -1, weight)
      isTaken = false
    }
  }

  return {
    tryTake,
    take(owner, whose = 'of this shop', weight = 1) {
      const release = tryTake(owner, weight)
      if (release) return release
      const what = isOwnerFull(owner) ? refusals?.ofOwner(whose) : refusals?.ofAll
      throw new AppError('RATE_LIMITED', `${what}: try again later`, { retryAfterSeconds })
    },
    weight: () => weights,
  }
}
