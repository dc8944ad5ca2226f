import type { Actor } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { LoggedIn } from '../auth/index.ts'
import { checkUserPassword, type MerchantDeps, readMerchant } from '../merchant/index.ts'
import { beginFactor, checkFactor, confirmFactor, hasFactor, readFactor, removeFactor } from '../second-factor/index.ts'

const notEnabled = () => new AppError('CONFLICT', 'The account has no second factor')

type TotpCaller = { principal: LoggedIn; actor: Actor }

/** Returns whether the account has a second factor, and how many recovery codes are left. */
export const readTotp = (deps: MerchantDeps, { id }: LoggedIn): Promise<{ enabled: boolean; recoveryCodesLeft: number }> =>
  readFactor(deps, id)

/**
 * Begins a second factor. Needs the password, so that a stolen token cannot lock out the owner.
 * @param address the rate-limit key: wrong passwords count like failed logins
 * @throws AppError CONFLICT if a second factor is on; UNAUTHENTICATED for a wrong password; RATE_LIMITED, UNAVAILABLE
 */
export async function beginTotp(
  deps: MerchantDeps,
  { principal: { id }, actor }: TotpCaller,
  { password }: { password: string },
  address: string,
): Promise<{ secret: string; otpauthUri: string }> {
  const { email } = await checkUserPassword(deps, { id, actor }, password, address)
  return beginFactor(deps, { id, email, actor })
}

/** Turns the second factor on. @throws AppError as `confirmFactor` */
export async function confirmTotp(
  deps: MerchantDeps,
  { principal: { id, sessionId }, actor }: TotpCaller,
  code: string,
): Promise<{ recoveryCodes: string[] }> {
  const { email } = await readMerchant(deps, id)
  return confirmFactor(deps, { id, email, sessionId, actor }, code)
}

/**
 * Turns the second factor off. Needs password and code, so that a stolen token is not enough.
 * @param address the rate-limit key: wrong passwords count like failed logins
 * @throws AppError CONFLICT if there is none; UNAUTHENTICATED for a wrong password or code; RATE_LIMITED, UNAVAILABLE
 */
export async function removeTotp(
  deps: MerchantDeps,
  { principal: { id }, actor }: TotpCaller,
  { password, code }: { password: string; code: string },
  address: string,
): Promise<void> {
  if (!(await hasFactor(deps, id))) throw notEnabled()
  const { email } = await checkUserPassword(deps, { id, actor }, password, address)
  await checkFactor(deps, { id, actor }, code)
  if (!(await removeFactor(deps, { id, email }, actor))) throw notEnabled()
}
