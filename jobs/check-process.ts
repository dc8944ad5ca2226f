import { watchDocumentStores } from '../src/modules/lending/lending-document/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Checks the surroundings of this process: clock jumps, keys, database and documents. */
export async function checkProcess(deps: AppDeps): Promise<void> {
  deps.clockWatch.isSteady()
  deps.keyring.isKeyFileReadable()
  deps.db.isInPlace()
  await watchDocumentStores(deps)
}
