import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { equivalents } from './equivalents.ts'
import { mutationOf } from './mutation.ts'
import { elsewhere, holdsMoney, testsOf } from './tests.ts'

const root = join(import.meta.dir, '../..')

test('a mutant is told as the lines that it touches, before it and after it, on one line each', () => {
  const source = 'const a = 1\nconst b = [\n  a,\n] // all\n'
  const location = { start: { line: 2, column: 11 }, end: { line: 4, column: 2 } }
  expect(mutationOf(source, { location, replacement: '[]', mutatorName: 'ArrayDeclaration' })).toEqual({
    at: '2:11 (ArrayDeclaration)',
    before: 'const b = [ a, ] // all',
    after: 'const b = [] // all',
  })
})

test('every source that holds money has tests of its own for its mutants', () => {
  const sources = [...new Glob('src/**/*.ts').scanSync(root)].filter(holdsMoney)
  expect(sources.length).toBeGreaterThan(5)
  expect(sources.filter((file) => testsOf(file).length === 0)).toEqual([])
})

test('what is said of mutants names only files that are there', () => {
  const named = [...equivalents.map(({ file }) => file), ...Object.keys(elsewhere), ...Object.values(elsewhere).flat()]
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
})
