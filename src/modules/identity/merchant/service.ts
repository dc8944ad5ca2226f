import type { Reader, Writer } from '../../../../db/engine.ts'
import type { Caller } from '../../../core/caller.ts'
import { type Actor, type Origin, system } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import type { PasswordTurn } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { tellOfAccount } from '../../messaging/mail/index.ts'
import { differenceOf, passwordDifference } from '../../operations/audit/domain.ts'
import { audit, audited } from '../../operations/audit/index.ts'
import { recordSignUp } from '../../operations/kpi/index.ts'
import { assertNewShop, type NewShop, openShop, type Shop } from '../../shop/shop/index.ts'
import { type Account, byAddress, normalEmail, signupByAddress, userAccount } from '../auth/domain.ts'
import { assertUncommon, type Beginning, checkPassword, countAttempt, endSessionsOf, type Login, startSession } from '../auth/index.ts'
import { memberDifference } from '../member/domain.ts'
import { joinAccepted } from '../member/index.ts'
import { assertNoFactor, passFactor, removeFactor } from '../second-factor/index.ts'
import type { User } from './domain.ts'
import type { MerchantDeps } from './providers.ts'

export type Credentials = { email: string; password: string }

const passwordChanged = () => new AppError('CONFLICT', 'The password was changed meanwhile: log in again')

/** Whoever works on the machine itself. */
const atTheMachine: PasswordTurn = { kind: 'merchant', address: 'here' }

const accountOf = (email: string, user: User | undefined): Account => ({
  kind: 'merchant',
  name: userAccount(email),
  hash: user?.passwordHash,
})

/**
 * Logs a merchant or a super admin in. A merchant joins the shops whose invitations they accepted.
 * @param code of their authenticator app, or a recovery code: looked at where they have a second factor, once the password was right
 * @throws AppError UNAUTHENTICATED, alike for an unknown account and a wrong password, and with `TOTP_REQUIRED` where a right password
 *   needs a code; RATE_LIMITED, UNAVAILABLE
 */
export async function login(
  deps: MerchantDeps,
  { email, password, code }: Credentials & { code?: string | undefined },
  caller: Caller,
  { idleMs }: Pick<Beginning, 'idleMs'> = {},
): Promise<Login> {
  const user = await deps.userStore.findByEmail(normalEmail(email))
  await checkPassword(deps, accountOf(email, user), { address: caller.limitKey, password }, { accountId: user?.id, from: caller })
  if (!user) throw new Error('a password was right for nobody')
  const actor = { ...caller, id: user.id }
  const hasPassed = await passFactor(deps, { id: user.id, actor }, code)
  const holds = async (tx: Writer) => {
    if (!(await deps.userStore.hasPassword(tx, user.id, user.passwordHash))) return false
    // Between the look at the factor and this write somebody may have turned one on.
    if (!hasPassed) await assertNoFactor(tx, deps, user.id)
    await joinShopsOf(tx, deps, user, actor)
    return true
  }
  return startSession(deps, { id: user.id, role: user.role }, actor, { caller, holds, idleMs })
}

/** Makes a merchant a member of the shops whose invitations made the account, inside the write of a login. */
export async function joinShopsOf(tx: Writer, deps: MerchantDeps, { id }: Pick<User, 'id'>, actor: Actor): Promise<void> {
  for (const { before, after } of await joinAccepted(tx, deps, id)) {
    const entry = { actor, action: 'staff.joined', subject: after.id, shopId: after.shopId }
    await audit(tx, deps, { ...entry, ...memberDifference(before, after) })
  }
}

async function newUser(
  deps: MerchantDeps,
  id: string,
  role: User['role'],
  { email, password }: Credentials,
  turn = atTheMachine,
): Promise<User> {
  const passwordHash = await deps.passwords.hash(password, turn)
  return { id, role, email: normalEmail(email), passwordHash, createdAt: deps.clock.now() }
}

/**
 * Makes a merchant and their first shop, in mode TEST.
 * @param by who does it; without an id the merchant
 * @throws AppError CONFLICT when the e-mail address or the shop's name is taken; INVALID for an unknown currency or country
 */
export async function createMerchant(
  deps: MerchantDeps,
  credentials: Credentials,
  newShop: NewShop,
  by: Partial<Actor> = {},
  turn?: PasswordTurn,
): Promise<{ user: User; shop: Shop }> {
  assertNewShop(newShop)
  const user = await newUser(deps, deps.newId('merchant'), 'MERCHANT', credentials, turn)
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
    .catch(refuseTaken('The e-mail address or the shop name is taken'))
}

/** A merchant who has no shop, ready to be put in: they join somebody else's. */
export const newMerchant = (deps: MerchantDeps, credentials: Credentials, turn: PasswordTurn): Promise<User> =>
  newUser(deps, deps.newId('merchant'), 'MERCHANT', credentials, turn)

/** Puts a merchant in who joins somebody else's shop, inside the write by which they do. */
export async function insertMerchant(tx: Writer, deps: MerchantDeps, user: User, actor: Actor): Promise<void> {
  await deps.userStore.insert(tx, user)
  await recordSignUp(tx, { id: user.id, role: 'MERCHANT', at: user.createdAt })
  const { after } = differenceOf(undefined, { email: user.email }, [])
  await audit(tx, deps, { actor, action: 'merchant.created', subject: user.id, after })
}

/**
 * Sign-up over the network: limited by address, and counted before the costly hash. An e-mail address that is taken costs as much
 * and counts as much as one that is not, so that nobody finds out cheaply who has an account.
 * @throws AppError as `createMerchant`; INVALID for a common password; RATE_LIMITED, UNAVAILABLE
 */
export async function signUp(
  deps: MerchantDeps,
  credentials: Credentials,
  newShop: NewShop,
  { limitKey: address, agent: _, ...from }: Caller,
): Promise<{ user: User; shop: Shop }> {
  await assertUncommon(credentials.password)
  await countAttempt(deps, byAddress(signupByAddress, address))
  return createMerchant(deps, credentials, newShop, from, { kind: 'customer', address })
}

/**
 * Asks a merchant or a super admin who is logged in for their password again.
 * @param address what the caller is limited by: tries count like those of a login
 * @throws AppError UNAUTHENTICATED when it is wrong; RATE_LIMITED, UNAVAILABLE
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
 * Changes the password of a merchant or a super admin who knows the one before, and ends their other sessions.
 * @throws AppError UNAUTHENTICATED when that one is wrong; RATE_LIMITED, UNAVAILABLE
 */
export async function changeUserPassword(
  deps: MerchantDeps,
  { id, sessionId, actor }: { id: string; sessionId: string; actor: Actor },
  { current, password }: { current: string; password: string },
  address: string,
): Promise<void> {
  const user = await checkUserPassword(deps, { id, actor }, current, address)
  const passwordHash = await deps.passwords.hash(password, { kind: 'merchant', address })
  await audited(deps, { actor }, { action: 'password.changed', subject: id }, async (tx, tell) => {
    if (!(await deps.userStore.hasPassword(tx, id, user.passwordHash))) throw passwordChanged()
    await deps.userStore.setPassword(tx, id, passwordHash)
    await endSessionsOf(tx, deps, id, sessionId)
    await tellOfAccount(tx, deps, { shopId: null, to: user.email, what: 'password' })
    tell(passwordDifference)
  })
}

/**
 * Gives a merchant or a super admin a new password, on the operator's word, and ends all their sessions.
 * @returns undefined when nobody has this e-mail address
 */
export async function resetUserPassword(deps: MerchantDeps, { email, password }: Credentials): Promise<User | undefined> {
  const user = await userWithEmail(deps, email)
  if (!user) return undefined
  const passwordHash = await deps.passwords.hash(password, atTheMachine)
  return audited(deps, { actor: system }, { action: 'password.reset', subject: user.id }, async (tx, tell) => {
    await deps.userStore.setPassword(tx, user.id, passwordHash)
    await endSessionsOf(tx, deps, user.id)
    await tellOfAccount(tx, deps, { shopId: null, to: user.email, what: 'password' })
    tell(passwordDifference)
    return user
  })
}

/**
 * Gives a merchant or a super admin a new password, inside a write, and ends all their sessions.
 * @param passwordHash of the new one
 */
export async function setUserPassword(tx: Writer, deps: MerchantDeps, id: string, passwordHash: string): Promise<void> {
  await deps.userStore.setPassword(tx, id, passwordHash)
  await endSessionsOf(tx, deps, id)
}

/** The account of this id; undefined when there is none. */
export const userWithId = ({ userStore }: MerchantDeps, id: string): Promise<User | undefined> => userStore.find(id)

/**
 * Removes the second factor of a merchant or a super admin, on the operator's word. Their password and sessions stay.
 * @returns undefined when nobody with this e-mail address has one
 */
export async function removeSecondFactor(deps: MerchantDeps, email: string): Promise<User | undefined> {
  const user = await userWithEmail(deps, email)
  return user && (await removeFactor(deps, user, system)) ? user : undefined
}

/**
 * @param from who asks over the network, and for whom the password is hashed; without it, whoever works on the machine
 * @param holds looks, in the same write, whether they may
 * @throws AppError CONFLICT when the e-mail address is taken
 */
export async function createSuperAdmin(
  deps: MerchantDeps,
  credentials: Credentials,
  { from, turn, holds }: { from?: Origin; turn?: PasswordTurn; holds?: (tx: Writer) => Promise<void> } = {},
): Promise<User> {
  const user = await newUser(deps, deps.newId('user'), 'SUPER_ADMIN', credentials, turn)
  const actor = from ? { ...from, id: user.id } : system
  return audited(deps, { actor }, { action: 'super_admin.created', subject: user.id }, async (tx, tell) => {
    await holds?.(tx)
    await deps.userStore.insert(tx, user)
    tell(differenceOf(undefined, { email: user.email, role: user.role }, ['role']))
    return user
  }).catch(refuseTaken('The e-mail address is taken'))
}

/** @throws AppError NOT_FOUND */
export async function readMerchant({ userStore }: MerchantDeps, id: string): Promise<User> {
  const user = await userStore.find(id)
  if (!user) throw new AppError('NOT_FOUND', 'No such merchant')
  return user
}

/** Whether there is a merchant of this id: other accounts are none. */
export const isMerchant = async ({ userStore }: Pick<MerchantDeps, 'userStore'>, id: string): Promise<boolean> =>
  (await userStore.find(id))?.role === 'MERCHANT'

/** The account with this e-mail address; undefined when there is none. */
export const userWithEmail = ({ userStore }: MerchantDeps, email: string): Promise<User | undefined> =>
  userStore.findByEmail(normalEmail(email))

/** Whether the instance has anybody who logs in, and a super admin. */
export const hasUsers = ({ userStore }: MerchantDeps): Promise<boolean> => userStore.anyUser()
/** @param from the write that asks; else as the database stands */
export const hasSuperAdmin = ({ userStore }: MerchantDeps, from?: Pick<Reader, 'select'>): Promise<boolean> => userStore.anySuperAdmin(from)
