import type { Actor } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { LoggedIn } from '../auth/index.ts'
import { checkUserPassword, type MerchantDeps, readMerchant } from '../merchant/index.ts'
import { beginFactor, confirmFactor, factorOf, hasFactor, passFactor, removeFactor } from '../second-factor/index.ts'

const isOff = () => new AppError('CONFLICT', 'There is no second factor')

type Who = { who: LoggedIn; actor: Actor }

/** Whether whoever is logged in has a second factor, and how many of its recovery codes are left. */
export const readTotp = (deps: MerchantDeps, { id }: LoggedIn): Promise<{ enabled: boolean; recoveryCodesLeft: number }> =>
  factorOf(deps, id)

/**
 * Begins a second factor. Needs the password, so that a stolen token cannot lock its owner out.
 * @param address what the caller is limited by: wrong passwords count like those of a login
 * @throws AppError CONFLICT if a second factor is on; UNAUTHENTICATED for a wrong password; RATE_LIMITED, UNAVAILABLE
 */
export async function beginTotp(
  deps: MerchantDeps,
  { who: { id }, actor }: Who,
  { password }: { password: string },
  address: string,
): Promise<{ secret: string; otpauthUri: string }> {
  const { email } = await checkUserPassword(deps, { id, actor }, password, address)
  return beginFactor(deps, { id, email, actor })
}

/** Turns it on. @throws AppError as `confirmFactor` */
export async function confirmTotp(
  deps: MerchantDeps,
  { who: { id, sessionId }, actor }: Who,
  code: string,
): Promise<{ recoveryCodes: string[] }> {
  const { email } = await readMerchant(deps, id)
  return confirmFactor(deps, { id, email, sessionId, actor }, code)
}

/**
 * Turns it off, for whoever knows the password and has a code: a stolen token is not enough.
 * @param address what the caller is limited by: tries at the password count like those of a login
 * @throws AppError CONFLICT when there is none; UNAUTHENTICATED for a wrong password or code; RATE_LIMITED, UNAVAILABLE
 */
export async function removeTotp(
  deps: MerchantDeps,
  { who: { id }, actor }: Who,
  { password, code }: { password: string; code: string },
  address: string,
): Promise<void> {
  if (!(await hasFactor(deps, id))) throw isOff()
  const { email } = await checkUserPassword(deps, { id, actor }, password, address)
  await passFactor(deps, { id, actor }, code)
  if (!(await removeFactor(deps, { id, email }, actor))) throw isOff()
}
