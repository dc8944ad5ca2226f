import { expect, test } from 'bun:test'
import { serversOf } from '../../db/hosts.ts'
import { addToSum, fieldOf, kindOf, lineOf } from '../../db/moving/copy-text.ts'

test('lineOf writes the format of COPY: escaped text, t and f, \\N for null, exact integers', () => {
  const kinds = ['text', 'integer', 'truth', 'text', 'bytes', 'text'] as const
  const row = [7n, 'tab\t line\n back\\ bell\b \v\f\r é 🛒', 9_007_199_254_740_993n, 1n, null, new Uint8Array([0, 255]), '\\N'] as const
  expect(lineOf(kinds, row)).toBe('tab\\t line\\n back\\\\ bell\\b \\v\\f\\r é 🛒\t9007199254740993\tt\t\\N\t\\\\x00ff\t\\\\N')
})

test('fieldOf refuses a value of another kind than its column, and unknown types have no kind', () => {
  for (const [kind, value] of [
    ['text', 1n],
    ['integer', '1'],
    ['integer', 1],
    ['truth', 2n],
    ['bytes', 'text'],
  ] as const)
    expect(() => fieldOf(kind, value)).toThrow(`a value is no ${kind}`)
  expect(['bigint', 'integer', 'text', 'boolean', 'jsonb', 'double precision'].map(kindOf)).toEqual([
    'integer',
    'integer',
    'text',
    'truth',
    undefined,
    undefined,
  ])
})

test('the checksum of lines ignores order and encoding, and changes if a line differs, repeats or is missing', () => {
  const sumOf = (lines: readonly (string | Uint8Array)[]) => lines.reduce((sum: bigint, line) => addToSum(sum, line), 0n)
  const lines = ['a\t1', 'é\t2', 'c\t3']
  expect(sumOf([...lines].reverse())).toBe(sumOf(lines))
  expect(sumOf(lines.map((line) => Buffer.from(line)))).toBe(sumOf(lines))
  expect(new Set([sumOf(lines), sumOf(['a\t1', 'é\t2', 'c\t4']), sumOf([...lines, 'a\t1']), sumOf(lines.slice(1))]).size).toBe(4)
})

test('a URL with several servers becomes one URL for each', () => {
  expect(serversOf('postgres://souk:p%40ss@one:5433,[::1]:5434,three/shop?sslmode=require')).toEqual([
    'postgres://souk:p%40ss@one:5433/shop?sslmode=require',
    'postgres://souk:p%40ss@[::1]:5434/shop?sslmode=require',
    'postgres://souk:p%40ss@three/shop?sslmode=require',
  ])
  expect(serversOf('postgresql://one/shop')).toEqual(['postgresql://one/shop'])
  for (const invalid of ['mysql://one/shop', 'postgres://', 'postgres://one,/shop', 'postgres://one:x,two/shop', 'file:shop.db', ''])
    expect(serversOf(invalid)).toEqual([])
})
