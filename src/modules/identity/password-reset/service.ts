import type { Caller } from '../../../core/caller.ts'
import { AppError } from '../../../core/errors.ts'
import {
  type CustomerDeps,
  customerWithEmail,
  customerWithId,
  customerWithin,
  noteAddressProven,
  setCustomerPassword,
} from '../../customers/customer/index.ts'
import { type MailDeps, type Preparer, queueMail, tellOfAccount } from '../../messaging/mail/index.ts'
import { passwordDifference } from '../../operations/audit/domain.ts'
import { audit } from '../../operations/audit/index.ts'
import { byAddress, customerAccount, resetByAccount, resetByAddress, tokenByAddress, userAccount } from '../auth/domain.ts'
import { assertUncommon, countAttempt, countFailure } from '../auth/index.ts'
import { type MerchantDeps, setUserPassword, userWithEmail, userWithId } from '../merchant/index.ts'
import type { OneTimeToken } from '../one-time-token/domain.ts'
import { issueToken, lookAtToken, spendToken, wasSentTo } from '../one-time-token/index.ts'

type Deps = MerchantDeps & CustomerDeps & MailDeps

const linkOver = () => new AppError('UNAUTHENTICATED', 'The link is not good (any more): ask for a new one')

/**
 * Asks for a mail with which whoever reads it chooses a new password. What is done is the same, and takes as long, whether there is such an
 * account or not: a row is written, and who it is for is looked up when it is sent. Of one account five are heard within an hour.
 * @param shopId of a customer; null of merchants and operators
 * @throws AppError RATE_LIMITED for an address that asks too often
 */
export async function askForReset(
  deps: Deps,
  { email, shopId }: { email: string; shopId: string | null },
  { limitKey }: Pick<Caller, 'limitKey'>,
): Promise<void> {
  await countAttempt(deps, byAddress(resetByAddress, limitKey))
  const account = shopId === null ? userAccount(email) : customerAccount(shopId, email)
  if (!(await isOneMore(deps, account))) return
  const key = `password-reset:${deps.newId('mail')}`
  await deps.db.write((tx) => queueMail(tx, deps, { key, shopId, to: email, template: 'password-reset', data: {}, cause: limitKey }))
}

/**
 * Offers an account that the shop made, and that has no password, to whoever has its e-mail address, because somebody wanted to sign up with it:
 * by mail alone, so that nobody else gets it. Nothing where there is no such account; of one, as often as a new password can be asked for.
 */
export async function offerClaim(
  deps: Deps,
  { email, shopId }: { email: string; shopId: string },
  { limitKey }: Pick<Caller, 'limitKey'>,
): Promise<void> {
  const customer = await customerWithEmail(deps, { id: shopId }, email)
  if (!customer || customer.passwordHash !== null || !(await isOneMore(deps, customerAccount(shopId, email)))) return
  const key = `account-claim:${deps.newId('mail')}`
  await deps.db.write((tx) =>
    queueMail(tx, deps, { key, shopId, to: customer.email, template: 'account-claim', data: {}, cause: limitKey }),
  )
}

/** Counts a mail for a new password to an account; whether it may be sent. */
const isOneMore = (deps: Deps, account: string): Promise<boolean> =>
  countAttempt(deps, [[resetByAccount, account]]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'RATE_LIMITED') return false
      throw error
    },
  )

/** Finds the account that a mail is for, and makes its token: good from when it is sent. Nobody gets one where there is no account. */
export const resetPreparer =
  (deps: Deps): Preparer =>
  async ({ to }, { shopId }) => {
    const account = await (shopId === null ? userWithEmail(deps, to) : customerWithEmail(deps, { id: shopId }, to))
    if (!account) return undefined
    const { id: subjectId, email } = account
    const token = await deps.db.write((tx) => issueToken(tx, deps, { purpose: 'PASSWORD_RESET', subjectId, shopId, email }))
    // One that the shop made, and that nobody has logged in with.
    const isUnclaimed = shopId !== null && account.passwordHash === null
    return { to: email, data: { token }, template: isUnclaimed ? 'account-claim' : 'password-reset' }
  }

/** What a token for a new password is about, while it is good; a look does not use it up. */
export const resetOf = (deps: Deps, token: string): Promise<OneTimeToken | undefined> =>
  lookAtToken(deps.db.read, deps, 'PASSWORD_RESET', token)

/**
 * Gives whoever has a token from a mail a new password, ends all their sessions, and makes the token and all others of theirs useless. It
 * proves a customer's e-mail address.
 * @throws AppError INVALID for a common password, and then the token stays good; UNAUTHENTICATED for a token that is not good; RATE_LIMITED,
 *   UNAVAILABLE
 */
export async function resetPassword(
  deps: Deps,
  { token, password }: { token: string; password: string },
  { limitKey: address, ...from }: Caller,
): Promise<void> {
  await assertUncommon(password)
  const found = await countFailure(deps, byAddress(tokenByAddress, address), () => resetOf(deps, token))
  if (!found) throw linkOver()
  const { subjectId, shopId } = found
  const customer = shopId === null ? undefined : await customerWithId(deps, shopId, subjectId)
  const account = customer ?? (await userWithId(deps, subjectId))
  // Sent to an address that the account does not have any more.
  if (!account || !wasSentTo(found, account.email)) throw linkOver()
  const passwordHash = await deps.passwords.hash(password, { kind: customer ? 'customer' : 'merchant', address })
  const actor = { ...from, id: subjectId }
  await deps.db.write(async (tx) => {
    // As they stand by now, and locked before their tokens, as whoever changes the address does.
    const current = customer ? await customerWithin(tx, deps, customer.id) : account
    // Of two who have it one goes on, and none whose address has become another while the password was hashed.
    const spent = current && (await spendToken(tx, deps, 'PASSWORD_RESET', token))
    if (!spent || !wasSentTo(spent, current.email)) throw linkOver()
    if (customer) {
      await setCustomerPassword(tx, deps, customer.id, passwordHash)
      await noteAddressProven(tx, deps, { ...customer, email: current.email }, actor)
    } else await setUserPassword(tx, deps, subjectId, passwordHash)
    // The first one that somebody has is no change.
    if (account.passwordHash !== null) await tellOfAccount(tx, deps, { shopId, to: account.email, what: 'password' })
    await audit(tx, deps, { actor, action: 'password.reset', subject: subjectId, shopId: shopId ?? undefined, ...passwordDifference })
  })
}
