import { expect, test } from 'bun:test'
import { missingForCheckout } from '../../../../src/modules/selling/checkout/domain.ts'

const whole = { email: 'a@example.com', shippingAddress: { line1: 'Here 1' }, shippingMethod: 'standard' }
const bare = { email: null, shippingAddress: null, shippingMethod: null }

test('a cart with lines, an e-mail address, and an address and a method to ship by lacks nothing', () => {
  expect(missingForCheckout(whole, { lines: 1, shipsByMethod: true })).toEqual([])
})

test('a cart hears of everything that it lacks at once', () => {
  expect(missingForCheckout(bare, { lines: 0, shipsByMethod: true })).toEqual([
    'it is empty',
    'it has no e-mail address',
    'it has no shipping address',
    'it has no shipping method',
  ])
})

test('a cart to where the shop does not ship hears that, and not that it has no method', () => {
  expect(missingForCheckout({ ...whole, shippingMethod: null }, { lines: 1, shipsByMethod: true, isReached: false })).toEqual([
    'no shipping method of the shop goes to its shipping address',
  ])
})

test('where nothing is shipped by a method, neither an address nor a method is asked for', () => {
  expect(missingForCheckout(bare, { lines: 1, shipsByMethod: false })).toEqual(['it has no e-mail address'])
})
