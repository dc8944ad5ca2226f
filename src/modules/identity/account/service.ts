import type { Actor } from '../../../core/command-context.ts'
import { type CustomerDeps, changeCustomerPassword } from '../../customers/customer/index.ts'
import { assertUncommon, type LoggedIn } from '../auth/index.ts'
import { changeUserPassword, type MerchantDeps } from '../merchant/index.ts'

/**
 * Changes one's own password and ends one's other sessions.
 * @param address what the caller is limited by: tries at the password before count like those of a login
 * @throws AppError INVALID for a common password; UNAUTHENTICATED when the password before is wrong; RATE_LIMITED, UNAVAILABLE
 */
export async function changePassword(
  deps: MerchantDeps & CustomerDeps,
  { who, actor }: { who: LoggedIn; actor: Actor },
  passwords: { current: string; password: string },
  address: string,
): Promise<void> {
  await assertUncommon(passwords.password)
  if (who.kind === 'customer') await changeCustomerPassword(deps, { ...who, actor }, passwords, address)
  else await changeUserPassword(deps, { ...who, actor }, passwords, address)
}
