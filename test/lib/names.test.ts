import { describe, expect, test } from 'bun:test'
import { freeName, sentenceEnd } from '../../src/lib/names.ts'

const among = (taken: readonly string[]) => async (names: readonly string[]) => new Set(names.filter((name) => taken.includes(name)))

describe('a free name', () => {
  test('freeName returns the wanted name or the one with the first free number', async () => {
    expect(await freeName('lamp', 'prod_x', among([]))).toBe('lamp')
    expect(await freeName('lamp', 'prod_x', among(['lamp', 'lamp-1', 'lamp-3']))).toBe('lamp-2')
    expect(await freeName('lamp', 'prod_x', among(['lamp-1']))).toBe('lamp')
  })

  test('freeName tries a bounded number of names, and then appends the end of the id', async () => {
    let asked = 0
    const all = async (names: readonly string[]) => {
      asked += names.length
      return new Set(names)
    }
    expect(await freeName('lamp', 'prod_01ke9jv8g0e1bvgf9e99wscy3c', all)).toBe('lamp-gf9e99wscy3c')
    expect(asked).toBe(101)
  })
})

test('sentenceEnd adds a full stop only if the name does not end a sentence', () => {
  for (const name of ['Acme Co.', 'Yahoo!', 'Who?', 'So…', 'He said “No.”', '店。', '\u2068Acme Co.\u2069'])
    expect(sentenceEnd(name)).toBe(name)
  expect(['Acme', 'Acme Co', 'A.B', 'Tea (Green)'].map(sentenceEnd)).toEqual(['Acme.', 'Acme Co.', 'A.B.', 'Tea (Green).'])
})
