import { AppError } from './errors.ts'

/** Limits concurrent HTTP imports of this process. */
export type ImportSlots = {
  /**
   * Takes the only slot of an owner, before the file is uploaded.
   * @param of owner of the slot, such as a shop id
   * @param whose the owner in words
   * @throws AppError RATE_LIMITED if the owner imports already, or the process has no free slot
   */
  take(of: string, whose?: string): ImportSlot
}

export type ImportSlot = {
  /**
   * Counts the import as running, because its file is in memory from now on.
   * @throws AppError RATE_LIMITED if too many imports run
   */
  begin(): void
  /** Releases the slot. */
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
      // Refuse before the client sends up to 20 MB.
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
