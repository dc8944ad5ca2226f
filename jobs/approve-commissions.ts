import { approveCommissions as approve, forgetOldClicks } from '../src/modules/selling/affiliate/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Approves the commissions whose refund window has passed, and removes expired clicks. */
export async function approveCommissions(deps: AppDeps): Promise<{ approved: number; removedClicks: number }> {
  return { approved: await approve(deps), removedClicks: await forgetOldClicks(deps) }
}
