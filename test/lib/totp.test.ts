import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { base32, totpCode, totpStepAt, totpStepOf, totpUri } from '../../src/lib/totp.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const secret = Buffer.from('12345678901234567890')

describe('time-based one-time passwords', () => {
  test.each([
    [0, '755224'],
    [1, '287082'],
    [2, '359152'],
    [3, '969429'],
    [4, '338314'],
    [5, '254676'],
    [6, '287922'],
    [7, '162583'],
    [8, '399871'],
    [9, '520489'],
  ])('the code of step %p is that of RFC 4226, appendix D', (step, code) => {
    expect(totpCode(secret, step)).toBe(code)
  })

  test.each([
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ])('the code at second %p is the last six digits of RFC 6238, appendix B', (second, eight) => {
    expect(totpCode(secret, totpStepAt(second * 1000))).toBe(eight.slice(2))
  })

  test('a code is accepted in its own step and the ones before and after', () => {
    const now = 1_234_567_890_000
    const at = totpStepAt(now)
    const acceptedSteps = [-3, -2, -1, 0, 1, 2, 3].map((steps) => totpStepOf(secret, totpCode(secret, at + steps), now))
    expect(acceptedSteps).toEqual([undefined, undefined, at - 1, at, at + 1, undefined, undefined])
    expect(totpStepOf(secret, totpCode(secret, 0), 0)).toBe(0)
  })

  test('a code shared by two steps counts as the later one, so that it cannot be used again', () => {
    let step = 2
    while (totpCode(secret, step) !== totpCode(secret, step - 1) && totpCode(secret, step) !== totpCode(secret, step - 2)) step++
    expect(totpStepOf(secret, totpCode(secret, step), (step - 1) * 30_000)).toBe(step)
  }, 60_000)

  test.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('the base32 of %p is that of RFC 4648, section 10, without padding', (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded)
  })

  test('base32 encodes exactly the bits of the bytes', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
        const wanted = (bits.match(/.{1,5}/g) ?? []).map((five) => letters.charAt(Number.parseInt(five.padEnd(5, '0'), 2)))
        expect(base32(bytes)).toBe(wanted.join(''))
      }),
    )
  })

  test('the QR code URL names the account, with any characters in it', () => {
    const uri = new URL(totpUri(secret, { issuer: 'souk', account: 'a&b?c=d:e+f@example.com' }))
    expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual(['otpauth:', 'totp', '/souk:a&b?c=d:e+f@example.com'])
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
      issuer: 'souk',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
  })
})
