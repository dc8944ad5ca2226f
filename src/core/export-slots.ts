import { AppError } from './errors.ts'

/** How many lists are told whole at the moment, in this process. */
export type ExportSlots = {
  /**
   * Takes one of the places of a shop, or of whatever else is told whole.
   * @param of what the place is of: the id of a shop
   * @param whose the same in words
   * @returns what gives it back, however often it is called
   * @throws AppError RATE_LIMITED while it has as many as it may, or all together
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
