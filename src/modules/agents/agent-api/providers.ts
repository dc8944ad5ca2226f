import type { Deps } from '../../../core/deps.ts'
import { createRateLimit } from '../../../core/limits/rate-limit.ts'

/** Limits per minute. */
const requestsPerAddress = 120
const requestsPerPlatform = 3_000
/** Failed proofs per address. Each costs a verification, and perhaps the fetch of a profile. */
const failedProofsPerAddress = 120

export const agentApiProviders = ({ clock, shared }: Pick<Deps, 'clock' | 'shared'>) => {
  const limit = (name: string, most: number) => createRateLimit({ name, most, now: clock.now, shared })
  return {
    agentLimits: {
      address: limit('agent', requestsPerAddress),
      platform: limit('agent-platform', requestsPerPlatform),
      failedProof: limit('agent-proof', failedProofsPerAddress),
    },
  }
}
