import { tidyBench } from '../src/modules/catalog/media/index.ts'
import { sweepDocuments as sweep } from '../src/modules/lending/lending-document/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Removes files that belong to no document of a lending application and to no picture, once they are a day old. */
export async function sweepDocuments(deps: AppDeps): Promise<number> {
  await tidyBench(deps)
  return sweep(deps)
}
