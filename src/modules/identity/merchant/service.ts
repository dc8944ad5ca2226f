import { isUniqueViolation, type Reader, type Writer } from '../../../../db/engine.ts'
import type { Caller } from '../../../core/caller.ts'
import { type Actor, type Origin, system } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import type { PasswordCaller } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { notifyAccountChange } from '../../messaging/mail/index.ts'
import { differenceOf, passwordDifference } from '../../operations/audit/domain.ts'
import { audit, audited } from '../../operations/audit/index.ts'
import { recordSignUp } from '../../operations/kpi/index.ts'
import { assertNewShop, type NewShop, openShop, type Shop, shopCreation, shopNameTaken } from '../../shop/shop/index.ts'
import { type Account, limitsByAddress, normalEmail, signupByAddress, userAccount } from '../auth/domain.ts'
import {
  assertUncommonPassword,
  checkPassword,
  countAttempt,
  endSessionsOf,
  type Login,
  type SessionStart,
  startSession,
} from '../auth/index.ts'
import { memberDifference } from '../member/domain.ts'
import { joinAcceptedShops } from '../member/index.ts'
import { assertNoFactor, checkFactor, removeFactor } from '../second-factor/index.ts'
import type { User } from './domain.ts'
import type { MerchantDeps } from './providers.ts'

export type Credentials = { email: string; password: string }

const emailTaken = 'another account has this email address'
const passwordChangedError = () => new AppError('CONFLICT', 'The password was changed by another request. Log in again')

/** The caller of password hashes for commands that run on the machine itself. */
const localCaller: PasswordCaller = { kind: 'merchant', address: 'here' }

const accountOf = (email: string, user: User | undefined): Account => ({
  kind: 'merchant',
  name: userAccount(email),
  hash: user?.passwordHash,
})

/**
 * Logs in a merchant or a super admin. A merchant then joins the shops whose invitations they accepted.
 * @param code of the authenticator app, or a recovery code; checked only after the password
 * @throws AppError UNAUTHENTICATED (the same for unknown accounts and wrong passwords), with `TOTP_REQUIRED` if a code
 * is needed; RATE_LIMITED, UNAVAILABLE
 */
export async function login(
  deps: MerchantDeps,
  { email, password, code }: Credentials & { code?: string | undefined },
  caller: Caller,
  { idleMs }: Pick<SessionStart, 'idleMs'> = {},
): Promise<Login> {
  const user = await deps.userStore.findByEmail(normalEmail(email))
  await checkPassword(deps, accountOf(email, user), { address: caller.limitKey, password }, { accountId: user?.id, from: caller })
  if (!user) throw new Error('a password matched without an account')
  const actor = { ...caller, id: user.id }
  const hasPassed = await checkFactor(deps, { id: user.id, actor }, code)
  const holds = async (tx: Writer) => {
    if (!(await deps.userStore.hasPassword(tx, user.id, user.passwordHash))) return false
    // A second factor may have been turned on since it was checked.
    if (!hasPassed) await assertNoFactor(tx, deps, user.id)
    await joinAcceptedShopsOf(tx, deps, user, actor)
    return true
  }
  return startSession(deps, { id: user.id, role: user.role }, actor, { caller, holds, idleMs })
}

/** Makes a merchant a member of the shops whose invitations created the account, inside the write of a login. */
export async function joinAcceptedShopsOf(tx: Writer, deps: MerchantDeps, { id }: Pick<User, 'id'>, actor: Actor): Promise<void> {
  for (const { before, after } of await joinAcceptedShops(tx, deps, id)) {
    const entry = { actor, action: 'staff.joined', subject: after.id, shopId: after.shopId }
    await audit(tx, deps, { ...entry, ...memberDifference(before, after) })
  }
}

async function buildUser(
  deps: MerchantDeps,
  id: string,
  role: User['role'],
  { email, password }: Credentials,
  hashCaller = localCaller,
): Promise<User> {
  const passwordHash = await deps.passwords.hash(password, hashCaller)
  return { id, role, email: normalEmail(email), passwordHash, createdAt: deps.clock.now() }
}

/**
 * Creates a merchant with a first shop in mode TEST.
 * @param by the actor; by default the merchant
 * @throws AppError CONFLICT if the e-mail address or the shop's name is taken; INVALID for an unknown currency or
 * country
 */
export async function createMerchant(
  deps: MerchantDeps,
  credentials: Credentials,
  newShop: NewShop,
  by: Partial<Actor> = {},
  hashCaller?: PasswordCaller,
): Promise<{ user: User; shop: Shop }> {
  assertNewShop(newShop)
  const user = await buildUser(deps, deps.newId('merchant'), 'MERCHANT', credentials, hashCaller)
  const { id } = user
  return deps.db
    .write(async (tx) => {
      await deps.userStore.insert(tx, user)
      await recordSignUp(tx, { id, role: 'MERCHANT', at: user.createdAt })
      const shop = await openShop(tx, deps, { ...newShop, merchantId: id })
      const { after } = differenceOf(undefined, { email: user.email, shop: shop.id, country: shop.country, currency: shop.currency }, [
        'shop',
        'country',
        'currency',
      ])
      await audit(tx, deps, { actor: { id, ...by }, action: 'merchant.created', subject: id, shopId: shop.id, after })
      return { user, shop }
    })
    .catch(refuseTakenNames(deps, user.email))
}

/** Turns a unique violation of a sign-up into a CONFLICT about the email address or the shop's name. */
const refuseTakenNames =
  ({ userStore }: MerchantDeps, email: string, shopNameField = 'shopName') =>
  async (error: unknown): Promise<never> => {
    const isEmailTaken = isUniqueViolation(error) && (await userStore.findByEmail(email)) !== undefined
    return isEmailTaken ? refuseTaken(emailTaken, 'email')(error) : refuseTaken(shopNameTaken, shopNameField)(error)
  }

/** Builds a merchant without a shop, who joins another one. */
export const buildMerchant = (deps: MerchantDeps, credentials: Credentials, hashCaller: PasswordCaller): Promise<User> =>
  buildUser(deps, deps.newId('merchant'), 'MERCHANT', credentials, hashCaller)

/** Inserts a merchant who joins another shop, inside the write of joining. */
export async function insertMerchant(tx: Writer, deps: MerchantDeps, user: User, actor: Actor): Promise<void> {
  await deps.userStore.insert(tx, user)
  await recordSignUp(tx, { id: user.id, role: 'MERCHANT', at: user.createdAt })
  const { after } = differenceOf(undefined, { email: user.email }, [])
  await audit(tx, deps, { actor, action: 'merchant.created', subject: user.id, after })
}

/**
 * Signs up over the network. The attempt counts before the expensive hash. Taken addresses cost and count the same, so
 * that nobody can probe for accounts cheaply.
 * @throws AppError as `createMerchant`; INVALID for a common password; RATE_LIMITED, UNAVAILABLE
 */
export async function signUp(
  deps: MerchantDeps,
  credentials: Credentials,
  newShop: NewShop,
  { limitKey: address, agent: _, ...from }: Caller,
): Promise<{ user: User; shop: Shop }> {
  await assertUncommonPassword(credentials.password)
  await countAttempt(deps, limitsByAddress(signupByAddress, address))
  return createMerchant(deps, credentials, newShop, from, { kind: 'customer', address })
}

/**
 * Checks the password of a logged-in merchant or super admin.
 * @param address the rate-limit key: attempts count like logins
 * @throws AppError UNAUTHENTICATED if it is wrong; RATE_LIMITED, UNAVAILABLE
 */
export async function checkUserPassword(
  deps: MerchantDeps,
  { id, actor }: { id: string; actor: Actor },
  password: string,
  address: string,
): Promise<User> {
  const user = await readMerchant(deps, id)
  await checkPassword(deps, accountOf(user.email, user), { address, password, isOwn: true }, { accountId: id, from: actor })
  return user
}

/**
 * Changes the password of a merchant or super admin and ends their other sessions.
 * @throws AppError UNAUTHENTICATED if the current password is wrong; RATE_LIMITED, UNAVAILABLE
 */
export async function changeUserPassword(
  deps: MerchantDeps,
  { id, sessionId, actor }: { id: string; sessionId: string; actor: Actor },
  { current, password }: { current: string; password: string },
  address: string,
): Promise<void> {
  const user = await checkUserPassword(deps, { id, actor }, current, address)
  const passwordHash = await deps.passwords.hash(password, { kind: 'merchant', address })
  await audited(deps, { actor }, { action: 'password.changed', subject: id }, async (tx, setDifference) => {
    if (!(await deps.userStore.hasPassword(tx, id, user.passwordHash))) throw passwordChangedError()
    await deps.userStore.setPassword(tx, id, passwordHash)
    await endSessionsOf(tx, deps, id, sessionId)
    await notifyAccountChange(tx, deps, { shopId: null, to: user.email, what: 'password' })
    setDifference(passwordDifference)
  })
}

/**
 * Sets a new password by an operator's command, and ends all sessions.
 * @returns undefined if no account has this e-mail address
 */
export async function resetUserPassword(deps: MerchantDeps, { email, password }: Credentials): Promise<User | undefined> {
  const user = await findUserByEmail(deps, email)
  if (!user) return undefined
  const passwordHash = await deps.passwords.hash(password, localCaller)
  return audited(deps, { actor: system }, { action: 'password.reset', subject: user.id }, async (tx, setDifference) => {
    await deps.userStore.setPassword(tx, user.id, passwordHash)
    await endSessionsOf(tx, deps, user.id)
    await notifyAccountChange(tx, deps, { shopId: null, to: user.email, what: 'password' })
    setDifference(passwordDifference)
    return user
  })
}

/**
 * Sets a new password inside a write, and ends all sessions.
 * @param passwordHash of the new password
 */
export async function setUserPassword(tx: Writer, deps: MerchantDeps, id: string, passwordHash: string): Promise<void> {
  await deps.userStore.setPassword(tx, id, passwordHash)
  await endSessionsOf(tx, deps, id)
}

/** Finds a merchant or super admin. */
export const findUserById = ({ userStore }: MerchantDeps, id: string): Promise<User | undefined> => userStore.find(id)

/**
 * Removes a second factor by an operator's command. Password and sessions stay.
 * @returns undefined if no account with this e-mail address has one
 */
export async function removeSecondFactor(deps: MerchantDeps, email: string): Promise<User | undefined> {
  const user = await findUserByEmail(deps, email)
  return user && (await removeFactor(deps, user, system)) ? user : undefined
}

/**
 * Creates a super admin, and with `shop` a shop that they own.
 * @param from the network caller, with `hashCaller` for the password hash; else a command on the machine
 * @param holds checks inside the write whether this is allowed
 * @throws AppError CONFLICT if the e-mail address or the shop's name is taken; INVALID as `assertNewShop`
 */
export async function createSuperAdmin(
  deps: MerchantDeps,
  credentials: Credentials,
  { from, hashCaller, holds, shop: newShop }: SuperAdminOptions = {},
): Promise<User> {
  if (newShop) assertNewShop(newShop, 'shop.')
  const user = await buildUser(deps, deps.newId('user'), 'SUPER_ADMIN', credentials, hashCaller)
  const actor = from ? { ...from, id: user.id } : system
  return audited(deps, { actor }, { action: 'super_admin.created', subject: user.id }, async (tx, setDifference) => {
    await holds?.(tx)
    await deps.userStore.insert(tx, user)
    if (newShop) {
      const shop = await openShop(tx, deps, { ...newShop, merchantId: user.id })
      await audit(tx, deps, { actor, action: 'shop.created', subject: shop.id, shopId: shop.id, ...shopCreation(shop) })
    }
    setDifference(differenceOf(undefined, { email: user.email, role: user.role }, ['role']))
    return user
  }).catch(refuseTakenNames(deps, user.email, 'shop.shopName'))
}

type SuperAdminOptions = {
  from?: Origin
  hashCaller?: PasswordCaller
  holds?: (tx: Writer) => Promise<void>
  shop?: NewShop | undefined
}

/** @throws AppError NOT_FOUND */
export async function readMerchant({ userStore }: MerchantDeps, id: string): Promise<User> {
  const user = await userStore.find(id)
  if (!user) throw new AppError('NOT_FOUND', 'No such merchant')
  return user
}

/** Returns whether the id is a merchant's, also of a super admin with a shop. */
export const isMerchant = ({ userStore }: Pick<MerchantDeps, 'userStore'>, id: string): Promise<boolean> => userStore.isMerchant(id)

/** Finds a merchant or super admin by e-mail address. Upper and lower case are equal. */
export const findUserByEmail = ({ userStore }: MerchantDeps, email: string): Promise<User | undefined> =>
  userStore.findByEmail(normalEmail(email))

/** Returns whether any merchant or super admin exists. */
export const hasUsers = ({ userStore }: MerchantDeps): Promise<boolean> => userStore.anyUser()
/** @param from the write to read in; else reads the committed state */
export const hasSuperAdmin = ({ userStore }: MerchantDeps, from?: Pick<Reader, 'select'>): Promise<boolean> => userStore.anySuperAdmin(from)
