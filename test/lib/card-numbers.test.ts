import { expect, test } from 'bun:test'
import { holdsCardNumber } from '../../src/lib/card-numbers.ts'

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
