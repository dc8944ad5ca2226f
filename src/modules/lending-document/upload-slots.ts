import { AppError } from '../../core/errors.ts'

/** Who hands in documents at the moment, in this process. */
export type UploadSlots = {
  /**
   * Takes a place for one file, before a byte of it is read.
   * @returns what gives it back
   * @throws AppError RATE_LIMITED while the merchant sends as many as they may, or all together do
   */
  take(merchantId: string): () => void
}

const most = { ofMerchant: 4, ofAll: 32 }
const retryAfterSeconds = 5

export function createUploadSlots(): UploadSlots {
  const taken = new Map<string, number>()
  let all = 0
  return {
    take(merchantId) {
      const own = taken.get(merchantId) ?? 0
      if (own >= most.ofMerchant || all >= most.ofAll)
        throw new AppError('RATE_LIMITED', 'Too many documents are on their way: try again later', { retryAfterSeconds })
      taken.set(merchantId, own + 1)
      all++
      return () => {
        const left = (taken.get(merchantId) ?? 1) - 1
        if (left === 0) taken.delete(merchantId)
        else taken.set(merchantId, left)
        all--
      }
    },
  }
}
