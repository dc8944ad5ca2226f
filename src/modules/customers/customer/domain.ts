import type { customers } from '../../../../db/schema/people.ts'
import type { Address, addresses, customerTotals } from '../../../../db/schema/selling.ts'
import { isoTimes, type Optional, pick } from '../../../lib/objects.ts'
import { searchTermsOf } from '../../../lib/search-terms.ts'
import type { Limit } from '../../identity/auth/domain.ts'
import { returnStatuses } from '../../selling/order-return/domain.ts'

export type Customer = typeof customers.$inferSelect
/** The fields that the customer and the shop edit, with the values of a new or erased customer. */
export const emptyProfile = { name: '', phone: null, acceptsMarketing: false } as const satisfies Partial<Customer>
export type Profile = Pick<Customer, keyof typeof emptyProfile>
export const profileFields = Object.keys(emptyProfile) as (keyof Profile)[]

export type CustomerTotals = typeof customerTotals.$inferSelect
/** An address with its owner. */
export type OwnedAddress = typeof addresses.$inferSelect
/** The role of an address in a customer's book. */
export type BookEntry = Pick<OwnedAddress, 'id' | 'isDefaultShipping' | 'isDefaultBilling' | 'updatedAt'> & { customerId: string }
/** Address ids, and orders and spending by currency. */
export type CustomerSummary = { addressIds: string[]; totals: Pick<CustomerTotals, 'currency' | 'orders' | 'spent'>[] }

/** The fields that only the shop's staff sees, with the values of a new or erased customer. */
export const emptyStaffFields: Pick<Customer, 'note' | 'tags'> = { note: null, tags: [] }
export const noteLengthMax = 5_000
/** Limits of the tags of a customer or an order. */
export const tagsMax = 50
export const tagLengthMax = 40

/** Filters of the customer list: the whole e-mail address; words of address and name, or an id; a tag. */
export type CustomerQuery = { email?: string | undefined; q?: string | undefined; tag?: string | undefined }

/** How a list of customers is sorted. */
export const customerSorts = ['newest', 'name'] as const
export type CustomerSort = (typeof customerSorts)[number]

const wordsMax = 60

/** Returns the words that find a customer. */
export const customerWords = ({ email, name }: Pick<Customer, 'email' | 'name'>): string[] => searchTermsOf(`${email} ${name}`, wordsMax)

export const queryWordsMax = 10

export const addressesPerCustomerMax = 500
/** Limit of a page. */
export const orderIdsMax = 1_000
/** Limits entered addresses, which are in no book and so not under its limit. */
export const addressesByCustomer: Limit = { name: 'address:customer', most: 100, windowMs: 60 * 60 * 1000 }

/** An address as callers send it. */
export type AddressFields = Pick<Address, 'name' | 'line1' | 'city' | 'countryCode'> &
  Optional<Pick<Address, 'company' | 'line2' | 'province' | 'postalCode' | 'phone'>>
/** Default flags of an address; undefined keeps the current value. */
export type DefaultFlags = { isDefaultShipping?: boolean | undefined; isDefaultBilling?: boolean | undefined }

/** Builds the stored address from known fields only. Missing and blank fields become null. */
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

/** Renders a customer for customers themselves. `totalSpent` counts only the shop's currency. */
export const customerView = (
  customer: Customer,
  currency: string,
  { addressIds, totals }: CustomerSummary = { addressIds: [], totals: [] },
) => ({
  ...pick(customer, 'id', 'shopId', 'email'),
  emailVerified: customer.emailProvenAt !== null,
  ...pick(customer, ...profileFields),
  addressIds,
  ordersCount: totals.reduce((sum, { orders }) => sum + orders, 0),
  totalSpent: { amount: totals.find((total) => total.currency === currency)?.spent ?? 0, currency },
  ...isoTimes(pick(customer, 'erasedAt', 'createdAt', 'updatedAt')),
})
export type CustomerView = ReturnType<typeof customerView>

/** Renders a customer for the shop's staff. */
export const staffCustomerView = (customer: Customer, currency: string, summary?: CustomerSummary) => ({
  ...customerView(customer, currency, summary),
  ...pick(customer, 'note', 'tags'),
})
export type StaffCustomerView = ReturnType<typeof staffCustomerView>

/** Renders an address without who entered it. */
export const addressView = ({ enteredBy: _, address, createdAt, updatedAt, ...rest }: OwnedAddress) => ({
  ...rest,
  // By name, so that obsolete stored fields are left out.
  ...addressOf(address),
  ...isoTimes({ createdAt, updatedAt }),
})
export type AddressView = ReturnType<typeof addressView>

/** The ids of orders and of their refunds, returns and fulfilments, which the keys of mails contain. */
export type OrderRecordIds = Readonly<Record<'orderIds' | 'refundIds' | 'returnIds' | 'fulfilmentIds', readonly string[]>>

/** Returns the keys of all mails about orders. */
export const orderMailKeys = ({ orderIds, refundIds, returnIds, fulfilmentIds }: OrderRecordIds): string[] => [
  ...orderIds.flatMap((id) =>
    ['order-confirmed', 'payment-instructions', 'payment-failed', 'order-shipped'].map((what) => `${what}:${id}`),
  ),
  ...fulfilmentIds.map((id) => `order-shipped:${id}`),
  ...refundIds.flatMap((id) => [`refund-made:${id}`, `refund-made:${id}:settled`, `refund-claim:${id}`]),
  ...returnIds.flatMap((id) => returnStatuses.map((status) => `return-updated:${id}:${status}`)),
]
