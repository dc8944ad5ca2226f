import { audit } from '../audit/service.ts'
import { normalEmail, signupByAddress } from '../auth/domain.ts'
import { type AuthDeps, checkPassword, countAttempt, type Login, startSession } from '../auth/service.ts'
import { refuseTaken } from '../conflict/service.ts'
import type { ShopDeps } from '../shop/service.ts'
import type { Customer, CustomerStore } from './store.ts'

export type CustomerDeps = AuthDeps & ShopDeps & { readonly customerStore: CustomerStore }

/**
 * Makes a customer of a shop with a password of their own.
 * @throws AppError CONFLICT when the shop knows the e-mail address, RATE_LIMITED
 */
export async function signUpCustomer(
  deps: CustomerDeps,
  { shopId, email, password, name }: { shopId: string; email: string; password: string; name: string },
  address: string,
  requestId?: string,
): Promise<Customer> {
  await countAttempt(deps, [[signupByAddress, address]])
  const now = deps.clock.now()
  const id = deps.newId('customer')
  const customer: Customer = {
    id,
    shopId,
    email: normalEmail(email),
    name,
    phone: null,
    acceptsMarketing: false,
    passwordHash: await deps.passwords.hash(password),
    createdAt: now,
    updatedAt: now,
  }
  const record = audit(deps, { id, requestId }, { action: 'customer.created', subject: id, shopId })
  await deps.db
    .write(async (tx) => {
      await deps.customerStore.insert(tx, customer)
      await record(tx)
    })
    .catch(refuseTaken('The shop has a customer with this e-mail address'))
  return customer
}

/**
 * @param shopId undefined for a shop that does not exist, which is refused like a wrong password
 * @throws AppError UNAUTHENTICATED, RATE_LIMITED
 */
export async function logInCustomer(
  deps: CustomerDeps,
  { shopId, email, password }: { shopId: string | undefined; email: string; password: string },
  address: string,
  requestId: string | undefined,
): Promise<Login> {
  const account = normalEmail(email)
  const customer = shopId === undefined ? undefined : await deps.customerStore.findByEmail(shopId, account)
  await checkPassword(deps, { account: `customer ${shopId} ${account}`, address, password, hash: customer?.passwordHash ?? undefined })
  if (!customer) throw new Error('a password was right for nobody')
  return startSession(deps, { id: customer.id, role: 'CUSTOMER', shopId: customer.shopId }, { id: customer.id, requestId })
}
