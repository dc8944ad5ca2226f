import { expect, test } from 'bun:test'
import {
  addressOf,
  addressView,
  type Customer,
  customerView,
  type OwnedAddress,
} from '../../../../src/modules/customers/customer/domain.ts'

const requiredFields = { name: 'Ann', line1: 'Here 1', city: 'Bonn', countryCode: 'DE' }
const addressWithNulls = { ...requiredFields, company: null, line2: null, province: null, postalCode: null, phone: null }

test('stores omitted and blank address fields as null, and drops unknown fields', () => {
  expect(addressOf(requiredFields)).toEqual(addressWithNulls)
  for (const blank of ['', ' \t', null, undefined])
    expect(addressOf({ ...requiredFields, company: blank, line2: blank, province: blank, postalCode: blank, phone: blank })).toEqual(
      addressWithNulls,
    )
  const full = { ...requiredFields, company: 'A', line2: ' b ', province: 'C', postalCode: 'D', phone: 'E' }
  expect(addressOf({ ...full, ...{ isDefaultShipping: true } })).toEqual(full)
})

test('shows an address without the customer who entered it, and without stored fields that are unknown now', () => {
  const stored: OwnedAddress = {
    id: 'addr_1',
    shopId: 'shop_1',
    customerId: 'cus_1',
    enteredBy: 'cus_2',
    address: { ...addressWithNulls, ...{ fax: '1' } },
    isDefaultShipping: true,
    isDefaultBilling: false,
    createdAt: 0,
    updatedAt: 1,
  }
  expect(addressView(stored)).toEqual({
    ...addressWithNulls,
    id: 'addr_1',
    shopId: 'shop_1',
    customerId: 'cus_1',
    isDefaultShipping: true,
    isDefaultBilling: false,
    createdAt: '1970-01-01T00:00:00.000Z',
    updatedAt: '1970-01-01T00:00:00.001Z',
  })
})

test("shows a customer without the password hash, with the total order count and spending in the shop's currency", () => {
  const accountFields = { id: 'cus_1', shopId: 'shop_1', email: 'a@example.com', name: 'Ann', phone: null, acceptsMarketing: false }
  const times = { createdAt: '1970-01-01T00:00:00.000Z', updatedAt: '1970-01-01T00:00:00.001Z' }
  const staffFields = { note: 'pays late', tags: ['VIP'], version: 1 }
  const customer: Customer = {
    ...accountFields,
    ...staffFields,
    passwordHash: 'hash',
    emailProvenAt: 1,
    erasedAt: null,
    createdAt: 0,
    updatedAt: 1,
  }
  const totals = [
    { currency: 'USD', orders: 1, spent: 100 },
    { currency: 'EUR', orders: 2, spent: 250 },
  ]
  expect(customerView(customer, 'EUR', { addressIds: ['addr_1'], totals })).toEqual({
    ...accountFields,
    emailVerified: true,
    erasedAt: null,
    ...times,
    addressIds: ['addr_1'],
    ordersCount: 3,
    totalSpent: { amount: 250, currency: 'EUR' },
  })
  const none = { addressIds: [], ordersCount: 0, totalSpent: { amount: 0, currency: 'EUR' } }
  expect(customerView({ ...customer, emailProvenAt: null }, 'EUR')).toEqual({
    ...accountFields,
    emailVerified: false,
    erasedAt: null,
    ...times,
    ...none,
  })
})
