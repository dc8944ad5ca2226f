import type { Writer } from '../../../../db/engine.ts'
import type { Change } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { defined, type Optional, pick } from '../../../lib/objects.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { byAddress, normalEmail, signupByAddress } from '../../identity/auth/domain.ts'
import { checkPassword, countAttempt } from '../../identity/auth/index.ts'
import { endTokens } from '../../identity/one-time-token/index.ts'
import { tellOfAccount } from '../../messaging/mail/index.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { bookStore } from './address-book-store.ts'
import {
  type AddressFields,
  type AddressView,
  addressView,
  type Customer,
  type CustomerView,
  customerView,
  type DefaultFlags,
  type KnownAddress,
} from './domain.ts'
import type { CustomerDeps } from './providers.ts'
import {
  accountOf,
  addressDifference,
  checkedAddress,
  emailTaken,
  leaveOneDefault,
  noSuchAddress,
  noSuchCustomer,
  type Shop,
} from './service.ts'

type OwnChange = Optional<Pick<Customer, 'name' | 'phone' | 'acceptsMarketing' | 'email'>> & { password?: string | undefined }
const openFields = ['acceptsMarketing', 'emailProvenAt'] as const

/**
 * Changes what a customer says of themselves. Another e-mail address is where new passwords go: it needs the present password, is not proven
 * until its owner proves it, and makes useless what was sent to the one before, which is told of it.
 * @param limitKey what the caller is limited by
 * @throws AppError NOT_FOUND; INVALID without the password; UNAUTHENTICATED for a wrong one; CONFLICT when the shop knows the address;
 *   RATE_LIMITED, as a signup is, so that nobody finds out more cheaply here who has an account; UNAVAILABLE
 */
export async function changeOwnCustomer(
  deps: CustomerDeps,
  by: Change<Shop>,
  { email, password, ...plain }: OwnChange,
  limitKey: string,
): Promise<CustomerView> {
  const { customerStore: store, clock } = deps
  const { shop, actor } = by
  const known = await store.find(shop.id, actor.id)
  if (!known) throw noSuchCustomer()
  const address = email === undefined || normalEmail(email) === known.email ? undefined : normalEmail(email)
  const account = accountOf(shop.id, known.email, known)
  if (address !== undefined) {
    if (password === undefined) throw new AppError('INVALID', 'password (body): needed to change the e-mail address')
    await countAttempt(deps, byAddress(signupByAddress, limitKey))
    await checkPassword(deps, account, { address: limitKey, password, isOwn: true }, { accountId: known.id, shopId: shop.id, from: actor })
  }
  const change = async (tx: Writer): Promise<{ before: Customer; after: Customer }> => {
    const before = await store.lock(tx, known.id)
    if (!before) throw noSuchCustomer()
    if (address !== undefined) {
      if (before.passwordHash !== account.hash) throw new AppError('CONFLICT', 'The password was changed meanwhile: log in again')
      await endTokens(tx, deps, 'EMAIL_VERIFY', known.id)
      await endTokens(tx, deps, 'PASSWORD_RESET', known.id)
      await tellOfAccount(tx, deps, { shopId: shop.id, to: before.email, what: 'email' })
    }
    const other = address === undefined ? {} : { email: address, emailProvenAt: null }
    const after = await store.change(tx, known.id, { ...defined(plain), ...other, updatedAt: clock.now() })
    if (!after) throw noSuchCustomer()
    return { before, after }
  }
  return audited(deps, by, { action: 'customer.changed', subject: known.id }, async (tx, tell) => {
    const { before, after } = await change(tx)
    const told = ({ passwordHash: _, ...rest }: Customer) => rest
    tell(differenceOf(told(before), told(after), openFields))
    return customerView(after, shop.currency, await store.standingOf(after.id, shop.mode, tx))
  }).catch(emailTaken)
}

/** The address book of a customer, oldest first. */
export async function ownAddresses({ db }: CustomerDeps, customerId: string, slice: Slice): Promise<Page<AddressView>> {
  const { rows, total } = await bookStore.list(db.read, customerId, slice)
  return pageOf(rows.map(addressView), total, slice)
}

/**
 * Changes an address of a customer's own book: what is left out stays. A default that it takes, another of the book loses.
 * @throws AppError NOT_FOUND, also for what is in no book or in another's; INVALID for an unknown country
 */
export function changeOwnAddress(
  deps: CustomerDeps,
  by: Change,
  id: string,
  { isDefaultShipping, isDefaultBilling, ...fields }: Optional<AddressFields> & DefaultFlags,
): Promise<AddressView> {
  const customerId = by.actor.id
  return audited(deps, by, { action: 'address.changed', subject: id }, async (tx, tell) => {
    // Two changes of one book wait for each other, so that of two defaults one is left.
    if (!(await deps.customerStore.lock(tx, customerId))) throw noSuchAddress()
    const before = await bookStore.lock(tx, customerId, id)
    if (!before) throw noSuchAddress()
    const after: KnownAddress = {
      ...before,
      address: checkedAddress({ ...before.address, ...defined(fields) }),
      isDefaultShipping: isDefaultShipping ?? before.isDefaultShipping,
      isDefaultBilling: isDefaultBilling ?? before.isDefaultBilling,
      updatedAt: deps.clock.now(),
    }
    await bookStore.replace(tx, after)
    await leaveOneDefault(tx, deps, { ...pick(after, 'id', 'isDefaultShipping', 'isDefaultBilling', 'updatedAt'), customerId })
    tell(addressDifference(before, after))
    return addressView(after)
  })
}

/** Takes an address out of a customer's own book. Orders keep what they were sent to. @throws AppError NOT_FOUND */
export async function removeOwnAddress(deps: CustomerDeps, by: Change, id: string): Promise<void> {
  await audited(deps, by, { action: 'address.removed', subject: id }, async (tx, tell) => {
    const removed = await bookStore.remove(tx, by.actor.id, id)
    if (!removed) throw noSuchAddress()
    tell(addressDifference(removed, undefined))
  })
}
