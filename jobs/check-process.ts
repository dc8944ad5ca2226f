import { watchDocumentStores } from '../src/modules/lending/lending-document/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Notices what goes wrong around a process that runs: the clock that jumps, the keys, the database and the documents that vanish. */
export async function lookAround(deps: AppDeps): Promise<void> {
  deps.clockWatch.isSteady()
  deps.keyring.atHand()
  deps.db.isInPlace()
  await watchDocumentStores(deps)
}
