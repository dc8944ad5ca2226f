/** Tests that the console's catalogs have the keys and placeholders of English, and the terms of docs/glossary.md. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import ts from 'typescript-5'
import { catalog, type Message, type Translation } from '../../src/console/lib/i18n/catalog.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const root = join(import.meta.dir, '../../src/console')
type Texts = { default: Readonly<Record<string, Message>> }
const textsOf = async (path: string) => ((await import(join(root, path))) as Texts).default
const keysOf = async (path: string): Promise<string[]> => Object.keys(await textsOf(path)).filter((key) => !key.startsWith('refused.'))
const catalogs = [...new Glob('**/{i18n.en,en}.ts').scanSync({ cwd: root })]

const english = { save: 'Save', close: 'Close' }
// `bun run types` fails if one of these lines compiles.
// @ts-expect-error a translation without `close` does not compile
export const withoutKey: Translation<typeof english> = { save: 'Speichern' }
// @ts-expect-error a translation with an unknown key does not compile
export const withUnknownKey: Translation<typeof english> = { save: 'Speichern', close: 'Schließen', open: 'Öffnen' }

const example = { close: 'Close', greeting: 'Hello {name}', items: { one: 'one item', other: '{n} items' } } as const
const load = () => Promise.resolve({ default: example })
const t = catalog<typeof example>({ en: load, ar: load, mn: load })
export const calls = () => [
  t('close'),
  t('greeting', { name: 'Ada' }),
  t('items', { n: 2 }),
  // @ts-expect-error a call without values does not compile
  t('greeting'),
  // @ts-expect-error a call without `n` does not compile
  t('items'),
  // @ts-expect-error a call with a misspelt name does not compile
  t('greeting', { nam: 'Ada' }),
  // @ts-expect-error a call with a superfluous name does not compile
  t('greeting', { name: 'Ada', n: 2 }),
  // @ts-expect-error a call with values for a text without placeholders does not compile
  t('close', { name: 'Ada' }),
]

test('every catalog has the keys of the English one in all languages', async () => {
  expect(catalogs.length).toBeGreaterThan(38)
  for (const path of catalogs) {
    const keys = (await keysOf(path)).toSorted()
    for (const language of ['ar', 'mn']) {
      const translated = await keysOf(path.replace(/en\.ts$/, `${language}.ts`))
      expect({ path, language, keys: translated.toSorted() }).toEqual({ path, language, keys })
    }
  }
})

/** Placeholders of a text, or of each of its plural forms by name. */
const placeholdersOf = (message: Message): [form: string, names: string[]][] =>
  Object.entries(typeof message === 'string' ? { other: message } : message).map(([form, text]) => [
    form,
    [...new Set(text.match(/\{\w+\}/g))].toSorted(),
  ])

test('every text has the placeholders of the English one; forms of zero, one and two may lack some', async () => {
  const mismatches: unknown[] = []
  for (const path of catalogs) {
    const english = await textsOf(path)
    for (const language of ['en', 'ar', 'mn'])
      for (const [key, message] of Object.entries(await textsOf(path.replace(/en\.ts$/, `${language}.ts`)))) {
        const expected = new Map(placeholdersOf(english[key] ?? '')).get('other') ?? []
        for (const [form, names] of placeholdersOf(message)) {
          const isComplete = ['zero', 'one', 'two'].includes(form) || names.length === expected.length
          if (!isComplete || names.some((name) => !expected.includes(name))) mismatches.push({ path, language, key, form, names, expected })
        }
      }
  }
  expect(mismatches).toEqual([])
})

/** Lists the calls of a catalog that run when the module is imported. */
function textsReadAtImport(path: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest)
  const calls: string[] = []
  function visit(node: ts.Node): void {
    if (ts.isFunctionLike(node)) return
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && /^(t|common|\w+Text)$/.test(node.expression.text))
      calls.push(`${path}: ${file.text.slice(node.pos, node.end)}`)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return calls
}

// A screen's module can load before the texts, which are empty until then.
test('no module reads a text while it is imported', () => {
  const modules = [...new Glob('**/*.tsx').scanSync({ cwd: root })]
  expect(modules.flatMap(textsReadAtImport)).toEqual([])
})

/** Forms of a term in Arabic and Mongolian, by its English in lower case. */
function readTerms(): Map<string, { ar: string[]; mn: string[] }> {
  const glossary = readFileSync(join(import.meta.dir, '../../docs/glossary.md'), 'utf8')
  const [, table = ''] = /## Words on screens\n([\s\S]*?)\n## /.exec(glossary) ?? []
  const rows = [...table.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)].filter(([, english]) => english !== 'English')
  const forms = (cell = '') => cell.split(' · ').map((form) => form.toLowerCase())
  return new Map(rows.map(([, english = '', ar, mn]) => [english.toLowerCase(), { ar: forms(ar), mn: forms(mn) }]))
}

test('every text that is a term of the glossary is translated as the glossary does', async () => {
  const terms = readTerms()
  expect(terms.size).toBeGreaterThan(120)
  const mismatches: unknown[] = []
  for (const path of catalogs)
    for (const language of ['ar', 'mn'] as const) {
      const translated = await textsOf(path.replace(/en\.ts$/, `${language}.ts`))
      for (const [key, english] of Object.entries(await textsOf(path))) {
        const term = typeof english === 'string' ? terms.get(english.toLowerCase()) : undefined
        if (term && !term[language].includes(String(translated[key]).toLowerCase()))
          mismatches.push({ path, key, english, is: translated[key] })
      }
    }
  expect(mismatches).toEqual([])
})
