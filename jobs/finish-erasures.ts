import { tendErasures } from '../src/modules/customers/erasure/index.ts'
import type { AppDeps } from '../src/providers.ts'

/** Looks once more at whoever was erased a while ago, and keeps the list of them in every place. */
export const finishErasures = (deps: AppDeps): Promise<void> => tendErasures(deps)
