import { type Actor, audit, system } from '../audit/service.ts'
import { normalEmail, signupByAddress } from '../auth/domain.ts'
import { type AuthDeps, checkPassword, countAttempt, type Login, startSession } from '../auth/service.ts'
import { refuseTaken } from '../conflict/service.ts'
import { type NewShop, openShop, type ShopDeps } from '../shop/service.ts'
import type { Shop } from '../shop/store.ts'
import type { User, UserStore } from './store.ts'

export type MerchantDeps = AuthDeps & ShopDeps & { readonly userStore: UserStore }
export type Credentials = { email: string; password: string }

/**
 * Logs a merchant or a super admin in.
 * @param address what the caller is limited by
 * @throws AppError UNAUTHENTICATED, alike for an unknown account and a wrong password; RATE_LIMITED
 */
export async function login(
  deps: MerchantDeps,
  { email, password }: Credentials,
  address: string,
  requestId: string | undefined,
): Promise<Login> {
  const account = normalEmail(email)
  const user = await deps.userStore.findByEmail(account)
  await checkPassword(deps, { account: `user ${account}`, address, password, hash: user?.passwordHash })
  if (!user) throw new Error('a password was right for nobody')
  return startSession(deps, { id: user.id, role: user.role }, { id: user.id, requestId })
}

/**
 * Makes a merchant and their first shop, in mode TEST.
 * @param by who does it; without an id the merchant
 * @throws AppError CONFLICT when the e-mail address or the shop's name is taken; INVALID for an unknown currency or country
 */
export async function createMerchant(
  deps: MerchantDeps,
  { email, password }: Credentials,
  newShop: NewShop,
  by: Partial<Actor> = {},
): Promise<{ user: User; shop: Shop }> {
  const id = deps.newId('merchant')
  const { shop, insert } = openShop(deps, id, newShop)
  const user: User = {
    id,
    role: 'MERCHANT',
    email: normalEmail(email),
    passwordHash: await deps.passwords.hash(password),
    createdAt: deps.clock.now(),
  }
  const record = audit(deps, { id, ...by }, { action: 'merchant.created', subject: id, shopId: shop.id })
  await deps.db
    .write(async (tx) => {
      await deps.userStore.insert(tx, user)
      await insert(tx)
      await record(tx)
    })
    .catch(refuseTaken('The e-mail address or the shop name is taken'))
  return { user, shop }
}

/** Sign-up over the network: limited by address, and counted before the costly hash. */
export async function signUp(
  deps: MerchantDeps,
  credentials: Credentials,
  newShop: NewShop,
  address: string,
  requestId: string | undefined,
): Promise<{ user: User; shop: Shop }> {
  await countAttempt(deps, [[signupByAddress, address]])
  return createMerchant(deps, credentials, newShop, { requestId })
}

/** @throws AppError CONFLICT when the e-mail address is taken */
export async function createSuperAdmin(deps: MerchantDeps, { email, password }: Credentials): Promise<User> {
  const user: User = {
    id: deps.newId('user'),
    role: 'SUPER_ADMIN',
    email: normalEmail(email),
    passwordHash: await deps.passwords.hash(password),
    createdAt: deps.clock.now(),
  }
  const record = audit(deps, system, { action: 'super_admin.created', subject: user.id })
  await deps.db
    .write(async (tx) => {
      await deps.userStore.insert(tx, user)
      await record(tx)
    })
    .catch(refuseTaken('The e-mail address is taken'))
  return user
}
