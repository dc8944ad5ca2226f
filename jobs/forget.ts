import { forgetOldAudit } from '../src/modules/audit/index.ts'
import { forgetExpiredSessions } from '../src/modules/auth/index.ts'
import { forgetCarts } from '../src/modules/cart/index.ts'
import { forgetDiscounts } from '../src/modules/discount/index.ts'
import { forgetExpiredKeys } from '../src/modules/idempotency/index.ts'
import { endLostImports, forgetLive } from '../src/modules/live/index.ts'
import { forgetMails } from '../src/modules/mail/index.ts'
import { forgetTokens } from '../src/modules/one-time-token/index.ts'
import { forgetPaymentMessages } from '../src/modules/payment/index.ts'
import { emptyOldMessages } from '../src/modules/service-provider/index.ts'
import { forgetEndedKeys } from '../src/modules/shop/index.ts'
import { forgetOldMessages } from '../src/modules/webhook/index.ts'
import type { AppDeps } from '../src/parts.ts'

/**
 * Removes what has run out, and ends what nobody will: imports whose process was killed. Sessions, mails and what they were good for, login attempts, idempotency keys, API keys that ended long ago, messages that went out long ago,
 * processors' messages of 90 days ago, what messages of service providers said by its retention, carts that were over long ago, discounts that were removed unused, rows of the audit trail by its retention.
 */
export async function forget(deps: AppDeps): Promise<void> {
  await forgetExpiredSessions(deps)
  await forgetExpiredKeys(deps)
  await forgetEndedKeys(deps)
  await forgetOldMessages(deps)
  await forgetMails(deps)
  await forgetLive(deps)
  await endLostImports(deps)
  await forgetTokens(deps)
  await forgetPaymentMessages(deps)
  await emptyOldMessages(deps)
  await forgetCarts(deps)
  await forgetDiscounts(deps)
  await forgetOldAudit(deps)
}
