import type { Deps } from '../../../core/deps.ts'
import { createTrail } from './service.ts'

export const auditParts = (deps: Deps) => ({ trail: createTrail(deps) })
