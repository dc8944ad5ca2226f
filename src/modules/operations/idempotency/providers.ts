import type { Deps } from '../../../core/deps.ts'
import { createIdempotency } from './service.ts'

export const idempotencyProviders = (deps: Deps) => ({ idempotency: createIdempotency(deps) })
