import { expect, setDefaultTimeout, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvLine, unescaped } from '../../src/lib/csv-line.ts'
import { decimalCell } from '../../src/lib/csv-table.ts'
import { growthOf, linearMax } from '../support/growth.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const cellOf = (text: string): string => (parse(csvLine([text, 'x'])) as string[][])[0]?.[0] ?? ''

test('csvLine quotes cells with separators, quotes and line feeds', () => {
  expect(csvLine(['plain', 7, null, ''])).toBe('plain,7,,\r\n')
  expect(csvLine(['a,b', 'say "hi"', 'two\nlines'])).toBe('"a,b","say ""hi""","two\nlines"\r\n')
})

test('csvLine escapes a leading formula character, also after white space, quotes and in full-width forms', () => {
  expect(csvLine(['=1+1', '+1', '-1', '@x', '\tx', '=a,b'])).toBe(`'=1+1,'+1,'-1,'@x,'\tx,"'=a,b"\r\n`)
  const starts = ['', ' ', '   ', '\t', '\r', '\n', '\r\n', ' \n\t ', '\u00a0', '\u3000', '\ufeff', '"', ' "', "'", ' \'" ']
  for (const start of starts)
    for (const sign of '=+-@＝＋－＠') {
      const text = `${start}${sign}cmd|' /C calc'!A0`
      const cell = cellOf(text)
      expect(cell.startsWith("'")).toBe(true)
      expect(unescaped(cell)).toBe(text)
    }
})

test('csvLine escapes a formula character after a separator, for readers that split at another one', () => {
  expect(cellOf('a,=1+1')).toBe("'a,'=1+1")
  expect(cellOf('a;=cmd')).toBe("'a;'=cmd")
  expect(cellOf('a\n=1')).toBe("'a\n'=1")
  expect(cellOf('a\n\n＝1')).toBe("'a\n\n'＝1")
  expect(cellOf('a\t -1')).toBe("'a\t '-1")
  expect(cellOf('a";"@x')).toBe(`'a";"'@x`)
  expect(cellOf('\n=1;+2')).toBe("'\n'=1;'+2")
  for (const text of ['a-b', 'a = b', 'me@example.com', 'x, y; z', '1 + 1, 2', 'a\nb', "'quoted'"]) expect(cellOf(text)).toBe(text)
})

test('no text starts a formula with any separator, and every text is read back unchanged', () => {
  const unit = fc.constantFrom("'", '=', '+', '-', '@', '＝', '－', '\t', '\r', '\n', '"', ',', ';', '|', 'a', ' ', '\u3000')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      const cell = cellOf(text)
      expect(unescaped(cell)).toBe(text)
      for (const split of [/,/, /;/, /\t/, /[\r\n]/, /\|/, /[,;\t\r\n|]/])
        for (const part of cell.split(split)) expect(/^[\s"]*[=+\-@＝＋－＠]/.test(part)).toBe(false)
    }),
    { numRuns: 3_000 },
  )
})

test('escapes and unescapes a megabyte of separators, quotes and white space in linear time', () => {
  const tenth = 100_000
  const roundTrip = (text: string) => {
    expect(csvLine([text]).length).toBeGreaterThanOrEqual(text.length)
    unescaped(`'=${text}`)
    unescaped(text)
  }
  for (const unit of ['\n', '\t', "'", '"', ',', ' ', '\n ', "\n'", 'a\n\n', ", '"]) {
    const repeated = (length: number) => unit.repeat(length / unit.length)
    expect([unit, growthOf((length) => roundTrip(repeated(length)), tenth) < linearMax]).toEqual([unit, true])
    expect([unit, growthOf((length) => roundTrip(`"'${repeated(length)}x"`), tenth) < linearMax]).toEqual([unit, true])
  }
})

test('numbers written by the program are not escaped', () => {
  expect(csvLine([-1, -1.5])).toBe('-1,-1.5\r\n')
  const amounts = [-1_250, -5, 5, 0].map((amount) => decimalCell({ amount, currency: 'USD' }))
  expect(csvLine(amounts)).toBe('-12.50,-0.05,0.05,0.00\r\n')
  expect(csvLine([decimalCell({ amount: -7, currency: 'JPY' }), decimalCell({ amount: -1_250, currency: 'KWD' })])).toBe('-7,-1.250\r\n')
  expect(csvLine([decimalCell(null)])).toBe('\r\n')
})
