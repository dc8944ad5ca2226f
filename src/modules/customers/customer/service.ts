import type { Writer } from '../../../../db/engine.ts'
import type { Address } from '../../../../db/schema/selling.ts'
import type { Caller } from '../../../core/caller.ts'
import type { Actor, Change, Origin } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { Slice } from '../../../lib/page.ts'
import { type Account, byAddress, customerAccount, normalEmail, signupByAddress } from '../../identity/auth/domain.ts'
import { assertUncommon, checkPassword, countAttempt, endSessionsOf, type Login, startSession } from '../../identity/auth/index.ts'
import { tellOfAccount } from '../../messaging/mail/index.ts'
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
  type KnownAddress,
} from './domain.ts'
import { joinGuestOrders } from './email-proof.ts'
import type { CustomerDeps } from './providers.ts'
import { customerTotalsStore } from './store.ts'

export type Shop = Pick<ShopContext, 'id' | 'currency' | 'mode'>

export const emailTaken = refuseTaken('email (body): the shop has a customer with this address')
export const noSuchCustomer = () => new AppError('NOT_FOUND', 'No such customer')
export const noSuchAddress = () => new AppError('NOT_FOUND', 'No such address')

type NewCustomer = Pick<Customer, 'shopId' | 'email' | 'name'> & Partial<Pick<Customer, 'phone' | 'acceptsMarketing' | 'passwordHash'>>

export function newCustomer({ clock, newId }: CustomerDeps, { email, ...given }: NewCustomer): Customer {
  const now = clock.now()
  const defaults = { phone: null, acceptsMarketing: false, passwordHash: null, emailProvenAt: null, erasedAt: null }
  return { ...defaults, ...given, id: newId('customer'), email: normalEmail(email), createdAt: now, updatedAt: now }
}

/**
 * Makes a customer of a shop with a password of their own. An e-mail address that is taken costs as much and counts as much as one
 * that is not, so that nobody finds out cheaply who has an account.
 * @throws AppError CONFLICT when the shop knows the e-mail address; INVALID for a common password; RATE_LIMITED, UNAVAILABLE
 */
export async function signUpCustomer(
  deps: CustomerDeps,
  { shopId, email, password, name }: { shopId: string; email: string; password: string; name: string },
  { limitKey: address, ...from }: Origin & Pick<Caller, 'limitKey'>,
): Promise<Customer> {
  await assertUncommon(password)
  await countAttempt(deps, byAddress(signupByAddress, address))
  const passwordHash = await deps.passwords.hash(password, { kind: 'customer', address })
  const customer = newCustomer(deps, { shopId, email, name, passwordHash })
  const by = { shop: { id: shopId }, actor: { ...from, id: customer.id } }
  return audited(deps, by, { action: 'customer.created', subject: customer.id }, async (tx, tell) => {
    await deps.customerStore.insert(tx, customer)
    await recordSignUp(tx, { id: customer.id, role: 'CUSTOMER', at: customer.createdAt })
    tell(customerDifference(customer))
    return customer
  }).catch(emailTaken)
}

export const accountOf = (shopId: string | undefined, email: string, customer: Customer | undefined): Account => ({
  kind: 'customer',
  name: customerAccount(shopId, email),
  hash: customer?.passwordHash ?? undefined,
})

/**
 * @param shopId undefined for a shop that does not exist, which is refused like a wrong password
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
  if (!customer) throw new Error('a password was right for nobody')
  const actor = { ...caller, id: customer.id }
  const holds = (tx: Writer) => deps.customerStore.hasPassword(tx, customer.id, account.hash)
  await joinGuestOrders(deps, customer, actor)
  return startSession(deps, { id: customer.id, role: 'CUSTOMER', shopId: customer.shopId }, actor, { caller, holds })
}

/**
 * Changes the password of a customer who knows the one before, and ends their other sessions.
 * @throws AppError UNAUTHENTICATED when that one is wrong; RATE_LIMITED, UNAVAILABLE
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
  await audited(deps, { actor, shop: { id: shopId } }, { action: 'password.changed', subject: id }, async (tx, tell) => {
    if (!(await deps.customerStore.hasPassword(tx, id, account.hash)))
      throw new AppError('CONFLICT', 'The password was changed meanwhile: log in again')
    await deps.customerStore.setPassword(tx, id, passwordHash, deps.clock.now())
    await endSessionsOf(tx, deps, id, sessionId)
    await tellOfAccount(tx, deps, { shopId, to: customer.email, what: 'password' })
    tell(passwordDifference)
  })
}

/**
 * Makes a customer for whom the shop speaks: without a password, so that nobody logs in as them.
 * @throws AppError CONFLICT when the shop knows the e-mail address
 */
export function createCustomer(
  deps: CustomerDeps,
  by: Change<Shop>,
  { email, name, phone, acceptsMarketing }: Pick<Customer, 'email' | 'name' | 'phone' | 'acceptsMarketing'>,
): Promise<CustomerView> {
  const customer = newCustomer(deps, { shopId: by.shop.id, email, name, phone, acceptsMarketing })
  return audited(deps, by, { action: 'customer.created', subject: customer.id }, async (tx, tell) => {
    await deps.customerStore.insert(tx, customer)
    tell(customerDifference(customer))
    return customerView(customer, by.shop.currency)
  }).catch(emailTaken)
}

/** @throws AppError NOT_FOUND, also for another shop's */
export async function readCustomer({ customerStore }: CustomerDeps, shop: Shop, id: string): Promise<CustomerView> {
  const customer = await customerStore.find(shop.id, id)
  if (!customer) throw noSuchCustomer()
  return customerView(customer, shop.currency, await customerStore.standingOf(id, shop.mode))
}

/**
 * The address that a caller gave, to be stored.
 * @param field names it in the refusal: `shippingAddress.` before the names of its fields
 * @throws AppError INVALID for an unknown country
 */
export function checkedAddress(input: AddressFields, field = ''): Address {
  assertCountry(input.countryCode, `${field}countryCode`)
  return addressOf(input)
}

/** What of a new customer is on record: that there is a password, and never what anything of them is. */
export const customerDifference = ({ passwordHash, ...customer }: Customer): Difference =>
  differenceOf(undefined, { ...customer, hasPassword: passwordHash !== null }, ['acceptsMarketing', 'hasPassword'])

export const addressDifference = (before: KnownAddress | undefined, after: KnownAddress | undefined): Difference =>
  differenceOf(before, after, ['customerId', 'enteredBy', 'isDefaultShipping', 'isDefaultBilling'])

/**
 * The customer of this shop, as they stand inside the write: nothing of a person comes to one whose data was erased.
 * @throws AppError NOT_FOUND, CONFLICT
 */
function assertNotErased(customer: Customer | undefined, shop: Pick<Shop, 'id'>): Customer {
  if (customer?.shopId !== shop.id) throw noSuchCustomer()
  if (customer.erasedAt !== null) throw new AppError('CONFLICT', "The customer's personal data was erased: make another customer")
  return customer
}

type Place = Partial<Pick<KnownAddress, 'customerId' | 'enteredBy'>> & DefaultFlags

export function newAddress(
  { clock, newId }: CustomerDeps,
  shop: Pick<Shop, 'id'>,
  input: AddressFields,
  { customerId = null, enteredBy = null, isDefaultShipping = false, isDefaultBilling = false }: Place,
): KnownAddress {
  const address = checkedAddress(input)
  const now = clock.now()
  const times = { createdAt: now, updatedAt: now }
  return { id: newId('address'), shopId: shop.id, customerId, enteredBy, address, isDefaultShipping, isDefaultBilling, ...times }
}

/**
 * Takes an address that is in nobody's book yet.
 * @param enteredBy the customer who enters it, and who alone of the customers may read it until it is in a book
 * @throws AppError INVALID, RATE_LIMITED for a customer who enters very many
 */
export async function enterAddress(
  deps: CustomerDeps,
  by: Change,
  enteredBy: string | undefined,
  input: AddressFields,
): Promise<AddressView> {
  const address = newAddress(deps, by.shop, input, { enteredBy: enteredBy ?? null })
  if (enteredBy !== undefined) await countAttempt(deps, [[addressesByCustomer, enteredBy]])
  return audited(deps, by, { action: 'address.created', subject: address.id }, async (tx, tell) => {
    await deps.customerStore.insertAddress(tx, address)
    tell(addressDifference(undefined, address))
    return addressView(address)
  })
}

/**
 * @param customerId who reads it, when a customer does; otherwise the shop does
 * @throws AppError NOT_FOUND, also for another shop's and for what is another customer's
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
 * Makes an address in a customer's book.
 * @throws AppError INVALID; NOT_FOUND, also for another shop's customer; CONFLICT when the book is full
 */
export async function createBookAddress(
  deps: CustomerDeps,
  by: Change,
  customerId: string,
  { isDefaultShipping, isDefaultBilling, ...input }: AddressFields & DefaultFlags,
): Promise<AddressView> {
  const address = newAddress(deps, by.shop, input, { customerId, isDefaultShipping, isDefaultBilling })
  return audited(deps, by, { action: 'address.created', subject: address.id }, async (tx, tell) => {
    assertNotErased(await deps.customerStore.lock(tx, customerId), by.shop)
    await assertRoom(tx, deps, customerId)
    await deps.customerStore.insertAddress(tx, address)
    await leaveOneDefault(tx, deps, { ...address, customerId })
    tell(addressDifference(undefined, address))
    return addressView(address)
  })
}

/**
 * Puts an address of the shop into a customer's book; one that is in it already stays, and takes the flags.
 * @throws AppError NOT_FOUND for an address or a customer that the shop does not have; CONFLICT when the address is in
 * another customer's book, or the book is full
 */
export function addAddress(
  deps: CustomerDeps,
  by: Change<Shop>,
  customerId: string,
  { addressId, ...flags }: { addressId: string } & DefaultFlags,
): Promise<CustomerView> {
  const { shop } = by
  const { customerStore: store } = deps
  return audited(deps, by, { action: 'address.added', subject: addressId }, async (tx, tell) => {
    const customer = assertNotErased(await store.lock(tx, customerId), shop)
    const address = await store.findAddress(shop.id, addressId, tx)
    if (!address) throw noSuchAddress()
    if (address.customerId === null) await assertRoom(tx, deps, customerId)
    const isDefaultShipping = flags.isDefaultShipping ?? address.isDefaultShipping
    const isDefaultBilling = flags.isDefaultBilling ?? address.isDefaultBilling
    const added: BookEntry = { id: addressId, customerId, isDefaultShipping, isDefaultBilling, updatedAt: deps.clock.now() }
    if (!(await store.claimAddress(tx, added))) throw new AppError('CONFLICT', "The address is in another customer's book")
    await leaveOneDefault(tx, deps, added)
    tell(addressDifference(address, { ...address, ...added }))
    return customerView(customer, shop.currency, await store.standingOf(customerId, shop.mode, tx))
  })
}

export async function assertRoom(tx: Writer, { customerStore }: CustomerDeps, customerId: string): Promise<void> {
  if ((await customerStore.countAddresses(tx, customerId)) >= addressesPerCustomerMax)
    throw new AppError('CONFLICT', `A customer has at most ${addressesPerCustomerMax} addresses`)
}

/** Within the write that made an address the default of a kind: no other of the book is. */
export async function leaveOneDefault(tx: Writer, { customerStore }: CustomerDeps, address: BookEntry): Promise<void> {
  if (address.isDefaultShipping) await customerStore.clearDefault(tx, 'isDefaultShipping', address)
  if (address.isDefaultBilling) await customerStore.clearDefault(tx, 'isDefaultBilling', address)
}

/**
 * The ids of a customer's orders, newest first. What it costs does not grow with the orders: nothing is counted.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function orderIdsOf(
  { customerStore }: CustomerDeps,
  shop: Pick<Shop, 'id'>,
  customerId: string,
  slice: Omit<Slice, 'page'>,
): Promise<{ customerId: string; orderIds: string[]; total: number }> {
  const [total, orderIds] = await Promise.all([
    customerStore.countOrders(shop.id, customerId),
    customerStore.orderIds(shop.id, customerId, slice),
  ])
  if (total === undefined) throw noSuchCustomer()
  return { customerId, orderIds, total }
}

/** Of an order, what a customer's numbers go by: those of test money and of real money are counted apart. */
type Counted = { customerId: string; currency: string; mode: ShopContext['mode'] }

/** Within the write that places an order: the customer has one more. */
export const countOrder = (tx: Writer, order: Counted): Promise<void> => customerTotalsStore.add(tx, { ...order, orders: 1, spent: 0 })

/** Within the write that confirms an order or refunds it: what the customer has spent; negative for a refund. */
export const addSpending = (tx: Writer, { amount, ...order }: Counted & { amount: number }): Promise<void> =>
  customerTotalsStore.add(tx, { ...order, orders: 0, spent: amount })

/** Within the write that makes orders a customer's, who bought them as a guest: how many, and what was spent by them. */
export const countJoined = (tx: Writer, { amount, orders, ...order }: Counted & { amount: number; orders: number }): Promise<void> =>
  customerTotalsStore.add(tx, { ...order, orders, spent: amount })

/**
 * Gives a customer a new password, inside a write, and ends all their sessions.
 * @param passwordHash of the new one
 */
export async function setCustomerPassword(tx: Writer, deps: CustomerDeps, id: string, passwordHash: string): Promise<void> {
  const before = await deps.customerStore.lock(tx, id)
  await deps.customerStore.setPassword(tx, id, passwordHash, deps.clock.now())
  // From their first password on they are one of those who have an account of their own.
  if (before?.passwordHash === null && before.erasedAt === null) await recordSignUp(tx, { id, role: 'CUSTOMER', at: before.createdAt })
  await endSessionsOf(tx, deps, id)
}

/** The customer of a shop with this id; undefined when there is none. */
export const customerWithId = ({ customerStore }: CustomerDeps, shopId: string, id: string): Promise<Customer | undefined> =>
  customerStore.find(shopId, id)

/** The same as they stand inside a write, which has them to itself from then on. */
export const customerWithin = (tx: Writer, { customerStore }: CustomerDeps, id: string): Promise<Customer | undefined> =>
  customerStore.lock(tx, id)

/** The e-mail address of a customer; undefined when there is none, or none any more because it was erased. */
export async function emailOf(
  { customerStore }: Pick<CustomerDeps, 'customerStore'>,
  shopId: string,
  id: string,
): Promise<string | undefined> {
  const customer = await customerStore.find(shopId, id)
  return customer?.erasedAt === null ? customer.email : undefined
}

/** The customer of a shop with this e-mail address; undefined when there is none. */
export const customerWithEmail = ({ customerStore }: CustomerDeps, shop: Pick<Shop, 'id'>, email: string): Promise<Customer | undefined> =>
  customerStore.findByEmail(shop.id, normalEmail(email))
