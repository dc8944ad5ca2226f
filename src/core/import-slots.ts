import { AppError } from './errors.ts'

/** Who imports over HTTP at the moment, in this process. */
export type ImportSlots = {
  /**
   * Takes the only slot of a shop, or of whatever else is imported, before its file is there.
   * @param of what the slot is of: the id of a shop
   * @param whose the same in words
   * @throws AppError RATE_LIMITED while it imports already, or too many are at work
   */
  take(of: string, whose?: string): ImportSlot
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
    take(of, whose = 'of this shop') {
      if (taken.has(of)) throw refused(`An import ${whose} is under way`)
      // Before 20 MB are sent in vain.
      assertRoom()
      taken.add(of)
      return {
        begin() {
          assertRoom()
          atWork.add(of)
        },
        leave() {
          taken.delete(of)
          atWork.delete(of)
        },
      }
    },
  }
}
