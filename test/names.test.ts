/** Files and exported names use the words of docs/glossary.md. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Glob } from 'bun'

const root = join(import.meta.dir, '..')
const [, list = ''] =
  /## Names that are not used[\s\S]*?```\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs/glossary.md'), 'utf8')) ?? []
const banned = new Set(list.split(/\s+/).filter(Boolean))

const files = ['src', 'db', 'jobs', 'bench', 'test/support'].flatMap((folder) => [
  ...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync({ cwd: root, onlyFiles: true }),
])

/** `OrderPart` → `order-part`. */
const kebab = (name: string) => name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
const exported = /^export (?:async )?(?:type|interface|class|const|function)\*? (\w+)/gm

const bannedFiles = (paths: readonly string[]) => paths.filter((path) => banned.has(basename(path).replace(/(\.domain)?\.tsx?$/, '')))
const bannedNames = (text: string) => [...text.matchAll(exported)].map(([, name = '']) => name).filter((name) => banned.has(kebab(name)))

test('no file has a name that the glossary bans', () => {
  expect(banned.size).toBeGreaterThan(50)
  expect(bannedFiles(['src/lib/kept.ts', 'src/lib/cache.ts'])).toEqual(['src/lib/kept.ts'])
  expect(bannedFiles(files)).toEqual([])
})

test('no exported name is a word that the glossary bans', () => {
  expect(bannedNames('export type Held = string\nexport const heldCards = 1')).toEqual(['Held'])
  const found = files.flatMap((file) => bannedNames(readFileSync(join(root, file), 'utf8')).map((name) => `${file}: ${name}`))
  expect(found).toEqual([])
})
