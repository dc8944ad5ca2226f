import type { Actor } from '../../../core/command-context.ts'
import { type CustomerDeps, changeCustomerPassword } from '../../customers/customer/index.ts'
import { assertUncommonPassword, type LoggedIn } from '../auth/index.ts'
import { changeUserPassword, type MerchantDeps } from '../merchant/index.ts'

/**
 * Changes the caller's password and ends their other sessions.
 * @param address the rate-limit key: wrong current passwords count like failed logins
 * @throws AppError INVALID for a common password; UNAUTHENTICATED if the current password is wrong; RATE_LIMITED,
 * UNAVAILABLE
 */
export async function changePassword(
  deps: MerchantDeps & CustomerDeps,
  { principal, actor }: { principal: LoggedIn; actor: Actor },
  passwords: { current: string; password: string },
  address: string,
): Promise<void> {
  await assertUncommonPassword(passwords.password)
  if (principal.kind === 'customer') await changeCustomerPassword(deps, { ...principal, actor }, passwords, address)
  else await changeUserPassword(deps, { ...principal, actor }, passwords, address)
}
