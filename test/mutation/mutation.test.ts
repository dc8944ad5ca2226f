import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { equivalents } from './equivalents.ts'
import { mutationOf } from './mutation.ts'
import { elsewhere, holdsMoney, testsOf } from './tests.ts'

const root = join(import.meta.dir, '../..')

test('a mutation has the lines that it changes, before and after, on one line each', () => {
  const source = 'const a = 1\nconst b = [\n  a,\n] // all\n'
  const location = { start: { line: 2, column: 11 }, end: { line: 4, column: 2 } }
  expect(mutationOf(source, { location, replacement: '[]', mutatorName: 'ArrayDeclaration' })).toEqual({
    at: '2:11 (ArrayDeclaration)',
    before: 'const b = [ a, ] // all',
    after: 'const b = [] // all',
  })
})

test('every source that computes money has tests for its mutants', () => {
  const sources = [...new Glob('src/**/*.ts').scanSync(root)].filter(holdsMoney)
  expect(sources.length).toBeGreaterThan(5)
  expect(sources.filter((file) => testsOf(file).length === 0)).toEqual([])
})

test('the lists of mutation tests name only existing files', () => {
  const named = [...equivalents.map(({ file }) => file), ...Object.keys(elsewhere), ...Object.values(elsewhere).flat()]
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
})
