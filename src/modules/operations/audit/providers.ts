import type { Deps } from '../../../core/deps.ts'
import { createTrail } from './service.ts'

export const auditProviders = (deps: Deps) => ({ trail: createTrail(deps) })
