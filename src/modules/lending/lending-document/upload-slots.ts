import { AppError } from '../../../core/errors.ts'

/** Who hands in documents at the moment, in this process. */
export type UploadSlots = {
  /**
   * Takes a place for one file, before a byte of it is read.
   * @param bytes that it will have at most
   * @returns what gives it back
   * @throws AppError RATE_LIMITED while the merchant sends as many as they may, or all together do
   */
  take(merchantId: string, bytes: number): () => void
  /** How many bytes all that are under way will have at most. */
  bytes(): number
}

const most = { ofMerchant: 4, ofAll: 32 }
const retryAfterSeconds = 5

export function createUploadSlots(): UploadSlots {
  const taken = new Map<string, number>()
  let [all, bytesOfAll] = [0, 0]
  return {
    take(merchantId, bytes) {
      const own = taken.get(merchantId) ?? 0
      if (own >= most.ofMerchant || all >= most.ofAll)
        throw new AppError('RATE_LIMITED', 'Too many documents are on their way: try again later', { retryAfterSeconds })
      taken.set(merchantId, own + 1)
      all++
      bytesOfAll += bytes
      return () => {
        const left = (taken.get(merchantId) ?? 1) - 1
        if (left === 0) taken.delete(merchantId)
        else taken.set(merchantId, left)
        all--
        bytesOfAll -= bytes
      }
    },
    bytes: () => bytesOfAll,
  }
}
