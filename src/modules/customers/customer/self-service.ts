import type { Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { type Optional, pick, withoutUndefined } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { limitsByAddress, normalEmail, signupByAddress } from '../../identity/auth/domain.ts'
import { checkPassword, countAttempt } from '../../identity/auth/index.ts'
import { audited } from '../../operations/audit/index.ts'
import { addressBookStore } from './address-book-store.ts'
import { changedCustomerDifference, dropFormerEmail, notifyCustomerChanged } from './change-customer.ts'
import {
  type AddressFields,
  type AddressView,
  addressView,
  type Customer,
  type CustomerView,
  customerView,
  type DefaultFlags,
  type OwnedAddress,
  type Profile,
} from './domain.ts'
import type { CustomerDeps } from './providers.ts'
import {
  accountOf,
  addressDifference,
  clearOtherDefaults,
  emailTaken,
  noSuchAddress,
  noSuchCustomer,
  type Shop,
  validateAddress,
} from './service.ts'

type OwnChange = Optional<Profile & Pick<Customer, 'email'>> & { password?: string | undefined }

/**
 * Changes a customer's own details. A new e-mail address receives password resets, so it needs the current password, is
 * unproven at first, invalidates earlier tokens, and the old address is notified.
 * @param limitKey the rate-limit key of the caller
 * @throws AppError NOT_FOUND; INVALID without the password; UNAUTHENTICATED for a wrong one; CONFLICT for a taken
 * address; RATE_LIMITED like a sign-up, so that probing for accounts is not cheaper here; UNAVAILABLE
 */
export async function changeOwnCustomer(
  deps: CustomerDeps,
  by: CommandContext<Shop>,
  { email, password, ...plain }: OwnChange,
  limitKey: string,
): Promise<CustomerView> {
  const { customerStore: store, clock } = deps
  const { shop, actor } = by
  const customer = await store.find(shop.id, actor.id)
  if (!customer) throw noSuchCustomer()
  const newEmail = email === undefined || normalEmail(email) === customer.email ? undefined : normalEmail(email)
  const account = accountOf(shop.id, customer.email, customer)
  if (newEmail !== undefined) {
    if (password === undefined) throw invalidField('password', 'required to change the email address')
    await countAttempt(deps, limitsByAddress(signupByAddress, limitKey))
    await checkPassword(
      deps,
      account,
      { address: limitKey, password, isOwn: true },
      { accountId: customer.id, shopId: shop.id, from: actor },
    )
  }
  const change = async (tx: Writer): Promise<{ before: Customer; after: Customer }> => {
    const before = await store.lock(tx, customer.id)
    if (!before) throw noSuchCustomer()
    if (newEmail !== undefined) {
      if (before.passwordHash !== account.hash) throw new AppError('CONFLICT', 'The password was changed by another request. Log in again')
      await dropFormerEmail(tx, deps, before)
    }
    const emailChange = newEmail === undefined ? {} : { email: newEmail, emailProvenAt: null }
    const after = await store.change(tx, customer.id, { ...withoutUndefined(plain), ...emailChange, updatedAt: clock.now() })
    if (!after) throw noSuchCustomer()
    await notifyCustomerChanged(tx, deps, before, after)
    return { before, after }
  }
  return audited(deps, by, { action: 'customer.changed', subject: customer.id }, async (tx, setDifference) => {
    const { before, after } = await change(tx)
    setDifference(changedCustomerDifference(before, after))
    return customerView(after, shop.currency, await store.summaryOf(after.id, shop.mode, tx))
  }).catch(emailTaken)
}

/** Lists a customer's address book, oldest first. */
export async function listOwnAddresses({ db }: CustomerDeps, customerId: string, slice: PageSlice): Promise<Page<AddressView>> {
  const { rows, total } = await addressBookStore.list(db.read, customerId, slice)
  return pageOf(rows.map(addressView), total, slice)
}

/**
 * Changes an address of the customer's own book. Undefined fields stay. A new default replaces the old one.
 * @throws AppError NOT_FOUND, also for another's address; INVALID for an unknown country
 */
export function changeOwnAddress(
  deps: CustomerDeps,
  by: CommandContext,
  id: string,
  { isDefaultShipping, isDefaultBilling, ...fields }: Optional<AddressFields> & DefaultFlags,
): Promise<AddressView> {
  const customerId = by.actor.id
  return audited(deps, by, { action: 'address.changed', subject: id }, async (tx, setDifference) => {
    // Locks the customer, so that concurrent changes leave one default.
    if (!(await deps.customerStore.lock(tx, customerId))) throw noSuchAddress()
    const before = await addressBookStore.lock(tx, customerId, id)
    if (!before) throw noSuchAddress()
    const after: OwnedAddress = {
      ...before,
      address: validateAddress({ ...before.address, ...withoutUndefined(fields) }),
      isDefaultShipping: isDefaultShipping ?? before.isDefaultShipping,
      isDefaultBilling: isDefaultBilling ?? before.isDefaultBilling,
      updatedAt: deps.clock.now(),
    }
    await addressBookStore.replace(tx, after)
    await clearOtherDefaults(tx, deps, { ...pick(after, 'id', 'isDefaultShipping', 'isDefaultBilling', 'updatedAt'), customerId })
    setDifference(addressDifference(before, after))
    return addressView(after)
  })
}

/** Removes an address from the customer's own book. Orders keep theirs. @throws AppError NOT_FOUND */
export async function removeOwnAddress(deps: CustomerDeps, by: CommandContext, id: string): Promise<void> {
  await audited(deps, by, { action: 'address.removed', subject: id }, async (tx, setDifference) => {
    const removed = await addressBookStore.remove(tx, by.actor.id, id)
    if (!removed) throw noSuchAddress()
    setDifference(addressDifference(removed, undefined))
  })
}
