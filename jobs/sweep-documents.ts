import { removeLeftoverFiles } from '../src/modules/catalog/media/index.ts'
import { sweepDocuments as sweep } from '../src/modules/lending/lending-document/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Removes files without a lending document or picture that are older than a day. */
export async function sweepDocuments(deps: AppDeps): Promise<number> {
  await removeLeftoverFiles(deps)
  return sweep(deps)
}
