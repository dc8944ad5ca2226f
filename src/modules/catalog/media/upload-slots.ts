import { AppError } from '../../../core/errors.ts'

/** Who hands in pictures at the moment, in this process. */
export type UploadPlaces = {
  /**
   * Takes a place for one picture, before a byte of it is read.
   * @returns what gives it back
   * @throws AppError RATE_LIMITED while the shop sends as many as it may, or all together do
   */
  take(shopId: string): () => void
  /** How many are taken. */
  taken(): number
}

const most = { ofShop: 8, ofAll: 32 }
const retryAfterSeconds = 5

export function createUploadPlaces(): UploadPlaces {
  const ofShops = new Map<string, number>()
  let all = 0
  return {
    take(shopId) {
      const own = ofShops.get(shopId) ?? 0
      if (own >= most.ofShop || all >= most.ofAll)
        throw new AppError('RATE_LIMITED', 'Too many pictures are on their way: try again later', { retryAfterSeconds })
      ofShops.set(shopId, own + 1)
      all++
      return () => {
        const left = (ofShops.get(shopId) ?? 1) - 1
        if (left === 0) ofShops.delete(shopId)
        else ofShops.set(shopId, left)
        all--
      }
    },
    taken: () => all,
  }
}
