import { sweepDocuments as sweep } from '../src/modules/lending-document/index.ts'
import { tidyBench } from '../src/modules/media/index.ts'
import type { AppDeps } from '../src/parts.ts'

/** Removes files that belong to no document of a lending application and to no picture, once they are a day old. */
export async function sweepDocuments(deps: AppDeps): Promise<number> {
  await tidyBench(deps)
  return sweep(deps)
}
