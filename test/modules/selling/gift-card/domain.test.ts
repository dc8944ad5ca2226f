import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { codeBytes, codeHashOf, codeOf, drawsOf, fitsCart, isUsable, normalCode } from '../../../../src/modules/selling/gift-card/domain.ts'

const now = 1_000_000
const card = fc.record({
  id: fc.stringMatching(/^gift_[0-9a-z]{4}$/),
  last4: fc.stringMatching(/^[0-9A-Z]{4}$/),
  status: fc.constantFrom('ACTIVE' as const, 'ACTIVE' as const, 'DISABLED' as const),
  expiresAt: fc.option(fc.integer({ min: now - 3, max: now + 5 }), { nil: null }),
  balance: fc.integer({ min: 0, max: 300 }),
})
const cards = fc.uniqueArray(card, { selector: ({ id }) => id, maxLength: 8 })
const bytes = fc.uint8Array({ minLength: codeBytes, maxLength: codeBytes })

describe('the division of an amount among gift cards', () => {
  test('draws the amount to pay, or the total of all usable cards if that is less', () => {
    fc.assert(
      fc.property(cards, fc.integer({ min: 0, max: 1_000 }), (all, toPay) => {
        const usable = all.filter((one) => isUsable(one, now)).reduce((sum, { balance }) => sum + balance, 0)
        const drawn = drawsOf(all, toPay, now).reduce((sum, { amount }) => sum + amount, 0)
        expect(drawn).toBe(Math.min(toPay, usable))
      }),
    )
  })

  test('draws only positive amounts within the balance of usable cards, and may leave a balance only on the last one', () => {
    fc.assert(
      fc.property(cards, fc.integer({ min: 0, max: 1_000 }), (all, toPay) => {
        const draws = drawsOf(all, toPay, now)
        for (const [nth, { giftCardId, last4, amount }] of draws.entries()) {
          const card = all.find(({ id }) => id === giftCardId)
          if (!card) throw new Error('a draw on no card')
          expect([card.status, card.last4, card.expiresAt === null || card.expiresAt > now]).toEqual(['ACTIVE', last4, true])
          expect(amount).toBeGreaterThan(0)
          if (nth < draws.length - 1) expect(amount).toBe(card.balance)
          else expect(amount).toBeLessThanOrEqual(card.balance)
        }
        expect(new Set(draws.map(({ giftCardId }) => giftCardId)).size).toBe(draws.length)
      }),
    )
  })

  test('draws from the card that expires first, then from the oldest, for any order of the input', () => {
    fc.assert(
      fc.property(cards, fc.integer({ min: 1, max: 1_000 }), fc.nat(), (all, toPay, rotation) => {
        const draws = drawsOf(all, toPay, now)
        const keys = draws.map(({ giftCardId }) => {
          const expiresAt = all.find(({ id }) => id === giftCardId)?.expiresAt ?? 9_999_999_999
          return `${String(expiresAt).padStart(12, '0')} ${giftCardId}`
        })
        expect(keys).toEqual([...keys].sort())
        const at = all.length === 0 ? 0 : rotation % all.length
        expect(drawsOf([...all.slice(at), ...all.slice(0, at)].reverse(), toPay, now)).toEqual(draws)
      }),
    )
    const base = { last4: 'XXXX', status: 'ACTIVE' as const, balance: 10 }
    const unordered = [
      { ...base, id: 'gift_a', expiresAt: null },
      { ...base, id: 'gift_c', expiresAt: now + 1 },
      { ...base, id: 'gift_b', expiresAt: now + 1 },
      { ...base, id: 'gift_0', expiresAt: now },
    ]
    expect(drawsOf(unordered, 25, now).map(({ giftCardId, amount }) => [giftCardId, amount])).toEqual([
      ['gift_b', 10],
      ['gift_c', 10],
      ['gift_a', 5],
    ])
  })
})

describe('gift card codes', () => {
  test('encodes ten random bytes as 16 Crockford characters, without collisions', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(codeOf(a)).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/)
        expect(codeOf(a) === codeOf(b)).toBe(Buffer.from(a).equals(Buffer.from(b)))
      }),
    )
    expect(codeOf(new Uint8Array(codeBytes))).toBe('0000000000000000')
    expect(codeOf(new Uint8Array(codeBytes).fill(255))).toBe('ZZZZZZZZZZZZZZZZ')
  })

  test('normalizes typed codes: letter case, spaces, dashes, and letters that look like digits', () => {
    const noise = fc.stringMatching(/^[ \t\n\u00a0\-\u2010-\u2015]{0,3}$/)
    const typed = (code: string) =>
      fc
        .tuple(
          ...[...code].map((digit) => {
            const alike = digit === '0' ? ['0', 'O', 'o'] : digit === '1' ? ['1', 'I', 'i', 'L', 'l'] : [digit, digit.toLowerCase()]
            return fc.tuple(noise, fc.constantFrom(...alike)).map(([space, character]) => space + character)
          }),
        )
        .map((parts) => `${parts.join('')} `)
    const codes = bytes.map(codeOf).chain((code) => typed(code).map((text) => ({ code, text })))
    const key = Buffer.alloc(32, 7)
    fc.assert(
      fc.property(codes, ({ code, text }) => {
        expect(normalCode(text)).toBe(code)
        expect(codeHashOf(key, 'shop_a', text)).toBe(codeHashOf(key, 'shop_a', code))
      }),
    )
    for (const other of ['ABCD-EFGH-JKMN-PQR', 'ABCD-EFGH-JKMN-PQRST', 'ABCD_EFGH_JKMN_PQRS', 'ABCDEFGHJKMNPQR5'])
      expect(normalCode(other)).not.toBe('ABCDEFGHJKMNPQRS')
  })

  test('hashes a gift card code with the key and the shop', () => {
    const key = Buffer.alloc(32, 7)
    const hashes = [
      codeHashOf(key, 'shop_a', 'ABCDEFGHJKMNPQRS'),
      codeHashOf(key, 'shop_b', 'ABCDEFGHJKMNPQRS'),
      codeHashOf(Buffer.alloc(32, 8), 'shop_a', 'ABCDEFGHJKMNPQRS'),
    ]
    expect(new Set(hashes).size).toBe(3)
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/)
  })
})

test('accepts a gift card only for a cart in its currency and, if it has a customer, of that customer', () => {
  const general = { currency: 'USD', customerId: null }
  const personal = { currency: 'USD', customerId: 'cus_a' }
  expect(fitsCart(general, { currency: 'USD', customerId: undefined })).toBe(true)
  expect(fitsCart(general, { currency: 'USD', customerId: 'cus_b' })).toBe(true)
  expect(fitsCart(personal, { currency: 'USD', customerId: 'cus_a' })).toBe(true)
  expect(fitsCart(personal, { currency: 'USD', customerId: 'cus_b' })).toBe(false)
  expect(fitsCart(personal, { currency: 'USD', customerId: undefined })).toBe(false)
  expect(fitsCart(general, { currency: 'KWD', customerId: undefined })).toBe(false)
})
