import { expect, test } from 'bun:test'
import { holdsCardNumber, holdsCardNumberWithin } from '../../src/lib/card-numbers.ts'

test('detects the test numbers of every network, whole and grouped, alone and within text', () => {
  for (const number of [
    '4242424242424242',
    '5555555555554444',
    '2223003122003222',
    '378282246310005',
    '6011111111111117',
    '3566002020360505',
  ]) {
    expect(holdsCardNumber(number), number).toBe(true)
    expect(holdsCardNumber(`paid with ${number.replace(/(\d{4})(?=\d)/g, '$1 ')}, thanks`), number).toBe(true)
    expect(holdsCardNumber(`{"number":"${number.replace(/(\d{4})(?=\d)/g, '$1-')}"}`), number).toBe(true)
  }
})

test('does not detect wrong check digits, other prefixes, parts of longer numbers, times and ids', () => {
  for (const text of [
    '4242424242424243',
    '1234567890123452',
    '1700000000000',
    '94242424242424242424242',
    'pay_01ke9jv8g0egqbnyjp2dxdgtvh',
    'tok_1AbC',
  ])
    expect(holdsCardNumber(text), text).toBe(false)
})

test('detects other digits, spaces and dashes than those of ASCII', () => {
  for (const text of [
    '４２４２４２４２４２４２４２４２',
    '4242\u00a04242\u00a04242\u00a04242',
    '4242\u20134242\u20134242\u20134242',
    '4242\t4242\n4242 4242',
  ])
    expect(holdsCardNumber(text), text).toBe(true)
})

test('detects numbers in every text, number and name of a value, but not in phone numbers', () => {
  for (const value of [
    { a: [{ b: 4242424242424242 }] },
    { '4242 4242 4242 4242': true },
    { name: '+4242424242424242' },
    { name: '+ 4242 4242 4242 4242' },
    { name: '+1 is my card 4242424242424242' },
  ])
    expect(holdsCardNumberWithin(value), JSON.stringify(value)).toBe(true)
  for (const phone of ['+4242424242424', '+42 (424) 242-424-24']) expect(holdsCardNumberWithin({ phone }), phone).toBe(false)
})
