import { AppError } from '../../../core/errors.ts'

/** Limits concurrent uploads of pictures in this process. */
export type UploadSlots = {
  /**
   * Takes a slot for one upload, before its body is read.
   * @returns the function that frees it
   * @throws AppError RATE_LIMITED if all slots of the shop or of the process are in use
   */
  take(shopId: string): () => void
  /** Returns the number of slots in use. */
  inUse(): number
}

const limits = { perShop: 8, perProcess: 32 }
const retryAfterSeconds = 5

export function createUploadSlots(): UploadSlots {
  const ofShops = new Map<string, number>()
  let all = 0
  return {
    take(shopId) {
      const used = ofShops.get(shopId) ?? 0
      if (used >= limits.perShop || all >= limits.perProcess)
        throw new AppError('RATE_LIMITED', 'Too many pictures are on their way: try again later', { retryAfterSeconds })
      ofShops.set(shopId, used + 1)
      all++
      return () => {
        const left = (ofShops.get(shopId) ?? 1) - 1
        if (left === 0) ofShops.delete(shopId)
        else ofShops.set(shopId, left)
        all--
      }
    },
    inUse: () => all,
  }
}
