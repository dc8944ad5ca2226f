import type { AppDeps } from '../src/app.ts'
import { forgetExpiredSessions } from '../src/modules/auth/service.ts'
import { forgetCarts } from '../src/modules/cart/service.ts'
import { forgetExpiredKeys } from '../src/modules/idempotency/service.ts'
import { forgetOldMessages } from '../src/modules/webhook/service.ts'

/** Removes what has run out: sessions, login attempts, idempotency keys, messages that went out long ago, carts that were over long ago. */
export async function forget(deps: AppDeps): Promise<void> {
  await forgetExpiredSessions(deps)
  await forgetExpiredKeys(deps)
  await forgetOldMessages(deps)
  await forgetCarts(deps)
}
