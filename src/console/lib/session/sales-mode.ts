import { api, ok } from '../api/api.ts'

export type SalesMode = 'LIVE' | 'TEST'

/** Returns TEST while no shop is live, so that a trial's figures are not empty. */
export async function salesMode(signal?: AbortSignal): Promise<SalesMode> {
  const live = await ok(api.GET('/admin/shops', { params: { query: { mode: 'LIVE', limit: 1 } }, ...(signal ? { signal } : {}) }))
  return live.total > 0 ? 'LIVE' : 'TEST'
}
