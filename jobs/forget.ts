import type { AppDeps } from '../src/app.ts'
import { forgetExpiredSessions } from '../src/modules/auth/service.ts'
import { forgetExpiredKeys } from '../src/modules/idempotency/service.ts'

/** Removes what has run out: sessions, login attempts, idempotency keys. */
export async function forget(deps: AppDeps): Promise<void> {
  await forgetExpiredSessions(deps)
  await forgetExpiredKeys(deps)
}
