import { type PlatformDeps, refreshOperations as refresh } from '../src/modules/operations/deploy-status/index.ts'

/**
 * Refreshes the operations pages from external providers.
 * @throws Error that names providers without a response; their pages keep the last state
 */
export async function refreshOperations(deps: Pick<PlatformDeps, 'statusCaches'>): Promise<void> {
  const failed = Object.entries(await refresh(deps)).flatMap(([kind, outcome]) => (outcome === 'failed' ? [kind] : []))
  if (failed.length > 0) throw new Error(`no answer for ${failed.join(', ')}`)
}
