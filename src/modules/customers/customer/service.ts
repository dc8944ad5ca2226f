import type { Writer } from '../../../../db/engine.ts'
import type { Address } from '../../../../db/schema/selling.ts'
import type { Caller } from '../../../core/caller.ts'
import type { Actor, CommandContext, Origin } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { type Optional, withoutUndefined } from '../../../lib/objects.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { type Account, customerAccount, limitsByAddress, normalEmail, signupByAddress } from '../../identity/auth/domain.ts'
import { assertUncommonPassword, checkPassword, countAttempt, endSessionsOf, type Login, startSession } from '../../identity/auth/index.ts'
import { notifyAccountChange } from '../../messaging/mail/index.ts'
import { type Difference, differenceOf, passwordDifference } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { recordSignUp } from '../../operations/kpi/index.ts'
import { assertCountry } from '../../shop/countries/domain.ts'
import {
  type AddressFields,
  type AddressView,
  addressesByCustomer,
  addressesPerCustomerMax,
  addressOf,
  addressView,
  type BookEntry,
  type Customer,
  type CustomerView,
  customerView,
  type DefaultFlags,
  emptyProfile,
  emptyStaffFields,
  type OwnedAddress,
  type Profile,
  type StaffCustomerView,
  staffCustomerView,
} from './domain.ts'
import { joinGuestOrders } from './email-proof.ts'
import type { CustomerDeps } from './providers.ts'
import { customerTotalsStore } from './store.ts'

export type Shop = Pick<ShopContext, 'id' | 'currency' | 'mode'>

export const emailTaken = refuseTaken('another customer has this email address', 'email')
/** Creates the error for a missing customer. It is the same for another shop's, so that it reveals nothing. */
export const noSuchCustomer = () => new AppError('NOT_FOUND', 'No such customer')
/** Creates the error for a missing address; the same for another shop's or customer's. */
export const noSuchAddress = () => new AppError('NOT_FOUND', 'No such address')

type NewCustomer = Pick<Customer, 'shopId' | 'email'> &
  Optional<Profile & Pick<Customer, 'note' | 'tags'>> &
  Partial<Pick<Customer, 'passwordHash'>>

/** Builds a new customer whose address is not verified. Without `passwordHash` they cannot log in. */
export function buildCustomer({ clock, newId }: CustomerDeps, { shopId, email, passwordHash = null, ...profile }: NewCustomer): Customer {
  const now = clock.now()
  const times = { emailProvenAt: null, erasedAt: null, createdAt: now, updatedAt: now, version: 1 }
  const empty = { ...emptyProfile, ...emptyStaffFields }
  return { id: newId('customer'), shopId, email: normalEmail(email), ...empty, ...withoutUndefined(profile), passwordHash, ...times }
}

/**
 * Signs up a customer. Taken addresses cost and count the same, so that nobody can probe for accounts cheaply.
 * @throws AppError CONFLICT for a taken e-mail address; INVALID for a common password; RATE_LIMITED, UNAVAILABLE
 */
export async function signUpCustomer(
  deps: CustomerDeps,
  { shopId, email, password, name }: { shopId: string; email: string; password: string; name: string },
  { limitKey: address, ...from }: Origin & Pick<Caller, 'limitKey'>,
): Promise<Customer> {
  await assertUncommonPassword(password)
  await countAttempt(deps, limitsByAddress(signupByAddress, address))
  const passwordHash = await deps.passwords.hash(password, { kind: 'customer', address })
  const customer = buildCustomer(deps, { shopId, email, name, passwordHash })
  const by = { shop: { id: shopId }, actor: { ...from, id: customer.id } }
  return audited(deps, by, { action: 'customer.created', subject: customer.id }, async (tx, setDifference) => {
    await deps.customerStore.insert(tx, customer)
    await recordSignUp(tx, { id: customer.id, role: 'CUSTOMER', at: customer.createdAt })
    setDifference(customerDifference(customer))
    return customer
  }).catch(emailTaken)
}

/** Returns what a password check needs. Unknown customers are checked too, at the same cost, and fail. */
export const accountOf = (shopId: string | undefined, email: string, customer: Customer | undefined): Account => ({
  kind: 'customer',
  name: customerAccount(shopId, email),
  hash: customer?.passwordHash ?? undefined,
})

/**
 * Logs in a customer.
 * @param shopId undefined for an unknown shop, which gets the error of a wrong password
 * @throws AppError UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE
 */
export async function logInCustomer(
  deps: CustomerDeps,
  { shopId, email, password }: { shopId: string | undefined; email: string; password: string },
  caller: Caller,
): Promise<Login> {
  const customer = shopId === undefined ? undefined : await deps.customerStore.findByEmail(shopId, normalEmail(email))
  const account = accountOf(shopId, email, customer)
  await checkPassword(deps, account, { address: caller.limitKey, password }, { accountId: customer?.id, shopId, from: caller })
  if (!customer) throw new Error('a password matched without an account')
  const actor = { ...caller, id: customer.id }
  const holds = (tx: Writer) => deps.customerStore.hasPassword(tx, customer.id, account.hash)
  await joinGuestOrders(deps, customer, actor)
  return startSession(deps, { id: customer.id, role: 'CUSTOMER', shopId: customer.shopId }, actor, { caller, holds })
}

/**
 * Changes a customer's password and ends their other sessions.
 * @throws AppError UNAUTHENTICATED if the current password is wrong; RATE_LIMITED, UNAVAILABLE
 */
export async function changeCustomerPassword(
  deps: CustomerDeps,
  { id, shopId, sessionId, actor }: { id: string; shopId: string; sessionId: string; actor: Actor },
  { current, password }: { current: string; password: string },
  address: string,
): Promise<void> {
  const customer = await deps.customerStore.find(shopId, id)
  if (!customer) throw noSuchCustomer()
  const account = accountOf(shopId, customer.email, customer)
  await checkPassword(deps, account, { address, password: current, isOwn: true }, { accountId: id, shopId, from: actor })
  const passwordHash = await deps.passwords.hash(password, { kind: 'customer', address })
  await audited(deps, { actor, shop: { id: shopId } }, { action: 'password.changed', subject: id }, async (tx, setDifference) => {
    if (!(await deps.customerStore.hasPassword(tx, id, account.hash)))
      throw new AppError('CONFLICT', 'The password was changed by another request. Log in again')
    await deps.customerStore.setPassword(tx, id, passwordHash, deps.clock.now())
    await endSessionsOf(tx, deps, id, sessionId)
    await notifyAccountChange(tx, deps, { shopId, to: customer.email, what: 'password' })
    setDifference(passwordDifference)
  })
}

/**
 * Creates a customer on the shop's behalf, without a password and so without a login.
 * @throws AppError CONFLICT for a taken e-mail address
 */
export function createCustomer(
  deps: CustomerDeps,
  by: CommandContext<Shop>,
  input: Pick<Customer, 'email'> & Optional<Profile>,
): Promise<StaffCustomerView> {
  const customer = buildCustomer(deps, { shopId: by.shop.id, ...input })
  return audited(deps, by, { action: 'customer.created', subject: customer.id }, async (tx, setDifference) => {
    await deps.customerStore.insert(tx, customer)
    setDifference(customerDifference(customer))
    return staffCustomerView(customer, by.shop.currency)
  }).catch(emailTaken)
}

/**
 * Reads a customer as customers see themselves.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function readOwnCustomer({ customerStore }: CustomerDeps, shop: Shop, id: string): Promise<CustomerView> {
  const customer = await customerStore.find(shop.id, id)
  if (!customer) throw noSuchCustomer()
  return customerView(customer, shop.currency, await customerStore.summaryOf(id, shop.mode))
}

/**
 * Reads a customer with their version.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function readCustomer(
  { customerStore }: CustomerDeps,
  shop: Shop,
  id: string,
): Promise<StaffCustomerView & { version: number }> {
  const customer = await customerStore.find(shop.id, id)
  if (!customer) throw noSuchCustomer()
  return { ...staffCustomerView(customer, shop.currency, await customerStore.summaryOf(id, shop.mode)), version: customer.version }
}

/**
 * Validates an address and builds its stored form.
 * @param field prefix of field names in errors, such as `shippingAddress.`
 * @throws AppError INVALID for an unknown country
 */
export function validateAddress(input: AddressFields, field = ''): Address {
  assertCountry(input.countryCode, `${field}countryCode`)
  return addressOf(input)
}

/** Returns the audited difference of a new customer: whether there is a password, and no personal values. */
export const customerDifference = ({ passwordHash, ...customer }: Customer): Difference =>
  differenceOf(undefined, { ...customer, hasPassword: passwordHash !== null }, ['acceptsMarketing', 'hasPassword'])

/** Returns the audited difference. The address itself is named without values. */
export const addressDifference = (before: OwnedAddress | undefined, after: OwnedAddress | undefined): Difference =>
  differenceOf(before, after, ['customerId', 'enteredBy', 'isDefaultShipping', 'isDefaultBilling'])

/**
 * Checks that a locked customer is the shop's and not erased: erased customers get no new personal data.
 * @throws AppError NOT_FOUND, CONFLICT
 */
export function assertNotErased(customer: Customer | undefined, shop: Pick<Shop, 'id'>): Customer {
  if (customer?.shopId !== shop.id) throw noSuchCustomer()
  if (customer.erasedAt !== null) throw new AppError('CONFLICT', "The customer's personal data was erased. Create a new customer")
  return customer
}

type AddressOwnership = Partial<Pick<OwnedAddress, 'customerId' | 'enteredBy'>> & DefaultFlags

/**
 * Builds a new address.
 * @throws AppError INVALID for an unknown country
 */
export function buildAddress(
  { clock, newId }: CustomerDeps,
  shop: Pick<Shop, 'id'>,
  input: AddressFields,
  { customerId = null, enteredBy = null, isDefaultShipping = false, isDefaultBilling = false }: AddressOwnership,
): OwnedAddress {
  const address = validateAddress(input)
  const now = clock.now()
  const times = { createdAt: now, updatedAt: now }
  return { id: newId('address'), shopId: shop.id, customerId, enteredBy, address, isDefaultShipping, isDefaultBilling, ...times }
}

/**
 * Stores an address that is in no book.
 * @param enteredBy the customer who enters it; no other customer can read it until it is in a book
 * @throws AppError INVALID; RATE_LIMITED for a customer above the hourly limit
 */
export async function enterAddress(
  deps: CustomerDeps,
  by: CommandContext,
  enteredBy: string | undefined,
  input: AddressFields,
): Promise<AddressView> {
  const address = buildAddress(deps, by.shop, input, { enteredBy: enteredBy ?? null })
  if (enteredBy !== undefined) await countAttempt(deps, [[addressesByCustomer, enteredBy]])
  return audited(deps, by, { action: 'address.created', subject: address.id }, async (tx, setDifference) => {
    await deps.customerStore.insertAddress(tx, address)
    setDifference(addressDifference(undefined, address))
    return addressView(address)
  })
}

/**
 * @param customerId the reading customer; undefined for the shop
 * @throws AppError NOT_FOUND, also for another shop's or customer's
 */
export async function readAddress(
  { customerStore }: CustomerDeps,
  shop: Pick<Shop, 'id'>,
  customerId: string | undefined,
  id: string,
): Promise<AddressView> {
  const address = await (customerId === undefined
    ? customerStore.findAddress(shop.id, id)
    : customerStore.findAddressOf(customerId, shop.id, id))
  if (!address) throw noSuchAddress()
  return addressView(address)
}

/**
 * Creates an address in a customer's book.
 * @throws AppError INVALID; NOT_FOUND, also for another shop's customer; CONFLICT if the book is full
 */
export async function createBookAddress(
  deps: CustomerDeps,
  by: CommandContext,
  customerId: string,
  { isDefaultShipping, isDefaultBilling, ...input }: AddressFields & DefaultFlags,
): Promise<AddressView> {
  const address = buildAddress(deps, by.shop, input, { customerId, isDefaultShipping, isDefaultBilling })
  return audited(deps, by, { action: 'address.created', subject: address.id }, async (tx, setDifference) => {
    assertNotErased(await deps.customerStore.lock(tx, customerId), by.shop)
    await assertBookHasRoom(tx, deps, customerId)
    await deps.customerStore.insertAddress(tx, address)
    await clearOtherDefaults(tx, deps, { ...address, customerId })
    setDifference(addressDifference(undefined, address))
    return addressView(address)
  })
}

/**
 * Adds an address of the shop to a customer's book. One that is in it gets the flags.
 * @throws AppError NOT_FOUND for an unknown address or customer; CONFLICT if it is in another customer's book, or the
 * book is full
 */
export function addAddress(
  deps: CustomerDeps,
  by: CommandContext<Shop>,
  customerId: string,
  { addressId, ...flags }: { addressId: string } & DefaultFlags,
): Promise<StaffCustomerView> {
  const { shop } = by
  const { customerStore: store } = deps
  return audited(deps, by, { action: 'address.added', subject: addressId }, async (tx, setDifference) => {
    const customer = assertNotErased(await store.lock(tx, customerId), shop)
    const address = await store.findAddress(shop.id, addressId, tx)
    if (!address) throw noSuchAddress()
    if (address.customerId === null) await assertBookHasRoom(tx, deps, customerId)
    const isDefaultShipping = flags.isDefaultShipping ?? address.isDefaultShipping
    const isDefaultBilling = flags.isDefaultBilling ?? address.isDefaultBilling
    const added: BookEntry = { id: addressId, customerId, isDefaultShipping, isDefaultBilling, updatedAt: deps.clock.now() }
    if (!(await store.claimAddress(tx, added))) throw new AppError('CONFLICT', 'Another customer has this address')
    await clearOtherDefaults(tx, deps, added)
    setDifference(addressDifference(address, { ...address, ...added }))
    return staffCustomerView(customer, shop.currency, await store.summaryOf(customerId, shop.mode, tx))
  })
}

async function assertBookHasRoom(tx: Writer, { customerStore }: CustomerDeps, customerId: string): Promise<void> {
  if ((await customerStore.countAddresses(tx, customerId)) >= addressesPerCustomerMax)
    throw new AppError('CONFLICT', `A customer has at most ${addressesPerCustomerMax} addresses`, { code: 'limit_reached' })
}

/** Clears the defaults of other addresses, inside the write that set one. */
export async function clearOtherDefaults(tx: Writer, { customerStore }: CustomerDeps, address: BookEntry): Promise<void> {
  if (address.isDefaultShipping) await customerStore.clearDefault(tx, 'isDefaultShipping', address)
  if (address.isDefaultBilling) await customerStore.clearDefault(tx, 'isDefaultBilling', address)
}

/**
 * Lists the ids of a customer's orders, newest first. Uses stored totals, so the cost does not grow with the orders.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function listOrderIds(
  { customerStore }: CustomerDeps,
  shop: Pick<Shop, 'id'>,
  customerId: string,
  slice: Omit<PageSlice, 'page'>,
): Promise<{ customerId: string; orderIds: string[]; total: number }> {
  const [total, orderIds] = await Promise.all([
    customerStore.countOrders(shop.id, customerId),
    customerStore.orderIds(shop.id, customerId, slice),
  ])
  if (total === undefined) throw noSuchCustomer()
  return { customerId, orderIds, total }
}

/** The key of a customer's totals. Test and live orders are counted separately. */
type TotalsKey = { customerId: string; currency: string; mode: ShopContext['mode'] }

/** Counts an order, inside the write that places it. */
export const countOrder = (tx: Writer, order: TotalsKey): Promise<void> => customerTotalsStore.add(tx, { ...order, orders: 1, spent: 0 })

/** Adds an amount, inside the write that confirms or refunds an order; negative for a refund. */
export const addSpending = (tx: Writer, { amount, ...order }: TotalsKey & { amount: number }): Promise<void> =>
  customerTotalsStore.add(tx, { ...order, orders: 0, spent: amount })

/** Adds joined guest orders and their amount, inside the write that joins them. */
export const addJoinedOrders = (tx: Writer, { amount, orders, ...order }: TotalsKey & { amount: number; orders: number }): Promise<void> =>
  customerTotalsStore.add(tx, { ...order, orders, spent: amount })

/**
 * Sets a customer's password inside a write, and ends all their sessions.
 * @param passwordHash of the new password
 */
export async function setCustomerPassword(tx: Writer, deps: CustomerDeps, id: string, passwordHash: string): Promise<void> {
  const before = await deps.customerStore.lock(tx, id)
  await deps.customerStore.setPassword(tx, id, passwordHash, deps.clock.now())
  // The first password makes them a customer with an account, which statistics count as a sign-up.
  if (before?.passwordHash === null && before.erasedAt === null) await recordSignUp(tx, { id, role: 'CUSTOMER', at: before.createdAt })
  await endSessionsOf(tx, deps, id)
}

/** Finds a customer of the shop, erased or not. */
export const findCustomerById = ({ customerStore }: CustomerDeps, shopId: string, id: string): Promise<Customer | undefined> =>
  customerStore.find(shopId, id)

/** Locks a customer until the end of the write. */
export const lockCustomer = (tx: Writer, { customerStore }: CustomerDeps, id: string): Promise<Customer | undefined> =>
  customerStore.lock(tx, id)

/** Returns a customer's e-mail address; undefined if there is none or it was erased. */
export async function emailOf(
  { customerStore }: Pick<CustomerDeps, 'customerStore'>,
  shopId: string,
  id: string,
): Promise<string | undefined> {
  const customer = await customerStore.find(shopId, id)
  return customer?.erasedAt === null ? customer.email : undefined
}

/** Finds a customer of the shop by e-mail address. Upper and lower case are equal. */
export const findCustomerByEmail = (
  { customerStore }: CustomerDeps,
  shop: Pick<Shop, 'id'>,
  email: string,
): Promise<Customer | undefined> => customerStore.findByEmail(shop.id, normalEmail(email))
