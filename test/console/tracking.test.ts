/** Tests reading tracking numbers from CSV files. */
import { describe, expect, test } from 'bun:test'
import { parseCsv } from '../../src/console/lib/format/parse-csv.ts'
import { parseTracking } from '../../src/console/screens/orders/tracking.domain.ts'

test('reads CSV cells with quotes, any common separator, a byte order mark and blank lines', () => {
  expect(parseCsv('\uFEFFa,b\r\n"x, ""y""","two\nlines"\r\n\r\n,\n')).toEqual([
    ['a', 'b'],
    ['x, "y"', 'two\nlines'],
  ])
  expect(parseCsv('a;b;c\n1;2,5;3')).toEqual([
    ['a', 'b', 'c'],
    ['1', '2,5', '3'],
  ])
  expect(parseCsv('a\tb\n1\t2')).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ])
  expect(parseCsv('')).toEqual([])
})

describe('tracking numbers', () => {
  const rows = [
    { number: 12, trackingNumber: 'T-1', carrier: 'Post' },
    { number: 13, trackingNumber: '=T2', carrier: '' },
  ]
  test('are read by the names of their columns, in any order, or by position', () => {
    expect(parseTracking("Carrier,Tracking Number,Order number\nPost,T-1,#12\n,'=T2,0013")).toEqual({ rows, problems: [] })
    expect(parseTracking('Name;tracking_code\n#12;T-1\n')?.rows).toEqual([{ number: 12, trackingNumber: 'T-1', carrier: '' }])
    expect(parseTracking("12,T-1,Post\n13,'=T2")).toEqual({ rows, problems: [] })
    expect(parseTracking('Tracking\nT-1')).toBeUndefined()
    expect(parseTracking('')).toBeUndefined()
  })

  test('without a number, repeated or too long are skipped and named', () => {
    const file = ['order,tracking,carrier', '12,T-1,Post', 'none,T-2,', '#12,T-3,', `13,${'T'.repeat(101)},`, `14,T,${'C'.repeat(101)}`]
    expect(parseTracking(file.join('\n'))).toEqual({
      rows: [{ number: 12, trackingNumber: 'T-1', carrier: 'Post' }],
      problems: [
        { record: 3, problem: 'number' },
        { record: 4, problem: 'repeated' },
        { record: 5, problem: 'tooLong' },
        { record: 6, problem: 'tooLong' },
      ],
    })
  })
})
