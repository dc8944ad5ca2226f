import type { Deps } from '../../../core/deps.ts'
import { createInstanceKeys } from './service.ts'

export const instanceKeyProviders = (deps: Deps) => ({ instanceKeys: createInstanceKeys(deps) })
export type InstanceKeyDeps = Deps & ReturnType<typeof instanceKeyProviders>
