/** The console's catalogs have the same keys in every language. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { Translation } from '../../src/console/lib/i18n/catalog.ts'

const root = join(import.meta.dir, '../../src/console')
type Texts = { default: Readonly<Record<string, unknown>> }
const keysOf = async (path: string): Promise<string[]> =>
  Object.keys(((await import(join(root, path))) as Texts).default).filter((key) => !key.startsWith('refused.'))

const english = { save: 'Save', close: 'Close' }
// `bun run types` fails if one of these lines compiles.
// @ts-expect-error a translation without `close` does not compile
export const withoutKey: Translation<typeof english> = { save: 'Speichern' }
// @ts-expect-error a translation with an unknown key does not compile
export const withUnknownKey: Translation<typeof english> = { save: 'Speichern', close: 'Schließen', open: 'Öffnen' }

test('every catalog has the keys of the English one in all languages', async () => {
  const catalogs = [...new Glob('**/{i18n.en,en}.ts').scanSync({ cwd: root })]
  expect(catalogs.length).toBeGreaterThan(38)
  for (const path of catalogs) {
    const keys = (await keysOf(path)).toSorted()
    for (const language of ['ar', 'mn']) {
      const translated = await keysOf(path.replace(/en\.ts$/, `${language}.ts`))
      expect({ path, language, keys: translated.toSorted() }).toEqual({ path, language, keys })
    }
  }
})
