import { expect, test } from 'bun:test'
import { signingKey } from '../../src/lib/signing-key.ts'

const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'

test('a private key is a number from 1 to below the order of the curve, in 64 digits', () => {
  expect(signingKey(`0x${'AB'.repeat(32)}\n`)).toBe(`0x${'ab'.repeat(32)}`)
  expect(signingKey(`${order.slice(0, -1)}0`)).toBe(`0x${order.slice(0, -1)}0`)
  expect(signingKey('1'.padStart(64, '0'))).toBe(`0x${'1'.padStart(64, '0')}`)
  for (const none of [
    '',
    '0x',
    '0'.repeat(64),
    order,
    'f'.repeat(64),
    '1'.repeat(63),
    '1'.repeat(65),
    `0x0x${'1'.repeat(62)}`,
    'g'.repeat(64),
  ])
    expect(() => signingKey(none)).toThrow('a private key: 64 hexadecimal digits, with or without 0x')
})
