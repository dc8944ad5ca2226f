import type { customers } from '../../../../db/schema/people.ts'
import type { Address, addresses, customerTotals } from '../../../../db/schema/selling.ts'
import { isoTimes, type Optional, pick } from '../../../lib/objects.ts'
import { wordsOf } from '../../../lib/search-terms.ts'
import type { Limit } from '../../identity/auth/domain.ts'

export type Customer = typeof customers.$inferSelect
export type CustomerTotals = typeof customerTotals.$inferSelect
/** An address with whose it is. */
export type KnownAddress = typeof addresses.$inferSelect
/** What an address is to the customer in whose book it is. */
export type BookEntry = Pick<KnownAddress, 'id' | 'isDefaultShipping' | 'isDefaultBilling' | 'updatedAt'> & { customerId: string }
/** What a customer has besides: the ids of their book, and what they ordered and paid by currency. */
export type Standing = { addressIds: string[]; totals: Pick<CustomerTotals, 'currency' | 'orders' | 'spent'>[] }

/** What narrows a list of customers: the whole e-mail address, and words of it and of the name, or their id. */
export type CustomerQuery = { email?: string | undefined; q?: string | undefined }

const wordsMax = 60

/** What a customer is found by. */
export const customerWords = ({ email, name }: Pick<Customer, 'email' | 'name'>): string[] => wordsOf(`${email} ${name}`, wordsMax)

export const addressesPerCustomerMax = 500
/** Of one page. */
export const orderIdsMax = 1_000
/** What customers enter is in no book yet, so no book's bound holds it. */
export const addressesByCustomer: Limit = { name: 'address:customer', most: 100, windowMs: 60 * 60 * 1000 }

/** An address as a caller gives it. */
export type AddressFields = Pick<Address, 'name' | 'line1' | 'city' | 'countryCode'> &
  Optional<Pick<Address, 'company' | 'line2' | 'province' | 'postalCode' | 'phone'>>
/** What of an address a customer takes unless told otherwise; what is undefined stays as it is. */
export type DefaultFlags = { isDefaultShipping?: boolean | undefined; isDefaultBilling?: boolean | undefined }

/** The address that `input` gives, and nothing else of it. What is left out, or left blank on a form, is null. */
export const addressOf = ({ name, company, line1, line2, city, province, postalCode, countryCode, phone }: AddressFields): Address => ({
  name,
  company: orNull(company),
  line1,
  line2: orNull(line2),
  city,
  province: orNull(province),
  postalCode: orNull(postalCode),
  countryCode,
  phone: orNull(phone),
})

const orNull = (text: string | null | undefined): string | null => (text === undefined || text === null || text.trim() === '' ? null : text)

/** A customer as they are answered; of what they paid, what was in the shop's currency. */
export const customerView = (customer: Customer, currency: string, { addressIds, totals }: Standing = { addressIds: [], totals: [] }) => ({
  ...pick(customer, 'id', 'shopId', 'email'),
  emailVerified: customer.emailProvenAt !== null,
  ...pick(customer, 'name', 'phone', 'acceptsMarketing'),
  addressIds,
  ordersCount: totals.reduce((sum, { orders }) => sum + orders, 0),
  totalSpent: { amount: totals.find((total) => total.currency === currency)?.spent ?? 0, currency },
  ...isoTimes(pick(customer, 'erasedAt', 'createdAt', 'updatedAt')),
})
export type CustomerView = ReturnType<typeof customerView>

/** An address as it is answered. Who entered it is nobody else's business. */
export const addressView = ({ enteredBy: _, address, createdAt, updatedAt, ...rest }: KnownAddress) => ({
  ...rest,
  // By name, so that a stored field that is no longer known does not come along.
  ...addressOf(address),
  ...isoTimes({ createdAt, updatedAt }),
})
export type AddressView = ReturnType<typeof addressView>
