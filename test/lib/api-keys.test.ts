import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { isApiKey, newApiKey, prefixOf } from '../../src/lib/api-keys.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('API keys', () => {
  test('API keys show their kind and mode, and have 30 random and 6 check characters', () => {
    expect(newApiKey('SECRET', 'TEST', randomBytes)).toMatch(/^sk_test_[0-9A-Za-z]{36}$/)
    expect(newApiKey('SECRET', 'LIVE', randomBytes)).toMatch(/^sk_live_[0-9A-Za-z]{36}$/)
    expect(newApiKey('PUBLISHABLE', 'TEST', randomBytes)).toMatch(/^pk_test_[0-9A-Za-z]{36}$/)
    expect(newApiKey('PUBLISHABLE', 'LIVE', randomBytes)).toMatch(/^pk_live_[0-9A-Za-z]{36}$/)
  })

  test('API keys are valid as long as no character is changed', () => {
    const key = newApiKey('SECRET', 'LIVE', randomBytes)
    expect(isApiKey(key)).toBe(true)
    fc.assert(
      fc.property(fc.integer({ min: 8, max: key.length - 1 }), fc.constantFrom(...base62), (at, character) => {
        const changed = key.slice(0, at) + character + key.slice(at + 1)
        return changed === key || !isApiKey(changed)
      }),
    )
  })

  test('API keys are bound to their kind and mode by the check characters', () => {
    const key = newApiKey('PUBLISHABLE', 'TEST', randomBytes)
    expect(isApiKey(key.replace('pk_', 'sk_'))).toBe(false)
    expect(isApiKey(key.replace('_test_', '_live_'))).toBe(false)
  })

  test('API keys have stable check characters, and are valid only as a whole', () => {
    const zeros = newApiKey('SECRET', 'LIVE', (count) => new Uint8Array(count))
    expect(zeros).toBe('sk_live_0000000000000000000000000000001yMVfD')
    // The check characters are right, but the text is longer than a key.
    for (const text of ['xsk_live_0000000000000000000000000000004OaWJZ', 'sk_live_00000000000000000000000000000000ijjBO'])
      expect([text, isApiKey(text)]).toEqual([text, false])
  })

  test('API keys with characters swapped, removed, added or joined by a comma are invalid', () => {
    const key = newApiKey('SECRET', 'TEST', () => Uint8Array.from({ length: 30 }, (_, at) => at))
    const swapped = key.slice(0, 10) + key.charAt(11) + key.charAt(10) + key.slice(12)
    for (const text of [swapped, key.slice(0, -1), `${key}A`, `${key}, ${key}`, ` ${key}`, `${key}\n`, '', 'sk_test_'])
      expect([text, isApiKey(text)]).toEqual([text, false])
  })

  test('API keys use every character equally: biased random bytes are discarded', () => {
    const counts = new Map<string, number>()
    for (let nth = 0; nth < 1_000; nth++)
      for (const character of newApiKey('SECRET', 'TEST', randomBytes).slice(8, 38)) counts.set(character, (counts.get(character) ?? 0) + 1)
    expect(counts.size).toBe(62)
    // 30,000 characters over 62: 484 each. A biased draw gives the first eight a fifth more.
    const first = [...base62.slice(0, 8)].reduce((sum, character) => sum + (counts.get(character) ?? 0), 0) / 8
    expect(first).toBeLessThan(535)
    const all255 = newApiKey('SECRET', 'TEST', (length) => new Uint8Array(length).map((_, at) => [255, 248, 1][at % 3] ?? 1))
    expect(all255.slice(8, 38)).toBe('1'.repeat(30))
  })

  test('API keys have a prefix that reveals four random characters', () => {
    const key = newApiKey('SECRET', 'TEST', randomBytes)
    expect(prefixOf(key)).toBe(key.slice(0, 12))
  })
})
