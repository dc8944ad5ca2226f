import type { CustomerDeps } from '../../customers/customer/index.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import type { MerchantDeps } from '../merchant/index.ts'
import { createResetPreparer } from './service.ts'

export type PasswordResetDeps = MerchantDeps & CustomerDeps & MailDeps

/** Registers the preparer of reset mails, which creates the token when the mail is sent. */
export function passwordResetProviders(deps: PasswordResetDeps): object {
  const prepare = createResetPreparer(deps)
  deps.mailPreparers.set('password-reset', prepare)
  deps.mailPreparers.set('account-claim', prepare)
  return {}
}
