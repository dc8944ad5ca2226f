import type { Writer } from '../../../db/engine.ts'
import type { Address } from '../../../db/schema/selling.ts'
import { AppError } from '../../core/errors.ts'
import type { Keep } from '../../core/idempotency.ts'
import type { ShopContext } from '../../core/principal.ts'
import type { Slice } from '../../lib/page.ts'
import { type Actor, audit } from '../audit/service.ts'
import { normalEmail, signupByAddress } from '../auth/domain.ts'
import { type AuthDeps, checkPassword, countAttempt, type Login, startSession } from '../auth/service.ts'
import { refuseTaken } from '../conflict/service.ts'
import { isCountry } from '../location/domain.ts'
import type { ShopDeps } from '../shop/service.ts'
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
import { type CustomerStore, customerTotalsStore } from './store.ts'

export type CustomerDeps = AuthDeps & ShopDeps & { readonly customerStore: CustomerStore }
type Shop = Pick<ShopContext, 'id' | 'currency'>
/** Who does it, in which shop, and what keeps the answer of an idempotent request. */
type Write = { shop: Shop; actor: Actor; keep?: Keep }

const emailTaken = refuseTaken('The shop has a customer with this e-mail address')
const noSuchCustomer = () => new AppError('NOT_FOUND', 'No such customer')
const noSuchAddress = () => new AppError('NOT_FOUND', 'No such address')

type NewCustomer = Pick<Customer, 'shopId' | 'email' | 'name'> & Partial<Pick<Customer, 'phone' | 'acceptsMarketing' | 'passwordHash'>>

function newCustomer({ clock, newId }: CustomerDeps, { email, ...given }: NewCustomer): Customer {
  const now = clock.now()
  const defaults = { phone: null, acceptsMarketing: false, passwordHash: null }
  return { ...defaults, ...given, id: newId('customer'), email: normalEmail(email), createdAt: now, updatedAt: now }
}

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
  const customer = newCustomer(deps, { shopId, email, name, passwordHash: await deps.passwords.hash(password) })
  const record = audit(deps, { id: customer.id, requestId }, { action: 'customer.created', subject: customer.id, shopId })
  await deps.db
    .write(async (tx) => {
      await deps.customerStore.insert(tx, customer)
      await record(tx)
    })
    .catch(emailTaken)
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

/**
 * Makes a customer for whom the shop speaks: without a password, so that nobody logs in as them.
 * @throws AppError CONFLICT when the shop knows the e-mail address
 */
export async function createCustomer(
  deps: CustomerDeps,
  { shop, actor, keep }: Write,
  { email, name, phone, acceptsMarketing }: Pick<Customer, 'email' | 'name' | 'phone' | 'acceptsMarketing'>,
): Promise<CustomerView> {
  const customer = newCustomer(deps, { shopId: shop.id, email, name, phone, acceptsMarketing })
  const record = audit(deps, actor, { action: 'customer.created', subject: customer.id, shopId: shop.id })
  const view = customerView(customer, shop.currency)
  await deps.db
    .write(async (tx) => {
      await deps.customerStore.insert(tx, customer)
      await record(tx)
      await keep?.(tx, view)
    })
    .catch(emailTaken)
  return view
}

/** @throws AppError NOT_FOUND, also for another shop's */
export async function readCustomer({ customerStore }: CustomerDeps, shop: Shop, id: string): Promise<CustomerView> {
  const customer = await customerStore.find(shop.id, id)
  if (!customer) throw noSuchCustomer()
  return customerView(customer, shop.currency, await customerStore.standingOf(id))
}

/**
 * The address that a caller gave, to be stored.
 * @param field names it in the refusal: `shippingAddress.` before the names of its fields
 * @throws AppError INVALID for an unknown country
 */
export function checkedAddress(input: AddressFields, field = ''): Address {
  if (!isCountry(input.countryCode)) throw new AppError('INVALID', `${field}countryCode (body): not an ISO 3166-1 country`)
  return addressOf(input)
}

type Place = Partial<Pick<KnownAddress, 'customerId' | 'enteredBy'>> & DefaultFlags

function newAddress(
  { clock, newId }: CustomerDeps,
  shop: Shop,
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
  { shop, actor, keep }: Write,
  enteredBy: string | undefined,
  input: AddressFields,
): Promise<AddressView> {
  const address = newAddress(deps, shop, input, { enteredBy: enteredBy ?? null })
  if (enteredBy !== undefined) await countAttempt(deps, [[addressesByCustomer, enteredBy]])
  const record = audit(deps, actor, { action: 'address.created', subject: address.id, shopId: shop.id })
  const view = addressView(address)
  await deps.db.write(async (tx) => {
    await deps.customerStore.insertAddress(tx, address)
    await record(tx)
    await keep?.(tx, view)
  })
  return view
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
  { shop, actor, keep }: Write,
  customerId: string,
  { isDefaultShipping, isDefaultBilling, ...input }: AddressFields & DefaultFlags,
): Promise<AddressView> {
  const address = newAddress(deps, shop, input, { customerId, isDefaultShipping, isDefaultBilling })
  const record = audit(deps, actor, { action: 'address.created', subject: address.id, shopId: shop.id })
  const view = addressView(address)
  await deps.db.write(async (tx) => {
    if (!(await deps.customerStore.find(shop.id, customerId, tx))) throw noSuchCustomer()
    await assertRoom(deps, tx, customerId)
    await deps.customerStore.insertAddress(tx, address)
    await leaveOneDefault(deps, tx, { ...address, customerId })
    await record(tx)
    await keep?.(tx, view)
  })
  return view
}

/**
 * Puts an address of the shop into a customer's book; one that is in it already stays, and takes the flags.
 * @throws AppError NOT_FOUND for an address or a customer that the shop does not have; CONFLICT when the address is in
 * another customer's book, or the book is full
 */
export async function addAddress(
  deps: CustomerDeps,
  { shop, actor }: Write,
  customerId: string,
  { addressId, ...flags }: { addressId: string } & DefaultFlags,
): Promise<CustomerView> {
  const updatedAt = deps.clock.now()
  const record = audit(deps, actor, { action: 'address.added', subject: addressId, shopId: shop.id })
  return deps.db.write(async (tx) => {
    const customer = await deps.customerStore.find(shop.id, customerId, tx)
    if (!customer) throw noSuchCustomer()
    const address = await deps.customerStore.findAddress(shop.id, addressId, tx)
    if (!address) throw noSuchAddress()
    if (address.customerId === null) await assertRoom(deps, tx, customerId)
    const isDefaultShipping = flags.isDefaultShipping ?? address.isDefaultShipping
    const isDefaultBilling = flags.isDefaultBilling ?? address.isDefaultBilling
    const added: BookEntry = { id: addressId, customerId, isDefaultShipping, isDefaultBilling, updatedAt }
    if (!(await deps.customerStore.claimAddress(tx, added))) throw new AppError('CONFLICT', "The address is in another customer's book")
    await leaveOneDefault(deps, tx, added)
    await record(tx)
    return customerView(customer, shop.currency, await deps.customerStore.standingOf(customerId, tx))
  })
}

async function assertRoom({ customerStore }: CustomerDeps, tx: Writer, customerId: string): Promise<void> {
  if ((await customerStore.countAddresses(tx, customerId)) >= addressesPerCustomerMax)
    throw new AppError('CONFLICT', `A customer has at most ${addressesPerCustomerMax} addresses`)
}

/** Within the write that made an address the default of a kind: no other of the book is. */
async function leaveOneDefault({ customerStore }: CustomerDeps, tx: Writer, address: BookEntry): Promise<void> {
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
  slice: Pick<Slice, 'limit' | 'offset'>,
): Promise<{ customerId: string; orderIds: string[]; total: number }> {
  const [total, orderIds] = await Promise.all([
    customerStore.countOrders(shop.id, customerId),
    customerStore.orderIds(shop.id, customerId, slice),
  ])
  if (total === undefined) throw noSuchCustomer()
  return { customerId, orderIds, total }
}

/** Within the write that places an order: the customer has one more. */
export const countOrder = (tx: Writer, { customerId, currency }: { customerId: string; currency: string }): Promise<void> =>
  customerTotalsStore.add(tx, { customerId, currency, orders: 1, spent: 0 })

/** Within the write that confirms an order or refunds it: what the customer has spent; negative for a refund. */
export const addSpending = (
  tx: Writer,
  { customerId, currency, amount }: { customerId: string; currency: string; amount: number },
): Promise<void> => customerTotalsStore.add(tx, { customerId, currency, orders: 0, spent: amount })

/** The e-mail address of a customer; undefined when there is none. */
export const emailOf = async (
  { customerStore }: Pick<CustomerDeps, 'customerStore'>,
  shopId: string,
  id: string,
): Promise<string | undefined> => (await customerStore.find(shopId, id))?.email
