import type { Deps } from '../../../core/deps.ts'
import { createAuditTrail } from './service.ts'

export const auditProviders = (deps: Deps) => ({ trail: createAuditTrail(deps) })
