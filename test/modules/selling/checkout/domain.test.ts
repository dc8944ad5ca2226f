import { expect, test } from 'bun:test'
import { missingForCheckout } from '../../../../src/modules/selling/checkout/domain.ts'

const completeCart = {
  email: 'a@example.com',
  shippingAddress: { name: 'Ann', city: 'Portland', line1: 'Here 1' },
  shippingMethod: 'standard',
}
const emptyCart = { email: null, shippingAddress: null, shippingMethod: null }

test('finds nothing missing in a cart with lines, email address, shipping address and shipping method', () => {
  expect(missingForCheckout(completeCart, { lines: 1, shipsByMethod: true })).toEqual([])
})

test('lists everything that a cart lacks at once', () => {
  expect(missingForCheckout(emptyCart, { lines: 0, shipsByMethod: true })).toEqual([
    'it is empty',
    'it has no email address',
    'it has no shipping address',
    'it has no shipping method',
  ])
})

test('reports an unreachable shipping address instead of a missing shipping method', () => {
  expect(missingForCheckout({ ...completeCart, shippingMethod: null }, { lines: 1, shipsByMethod: true, isReached: false })).toEqual([
    'no shipping method of the shop covers its content and shipping address',
  ])
})

test('requires no address or shipping method if nothing is shipped by a method', () => {
  expect(missingForCheckout(emptyCart, { lines: 1, shipsByMethod: false })).toEqual(['it has no email address'])
})

test('names an incomplete address, unless nothing is sent', () => {
  const cart = { ...completeCart, shippingAddress: { name: 'Ann', line1: '', city: 'Portland' } }
  expect(missingForCheckout(cart, { lines: 1, shipsByMethod: true })).toEqual(['its shipping address is incomplete'])
  expect(missingForCheckout(cart, { lines: 1, shipsByMethod: false, isSent: true })).toEqual(['its shipping address is incomplete'])
  expect(missingForCheckout(cart, { lines: 1, shipsByMethod: false })).toEqual([])
})
