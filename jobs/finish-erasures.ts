import { finishPendingErasures } from '../src/modules/customers/erasure/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Repeats recent erasures and writes the list of erased customers to every backup target. */
export const finishErasures = (deps: AppDeps): Promise<void> => finishPendingErasures(deps)
