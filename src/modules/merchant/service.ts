import { type Actor, type Origin, system } from '../../core/change.ts'
import { refuseTaken } from '../../core/conflict.ts'
import { AppError } from '../../core/errors.ts'
import { differenceOf } from '../audit/domain.ts'
import { audit, audited } from '../audit/index.ts'
import { normalEmail, signupByAddress } from '../auth/domain.ts'
import { checkPassword, countAttempt, type Login, startSession } from '../auth/index.ts'
import { assertNewShop, type NewShop, openShop, type Shop, shopsOf } from '../shop/index.ts'
import type { User } from './domain.ts'
import type { MerchantDeps } from './parts.ts'

export type Credentials = { email: string; password: string }

/**
 * Logs a merchant or a super admin in.
 * @param address what the caller is limited by
 * @throws AppError UNAUTHENTICATED, alike for an unknown account and a wrong password; RATE_LIMITED
 */
export async function login(deps: MerchantDeps, { email, password }: Credentials, address: string, from: Origin): Promise<Login> {
  const account = normalEmail(email)
  const user = await deps.userStore.findByEmail(account)
  await checkPassword(deps, { account: `user ${account}`, address, password, hash: user?.passwordHash }, { accountId: user?.id, from })
  if (!user) throw new Error('a password was right for nobody')
  return startSession(deps, { id: user.id, role: user.role }, { id: user.id, ...from })
}

async function newUser(deps: MerchantDeps, id: string, role: User['role'], { email, password }: Credentials): Promise<User> {
  const passwordHash = await deps.passwords.hash(password)
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
): Promise<{ user: User; shop: Shop }> {
  assertNewShop(newShop)
  const user = await newUser(deps, deps.newId('merchant'), 'MERCHANT', credentials)
  const { id } = user
  return deps.db
    .write(async (tx) => {
      await deps.userStore.insert(tx, user)
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

/** Sign-up over the network: limited by address, and counted before the costly hash. */
export async function signUp(
  deps: MerchantDeps,
  credentials: Credentials,
  newShop: NewShop,
  address: string,
  from: Origin,
): Promise<{ user: User; shop: Shop }> {
  await countAttempt(deps, [[signupByAddress, address]])
  return createMerchant(deps, credentials, newShop, from)
}

/** @throws AppError CONFLICT when the e-mail address is taken */
export async function createSuperAdmin(deps: MerchantDeps, credentials: Credentials): Promise<User> {
  const user = await newUser(deps, deps.newId('user'), 'SUPER_ADMIN', credentials)
  return audited(deps, { actor: system }, { action: 'super_admin.created', subject: user.id }, async (tx, tell) => {
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

/** The account with this e-mail address; undefined when there is none. */
export const userWithEmail = ({ userStore }: MerchantDeps, email: string): Promise<User | undefined> =>
  userStore.findByEmail(normalEmail(email))

/** The merchant's shops, oldest first. */
export const merchantShops = (deps: MerchantDeps, id: string): Promise<Shop[]> => shopsOf(deps, id)

/** Whether the instance has anybody who logs in, and a super admin. */
export const hasUsers = ({ userStore }: MerchantDeps): Promise<boolean> => userStore.anyUser()
export const hasSuperAdmin = ({ userStore }: MerchantDeps): Promise<boolean> => userStore.anySuperAdmin()
