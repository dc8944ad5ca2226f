import { AppError } from '../../core/errors.ts'

/** Who imports over HTTP at the moment, in this process. */
export type ImportSlots = {
  /**
   * Takes a shop's only slot, before its file is there.
   * @throws AppError RATE_LIMITED while the shop imports already, or too many are at work
   */
  take(shopId: string): ImportSlot
}

export type ImportSlot = {
  /**
   * The file is there, and is held in memory until the work is done: so many are at work at once.
   * @throws AppError RATE_LIMITED
   */
  begin(): void
  /** Gives back what was taken. */
  leave(): void
}

const atWorkMax = 16
const retryAfterSeconds = 5
const refused = (what: string) => new AppError('RATE_LIMITED', `${what}: try again later`, { retryAfterSeconds })

export function createImportSlots(): ImportSlots {
  const taken = new Set<string>()
  const atWork = new Set<string>()
  function assertRoom(): void {
    if (atWork.size >= atWorkMax) throw refused('Too many imports are under way')
  }
  return {
    take(shopId) {
      if (taken.has(shopId)) throw refused('An import of this shop is under way')
      // Before 20 MB are sent in vain.
      assertRoom()
      taken.add(shopId)
      return {
        begin() {
          assertRoom()
          atWork.add(shopId)
        },
        leave() {
          taken.delete(shopId)
          atWork.delete(shopId)
        },
      }
    },
  }
}
