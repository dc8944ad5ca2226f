/** Tests user text inside sentences of the console. */
import { expect, test } from 'bun:test'
import { isolateBidi } from '../../src/console/lib/format/bidi-isolate.ts'

const sentence = (name: string) => `Suspend ${isolateBidi(name)}?`

test('bidi marks in a name do not reorder its sentence', () => {
  expect(sentence('Shop\u202egnp.exe')).toBe('Suspend Shopgnp.exe?')
  expect(sentence('\u2067Shop')).toBe('Suspend Shop?')
  expect(sentence('Shop\u2069\u2067')).toBe('Suspend Shop?')
  expect(sentence('\u2067\u2067Shop\u2069')).toBe('Suspend Shop?')
})

test('balanced isolates stay unchanged', () => {
  for (const text of ['Lamp', 'مصباح', '\u2068US$\u20691,250', '\u2068US$\u20691 – \u2068US$\u20692']) expect(isolateBidi(text)).toBe(text)
  expect(isolateBidi('\u2066'.repeat(65_536))).toBe('')
})
