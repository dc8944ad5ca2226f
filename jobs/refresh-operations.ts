import { type PlatformDeps, refreshOperations as refresh } from '../src/modules/operations/deploy-status/index.ts'

/** Asks the outside providers of the operations' pages anew. @throws Error naming those that did not answer: their pages show what was known */
export async function refreshOperations(deps: Pick<PlatformDeps, 'statusCaches'>): Promise<void> {
  const failed = Object.entries(await refresh(deps)).flatMap(([kind, outcome]) => (outcome === 'failed' ? [kind] : []))
  if (failed.length > 0) throw new Error(`no answer for ${failed.join(', ')}`)
}
