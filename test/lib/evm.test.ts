import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { getAddress, keccak256 as keccakOfViem } from 'viem'
import { readAddress, withChecksum } from '../../src/lib/evm.ts'
import { keccak256 } from '../../src/lib/keccak.ts'

const hexAddress = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)

test('Keccak-256 of any length equals that of viem, also at block edges', () => {
  const lengths = fc.oneof(fc.integer({ min: 0, max: 600 }), fc.constantFrom(0, 135, 136, 137, 271, 272, 273))
  fc.assert(
    fc.property(
      lengths.chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
      (bytes) => expect(`0x${keccak256(bytes)}`).toBe(keccakOfViem(bytes)),
    ),
  )
  expect(keccak256(new Uint8Array())).toBe('c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
})

test('an address is written with the checksum of viem, and read with it, in lower case and in upper case', () => {
  fc.assert(
    fc.property(hexAddress, (address) => {
      fc.pre(!/^0x0+$/.test(address))
      const checksummed = withChecksum(address)
      expect(checksummed as string).toBe(getAddress(address))
      for (const text of [checksummed, address, `0x${address.slice(2).toUpperCase()}`]) expect(readAddress(text)).toEqual({ address })
    }),
  )
})

test('an address with a wrong checksum is invalid, and the zero address is refused', () => {
  fc.assert(
    fc.property(hexAddress, fc.nat(39), (address, nth) => {
      const checksummed = withChecksum(address)
      const at = 2 + nth
      const letter = checksummed.charAt(at)
      fc.pre(/[a-f]/i.test(letter))
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
      const mistyped = checksummed.slice(0, at) + other + checksummed.slice(at + 1)
      const digits = mistyped.slice(2)
      fc.pre(digits !== digits.toLowerCase() && digits !== digits.toUpperCase())
      expect('wrong' in readAddress(mistyped)).toBe(true)
    }),
  )
  expect('wrong' in readAddress(`0x${'0'.repeat(40)}`)).toBe(true)
})
