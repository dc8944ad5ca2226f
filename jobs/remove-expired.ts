import { forgetSessions } from '../src/modules/agents/agent-session/index.ts'
import { deleteOldOrderMessages } from '../src/modules/agents/order-message/index.ts'
import { deleteExpiredSessions } from '../src/modules/identity/auth/index.ts'
import { deleteExpiredTokens } from '../src/modules/identity/one-time-token/index.ts'
import { deleteOldEvents, publishLostImports } from '../src/modules/messaging/live-events/index.ts'
import { deleteOldMails } from '../src/modules/messaging/mail/index.ts'
import { deleteOldMessages } from '../src/modules/messaging/webhook/index.ts'
import { removeOldAudit } from '../src/modules/operations/audit/index.ts'
import { removeExpiredKeys } from '../src/modules/operations/idempotency/index.ts'
import { forgetPaymentMessages } from '../src/modules/payments/payment/index.ts'
import { forgetCarts } from '../src/modules/selling/cart/index.ts'
import { forgetDiscounts } from '../src/modules/selling/discount/index.ts'
import { deleteExpiredKeys } from '../src/modules/shop/shop/index.ts'
import { emptyOldMessages } from '../src/modules/trust/service-provider/index.ts'
import type { AppDeps } from '../src/providers.ts'

/**
 * Removes expired records: sessions, mails and their tokens, login attempts, idempotency keys, ended API keys, sent
 * messages, processor messages, requests of agents, carts, unused discounts and audit rows. Ends imports whose process
 * was killed.
 */
export async function removeExpired(deps: AppDeps): Promise<void> {
  await deleteExpiredSessions(deps)
  await removeExpiredKeys(deps)
  await deleteExpiredKeys(deps)
  await deleteOldMessages(deps)
  await deleteOldOrderMessages(deps)
  await deleteOldMails(deps)
  await deleteOldEvents(deps)
  await publishLostImports(deps)
  await deleteExpiredTokens(deps)
  await forgetPaymentMessages(deps)
  await emptyOldMessages(deps)
  await forgetSessions(deps)
  await forgetCarts(deps)
  await forgetDiscounts(deps)
  await removeOldAudit(deps)
}
