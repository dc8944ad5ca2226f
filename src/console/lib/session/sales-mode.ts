/** Which shops the operator's sales figures count. */
import { api, ok } from '../api/api.ts'

export type SalesMode = 'LIVE' | 'TEST'

/** Answers TEST while no shop of the network is live, so that the figures of a trial are not empty. */
export async function salesMode(signal?: AbortSignal): Promise<SalesMode> {
  const live = await ok(api.GET('/admin/shops', { params: { query: { mode: 'LIVE', limit: 1 } }, ...(signal ? { signal } : {}) }))
  return live.total > 0 ? 'LIVE' : 'TEST'
}
