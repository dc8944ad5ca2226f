import { describe, expect, test } from 'bun:test'
import { freeName, sentenceEnd } from '../../src/lib/names.ts'

const findTaken = (takenNames: readonly string[]) => async (names: readonly string[]) =>
  new Set(names.filter((name) => takenNames.includes(name)))

describe('a free name', () => {
  test('freeName returns the wanted name or the one with the first free number', async () => {
    expect(await freeName('lamp', 'prod_x', findTaken([]))).toBe('lamp')
    expect(await freeName('lamp', 'prod_x', findTaken(['lamp', 'lamp-1', 'lamp-3']))).toBe('lamp-2')
    expect(await freeName('lamp', 'prod_x', findTaken(['lamp-1']))).toBe('lamp')
  })

  test('freeName tries a bounded number of names, and then appends the end of the id', async () => {
    let triedCount = 0
    const all = async (names: readonly string[]) => {
      triedCount += names.length
      return new Set(names)
    }
    expect(await freeName('lamp', 'prod_01ke9jv8g0e1bvgf9e99wscy3c', all)).toBe('lamp-gf9e99wscy3c')
    expect(triedCount).toBe(101)
  })
})

test('sentenceEnd adds a full stop only if the name does not end a sentence', () => {
  for (const name of ['Acme Co.', 'Yahoo!', 'Who?', 'So…', 'He said “No.”', '店。', '\u2068Acme Co.\u2069'])
    expect(sentenceEnd(name)).toBe(name)
  expect(['Acme', 'Acme Co', 'A.B', 'Tea (Green)'].map(sentenceEnd)).toEqual(['Acme.', 'Acme Co.', 'A.B.', 'Tea (Green).'])
})
