/** Sizes of documents, and the width of comments. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

const root = join(import.meta.dir, '..')
const filesOf = (pattern: string) =>
  [...new Glob(pattern).scanSync({ cwd: root, onlyFiles: true })].filter((path) => !path.includes('node_modules'))
const bytesOf = (path: string) => Buffer.byteLength(readFileSync(join(root, path)))

test('docs/architecture.md has at most 25,000 bytes', () => {
  expect(bytesOf('docs/architecture.md')).toBeLessThanOrEqual(25_000)
})

test('a README of a folder has at most 8,000 bytes', () => {
  const readmes = ['src', 'db', 'jobs'].flatMap((folder) => filesOf(`${folder}/**/README.md`))
  expect(readmes.length).toBeGreaterThan(10)
  expect(readmes.filter((path) => bytesOf(path) > 8_000)).toEqual([])
})

test('no comment is wider than 120 columns', () => {
  const files = ['src', 'db', 'jobs'].flatMap((folder) => filesOf(`${folder}/**/*.{ts,tsx}`)).filter((path) => !path.endsWith('.d.ts'))
  const isWide = (line: string) => line.length > 120 && /^\s*(?:\*|\/\/|\/\*)/.test(line)
  const found = files.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, at) => (isWide(line) ? [`${path}:${at + 1}`] : [])),
  )
  expect(found).toEqual([])
})
