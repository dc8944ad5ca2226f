import { AppError } from './errors.ts'

/** How many lists are told whole at the moment, in this process. */
export type ExportSlots = {
  /**
   * Takes one of a shop's places.
   * @returns what gives it back, however often it is called
   * @throws AppError RATE_LIMITED while the shop has as many as it may, or all shops together
   */
  take(shopId: string): () => void
}

const ofShopMax = 2
const ofAllMax = 16
const retryAfterSeconds = 5
const refused = (what: string) => new AppError('RATE_LIMITED', `${what}: try again later`, { retryAfterSeconds })

export function createExportSlots(): ExportSlots {
  const taken = new Map<string, number>()
  let all = 0
  return {
    take(shopId) {
      const own = taken.get(shopId) ?? 0
      if (own >= ofShopMax) throw refused(`${ofShopMax} exports of this shop are under way`)
      if (all >= ofAllMax) throw refused('Too many exports are under way')
      taken.set(shopId, own + 1)
      all++
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        all--
        const left = (taken.get(shopId) ?? 1) - 1
        if (left === 0) taken.delete(shopId)
        else taken.set(shopId, left)
      }
    },
  }
}
