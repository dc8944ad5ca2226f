import { AppError } from '../../core/errors.ts'

/** Who imports over HTTP at the moment, in this process: each holds a file of up to 20 MB in memory. */
export type ImportSlots = {
  /**
   * Takes a shop's only slot.
   * @returns gives it back
   * @throws AppError RATE_LIMITED while the shop imports already, or too many shops do
   */
  take(shopId: string): () => void
}

const shopsMax = 16
const retryAfterSeconds = 5

export function createImportSlots(): ImportSlots {
  const taken = new Set<string>()
  return {
    take(shopId) {
      if (taken.has(shopId))
        throw new AppError('RATE_LIMITED', 'An import of this shop is under way: try again later', { retryAfterSeconds })
      if (taken.size >= shopsMax)
        throw new AppError('RATE_LIMITED', 'Too many imports are under way: try again later', { retryAfterSeconds })
      taken.add(shopId)
      return () => void taken.delete(shopId)
    },
  }
}
