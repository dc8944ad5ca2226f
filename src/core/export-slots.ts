import { AppError } from './errors.ts'

/** Limits concurrent exports of this process. */
export type ExportSlots = {
  /**
   * Takes a slot.
   * @param of owner of the slot, such as a shop id
   * @param whose the owner in words
   * @returns a function that releases the slot; repeated calls do nothing
   * @throws AppError RATE_LIMITED if the owner, or the process, has no free slot
   */
  take(of: string, whose?: string): () => void
}

const ofOneMax = 2
const ofAllMax = 16
const retryAfterSeconds = 5
const refused = (what: string) => new AppError('RATE_LIMITED', `${what}: try again later`, { retryAfterSeconds })

export function createExportSlots(): ExportSlots {
  const taken = new Map<string, number>()
  let all = 0
  return {
    take(of, whose = 'of this shop') {
      const own = taken.get(of) ?? 0
      if (own >= ofOneMax) throw refused(`${ofOneMax} exports ${whose} are under way`)
      if (all >= ofAllMax) throw refused('Too many exports are under way')
      taken.set(of, own + 1)
      all++
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        all--
        const left = (taken.get(of) ?? 1) - 1
        if (left === 0) taken.delete(of)
        else taken.set(of, left)
      }
    },
  }
}
