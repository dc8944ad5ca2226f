import type { Deps } from '../../../core/deps.ts'
import { createIdempotency } from './service.ts'

export const idempotencyParts = (deps: Deps) => ({ idempotency: createIdempotency(deps) })
