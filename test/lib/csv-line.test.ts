import { expect, test } from 'bun:test'
import { csvLine } from '../../src/lib/csv-line.ts'

test('a line of CSV quotes what would break it, and no cell is a formula', () => {
  expect(csvLine(['plain', 7, null, ''])).toBe('plain,7,,\r\n')
  expect(csvLine(['a,b', 'say "hi"', 'two\nlines'])).toBe('"a,b","say ""hi""","two\nlines"\r\n')
  expect(csvLine(['=1+1', '+1', '-1', '@x', '\tx', '=a,b'])).toBe(`'=1+1,'+1,'-1,'@x,'\tx,"'=a,b"\r\n`)
  expect(csvLine([-1])).toBe('-1\r\n')
})
