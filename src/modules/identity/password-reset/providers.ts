import type { CustomerDeps } from '../../customers/customer/index.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import type { MerchantDeps } from '../merchant/index.ts'
import { resetPreparer } from './service.ts'

export type PasswordResetDeps = MerchantDeps & CustomerDeps & MailDeps

/** Mails that ask for a new password get their token when they are sent. */
export function passwordResetProviders(deps: PasswordResetDeps): object {
  const prepare = resetPreparer(deps)
  deps.mailPreparers.set('password-reset', prepare)
  deps.mailPreparers.set('account-claim', prepare)
  return {}
}
