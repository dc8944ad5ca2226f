import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { hmac, keyVersionOf, masterKey, sameSecret, seal, sha256, unseal } from '../../src/lib/seal.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const key = masterKey('a-secret-of-at-least-32-characters!', 'encryption')
const other = masterKey('another-secret-of-32-characters-ok', 'encryption')

describe('a sealed secret', () => {
  test('a sealed secret opens to any original text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 500 }),
        fc.string({ maxLength: 60 }),
        (plain, about) => unseal(key, seal(key, plain, about, randomBytes(12)), about) === plain,
      ),
    )
  })

  test('a sealed secret does not open with another key, owner or purpose', () => {
    const sealed = seal(key, 'secret', 'shop_1/wallet', randomBytes(12))
    expect(() => unseal(other, sealed, 'shop_1/wallet')).toThrow()
    expect(() => unseal(key, sealed, 'shop_2/wallet')).toThrow()
    expect(() => unseal(key, sealed, 'shop_1/api-key')).toThrow()
    expect(() => unseal(key, sealed, '')).toThrow()
    expect(() => unseal(masterKey('a-secret-of-at-least-32-characters!', 'jwt'), sealed, 'shop_1/wallet')).toThrow()
  })

  test('a sealed secret does not open after any bit is changed, removed or added', () => {
    const sealed = seal(key, 'secret', 'about', randomBytes(12))
    const [version = '', body = ''] = sealed.split('.')
    const bytes = Buffer.from(body, 'base64url')
    const opened = (changed: Buffer) => {
      try {
        return unseal(key, `${version}.${changed.toString('base64url')}`, 'about')
      } catch {
        return undefined
      }
    }
    expect(opened(bytes)).toBe('secret')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect([bit, opened(changed)]).toEqual([bit, undefined])
    }
    for (let length = 0; length < bytes.length; length++) expect([length, opened(bytes.subarray(0, length))]).toEqual([length, undefined])
    expect(opened(Buffer.concat([bytes, Buffer.from([0])]))).toBeUndefined()
  })

  test('a sealed secret does not show its content and differs each time', () => {
    const one = seal(key, 'secret', 'about', randomBytes(12))
    expect(one).not.toBe(seal(key, 'secret', 'about', randomBytes(12)))
    expect(Buffer.from(one.split('.')[1] ?? '', 'base64url').includes('secret')).toBe(false)
  })

  test('a sealed secret names its key without revealing it', () => {
    expect(keyVersionOf(seal(key, 'x', 'y', randomBytes(12)))).toBe(key.version)
    expect(key.fingerprint.startsWith(key.version)).toBe(true)
    expect(key.fingerprint).not.toContain(key.bytes.toString('hex').slice(0, 16))
    expect(masterKey('a-secret-of-at-least-32-characters!', 'jwt').fingerprint).not.toBe(key.fingerprint)
  })

  test('a master key derives the same key and fingerprint in every version', () => {
    const { version, fingerprint, bytes } = masterKey('0123456789abcdef0123456789abcdef', 'encryption')
    expect(version).toBe('1a465fb6')
    expect(fingerprint).toBe('1a465fb6a738b59efa0daf2218043c3499fe3378e500d0a5cec884aab65881c5')
    expect(bytes.toString('hex')).toBe('6e37e47b7320a1b56dfe272c61a18ef58ef17db123c9a1c2ae23bd9315aec0dd')
  })
})

test('sameSecret compares the whole text', () => {
  expect(sameSecret('abc', 'abc')).toBe(true)
  for (const text of ['abd', 'ab', 'abcd', '', 'ABC']) expect([text, sameSecret('abc', text)]).toEqual([text, false])
})

test('sha256 returns the standard hash, and hmac depends on its key', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(hmac(key, 'a')).toMatch(/^[0-9a-f]{64}$/)
  expect(hmac(key, 'a')).not.toBe(hmac(other, 'a'))
})
