import type { RefusalAudit } from '../core/audit-fields.ts'
import type { Deps } from '../core/deps.ts'
import type { Idempotency } from '../core/idempotency.ts'
import type { Identity } from '../core/principal.ts'
import type { httpProviders } from './providers.ts'

/** Dependencies of the HTTP layer. */
export type HttpDeps = Deps & {
  readonly identity: Identity
  /** Whether a merchant's KYB record is approved. */
  readonly isApproved: (merchantId: string) => Promise<boolean>
  readonly idempotency: Idempotency
  readonly trail: RefusalAudit
} & ReturnType<typeof httpProviders>
