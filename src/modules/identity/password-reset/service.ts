import type { Caller } from '../../../core/caller.ts'
import { AppError } from '../../../core/errors.ts'
import {
  type CustomerDeps,
  findCustomerByEmail,
  findCustomerById,
  lockCustomer,
  recordAddressProof,
  setCustomerPassword,
} from '../../customers/customer/index.ts'
import { type MailDeps, notifyAccountChange, type Preparer, queueMail } from '../../messaging/mail/index.ts'
import { passwordDifference } from '../../operations/audit/domain.ts'
import { audit } from '../../operations/audit/index.ts'
import { customerAccount, limitsByAddress, resetByAccount, resetByAddress, tokenByAddress, userAccount } from '../auth/domain.ts'
import { assertUncommonPassword, countAttempt, countFailure } from '../auth/index.ts'
import { findUserByEmail, findUserById, type MerchantDeps, setUserPassword } from '../merchant/index.ts'
import type { OneTimeToken } from '../one-time-token/domain.ts'
import { findToken, isSentTo, issueToken, spendToken } from '../one-time-token/index.ts'

type Deps = MerchantDeps & CustomerDeps & MailDeps

const invalidLink = () => new AppError('UNAUTHENTICATED', 'The link is invalid or has expired. Request a new one', { code: 'invalid_link' })

/**
 * Queues a password reset mail. Takes the same work and time whether the account exists: the account is looked up when
 * the mail is sent. At most five per account and hour.
 * @param shopId of a customer; null for merchants and operators
 * @throws AppError RATE_LIMITED by the caller's address
 */
export async function requestReset(
  deps: Deps,
  { email, shopId }: { email: string; shopId: string | null },
  { limitKey }: Pick<Caller, 'limitKey'>,
): Promise<void> {
  await countAttempt(deps, limitsByAddress(resetByAddress, limitKey))
  const account = shopId === null ? userAccount(email) : customerAccount(shopId, email)
  if (!(await countResetMail(deps, account))) return
  const key = `password-reset:${deps.newId('mail')}`
  await deps.db.write((tx) => queueMail(tx, deps, { key, shopId, to: email, template: 'password-reset', data: {}, cause: limitKey }))
}

/**
 * Mails a claim link for an account that the shop created without a password, when a person signs up with its address.
 * Only the owner of the address gets it. Limited like password resets.
 */
export async function offerAccountClaim(
  deps: Deps,
  { email, shopId }: { email: string; shopId: string },
  { limitKey }: Pick<Caller, 'limitKey'>,
): Promise<void> {
  const customer = await findCustomerByEmail(deps, { id: shopId }, email)
  if (!customer || customer.passwordHash !== null || !(await countResetMail(deps, customerAccount(shopId, email)))) return
  const key = `account-claim:${deps.newId('mail')}`
  await deps.db.write((tx) =>
    queueMail(tx, deps, { key, shopId, to: customer.email, template: 'account-claim', data: {}, cause: limitKey }),
  )
}

/** Counts a reset mail of an account. Returns whether it may be sent. */
const countResetMail = (deps: Deps, account: string): Promise<boolean> =>
  countAttempt(deps, [[resetByAccount, account]]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && error.kind === 'RATE_LIMITED') return false
      throw error
    },
  )

/**
 * Finds the account of a reset mail and creates its token, which is valid from then. Without an account, no mail is
 * sent.
 */
export const createResetPreparer =
  (deps: Deps): Preparer =>
  async ({ to }, { shopId }) => {
    const account = await (shopId === null ? findUserByEmail(deps, to) : findCustomerByEmail(deps, { id: shopId }, to))
    if (!account) return undefined
    const { id: subjectId, email } = account
    const token = await deps.db.write((tx) => issueToken(tx, deps, { purpose: 'PASSWORD_RESET', subjectId, shopId, email }))
    // An account that the shop created and that has never logged in.
    const isUnclaimed = shopId !== null && account.passwordHash === null
    return { to: email, data: { token }, template: isUnclaimed ? 'account-claim' : 'password-reset' }
  }

/** Returns the record of a reset token while it is valid. Does not use it up. */
export const findReset = (deps: Deps, token: string): Promise<OneTimeToken | undefined> =>
  findToken(deps.db.read, deps, 'PASSWORD_RESET', token)

/**
 * Sets a new password with a mailed token, ends all sessions, and invalidates all tokens of the account. Proves a
 * customer's e-mail address.
 * @throws AppError INVALID for a common password, after which the token stays valid; UNAUTHENTICATED for an invalid
 * token; RATE_LIMITED, UNAVAILABLE
 */
export async function resetPassword(
  deps: Deps,
  { token, password }: { token: string; password: string },
  { limitKey: address, ...from }: Caller,
): Promise<void> {
  await assertUncommonPassword(password)
  const found = await countFailure(deps, limitsByAddress(tokenByAddress, address), () => findReset(deps, token))
  if (!found) throw invalidLink()
  const { subjectId, shopId } = found
  const customer = shopId === null ? undefined : await findCustomerById(deps, shopId, subjectId)
  const account = customer ?? (await findUserById(deps, subjectId))
  // The account's address has changed since.
  if (!account || !isSentTo(found, account.email)) throw invalidLink()
  const passwordHash = await deps.passwords.hash(password, { kind: customer ? 'customer' : 'merchant', address })
  const actor = { ...from, id: subjectId }
  await deps.db.write(async (tx) => {
    // Reads the account again and locks it before its tokens, in the order of an address change.
    const current = customer ? await lockCustomer(tx, deps, customer.id) : account
    // Of two concurrent uses one succeeds, and none if the address changed while the password was hashed.
    const spent = current && (await spendToken(tx, deps, 'PASSWORD_RESET', token))
    if (!spent || !isSentTo(spent, current.email)) throw invalidLink()
    if (customer) {
      await setCustomerPassword(tx, deps, customer.id, passwordHash)
      await recordAddressProof(tx, deps, { ...customer, email: current.email }, actor)
    } else await setUserPassword(tx, deps, subjectId, passwordHash)
    // A first password is not reported as a change.
    if (account.passwordHash !== null) await notifyAccountChange(tx, deps, { shopId, to: account.email, what: 'password' })
    await audit(tx, deps, { actor, action: 'password.reset', subject: subjectId, shopId: shopId ?? undefined, ...passwordDifference })
  })
}
