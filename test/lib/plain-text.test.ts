import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { plainText, plainTextOfHtml } from '../../src/lib/plain-text.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('plainText removes invisible and bidi characters and keeps one line', () => {
  expect(plainText('  Fix\u0000 the\r\n\ttill \u202Egpj.exe\u2066\u200B\uFEFF ', 100)).toBe('Fix the till gpj.exe')
  expect(plainText('\u0007\u2028', 10)).toBe('')
  expect(plainText('Größe 漢字 👍', 100)).toBe('Größe 漢字 👍')
})

test('plainText respects the maximum length, splits no character and is idempotent', () => {
  expect(plainText('👍👍👍', 4)).toBe('👍…')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), fc.integer({ min: 2, max: 50 }), (text, max) => {
      const plain = plainText(text, max)
      expect(plain.length).toBeLessThanOrEqual(max)
      expect(plain.isWellFormed()).toBe(true)
      expect(plain).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(plainText(plain, max)).toBe(plain)
    }),
  )
})

test('plainTextOfHtml keeps a line for each block, decodes entities once and cuts whole characters', () => {
  expect(plainTextOfHtml('<h2>One</h2>\n<p>a<br>b &amp;lt; c</p><ul><li>d</li></ul><img src="x">', 100)).toBe('One\na\nb &lt; c\nd')
  expect(plainTextOfHtml(`<p>${'😀'.repeat(100)}</p>`, 4)).toBe('😀…')
  expect(plainTextOfHtml('<p></p>', 10)).toBe('')
})
