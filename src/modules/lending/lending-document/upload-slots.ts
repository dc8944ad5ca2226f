import { AppError } from '../../../core/errors.ts'

/** The document uploads that run in this process. */
export type UploadSlots = {
  /**
   * Takes a slot for one file, before its first byte is read.
   * @param bytes the most that the file may have
   * @returns a function that releases the slot
   * @throws AppError RATE_LIMITED at the limit of the merchant or of the process
   */
  take(merchantId: string, bytes: number): () => void
  /** Returns the most bytes that all running uploads may write. */
  bytes(): number
}

const limits = { ofMerchant: 4, ofAll: 32 }
const retryAfterSeconds = 5

export function createUploadSlots(): UploadSlots {
  const inUse = new Map<string, number>()
  let [total, bytesOfAll] = [0, 0]
  return {
    take(merchantId, bytes) {
      const current = inUse.get(merchantId) ?? 0
      if (current >= limits.ofMerchant || total >= limits.ofAll)
        throw new AppError('RATE_LIMITED', 'Too many documents are on their way: try again later', { retryAfterSeconds })
      inUse.set(merchantId, current + 1)
      total++
      bytesOfAll += bytes
      return () => {
        const remaining = (inUse.get(merchantId) ?? 1) - 1
        if (remaining === 0) inUse.delete(merchantId)
        else inUse.set(merchantId, remaining)
        total--
        bytesOfAll -= bytes
      }
    },
    bytes: () => bytesOfAll,
  }
}
