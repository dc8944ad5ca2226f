/** Tests that the console's catalogs have the same keys in every language, and the terms of docs/glossary.md. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { Translation } from '../../src/console/lib/i18n/catalog.ts'

const root = join(import.meta.dir, '../../src/console')
type Texts = { default: Readonly<Record<string, unknown>> }
const textsOf = async (path: string) => ((await import(join(root, path))) as Texts).default
const keysOf = async (path: string): Promise<string[]> => Object.keys(await textsOf(path)).filter((key) => !key.startsWith('refused.'))
const catalogs = [...new Glob('**/{i18n.en,en}.ts').scanSync({ cwd: root })]

const english = { save: 'Save', close: 'Close' }
// `bun run types` fails if one of these lines compiles.
// @ts-expect-error a translation without `close` does not compile
export const withoutKey: Translation<typeof english> = { save: 'Speichern' }
// @ts-expect-error a translation with an unknown key does not compile
export const withUnknownKey: Translation<typeof english> = { save: 'Speichern', close: 'Schließen', open: 'Öffnen' }

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
