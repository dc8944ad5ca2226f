/** Who may import whom: docs/architecture.md in words, this in data. Only values count; types may come from anywhere. */
import { expect, test } from 'bun:test'
import { dirname, join, relative } from 'node:path'
import { Glob } from 'bun'

const root = join(import.meta.dir, '..')

type Rule = { what: string; files: RegExp; may: readonly RegExp[] }

const lib = /^src\/lib\//
const core = /^src\/core\//
const http = /^src\/http\//
/** The port of the data layer: the errors that it throws, and no driver. */
const port = /^db\/engine\.ts$/
/** What every payment processor looks like: types and errors. */
const processorPort = /^src\/clients\/processors\/processor\.ts$/
/** Pure tables and functions, and schemas made of other schemas, whosever they are. */
const anyDomain = /^src\/modules\/[^/]+\/domain\.ts$/
const anyModel = /^src\/modules\/[^/]+\/([\w-]+-)?model\.ts$/
const schemas = /^(elysia|@sinclair\/typebox)$/
const drizzle = /^drizzle-orm$/
const anything = /./

/** A path in a rule's `may` where `own/` stands for the module of the file that imports. */
const rules: readonly Rule[] = [
  { what: 'core', files: core, may: [core, lib, port, /^sanitize-html$/] },
  { what: 'lib', files: /^src\/lib\//, may: [lib, /^node:(crypto|net)$/] },
  {
    what: 'domain',
    files: /^src\/modules\/[^/]+\/(domain|csv[\w-]*|listing)\.ts$/,
    may: [lib, core, /^own\/(domain|csv[\w-]*|listing)\.ts$/, /^countries-list(\/minimal\/[\w.]+)?$/, /^csv-parse$/],
  },
  {
    what: 'model',
    files: /^src\/modules\/[^/]+\/([\w-]+-)?model\.ts$/,
    may: [schemas, /^src\/http\/schema\.ts$/, lib, core, anyDomain, anyModel, /^own\//],
  },
  {
    what: 'store',
    files: /^src\/modules\/[^/]+\/([\w-]+-)?store\.ts$/,
    may: [drizzle, /^db\/(columns|engine|prepared|search|schema\/[\w-]+|migrations\/index)\.ts$/, /^own\/domain\.ts$/, lib, core],
  },
  {
    what: 'routes',
    files: /^src\/modules\/[^/]+\/([\w-]+-)?routes\.ts$/,
    may: [schemas, http, lib, core, anyModel, /^own\/(?!([\w-]+-)?store\.ts)/],
  },
  {
    what: 'service',
    files: /^src\/modules\/[^/]+\/[\w-]+\.ts$/,
    may: [
      lib,
      core,
      port,
      processorPort,
      anyDomain,
      /^src\/modules\/[^/]+\/service\.ts$/,
      /^own\/(?!([\w-]+-)?(routes|model)\.ts)/,
      /^viem\/accounts$/,
    ],
  },
  { what: 'http', files: /^src\/http\//, may: [http, core, lib, port, schemas, /^@elysiajs\//, /^node:net$/, /^swagger-ui-dist\//] },
  { what: 'clients', files: /^src\/clients\//, may: [/^src\/clients\//, core, lib, /^node:/, /^@elysiajs\/jwt$/] },
  { what: 'the wiring of jobs', files: /^jobs\/index\.ts$/, may: [/^jobs\//, /^croner$/, lib] },
  { what: 'jobs', files: /^jobs\//, may: [/^src\/modules\/[^/]+\/service\.ts$/, core, lib] },
  { what: 'schema', files: /^db\/schema\//, may: [drizzle, /^db\/(columns|schema\/[\w-]+)\.ts$/] },
  { what: 'db', files: /^db\//, may: [/^db\//, /^(drizzle-orm(\/[\w-]+)?|pg|bun:sqlite|node:[\w/]+)$/] },
  { what: 'settings and keys', files: /^src\/(config|keys|version)\.ts$/, may: [core, lib, /^node:/, /^package\.json$/] },
  { what: 'the entry', files: /^src\/(app|document|instance|main|server)\.ts$/, may: [anything] },
  { what: 'the demo', files: /^src\/demo\//, may: [anything] },
  { what: 'cli', files: /^src\/cli\//, may: [anything] },
]

type Source = { file: string; text: string }

/** What a source breaks, as `file → import`. */
function breaches({ file, text }: Source): string[] {
  const rule = rules.find(({ files }) => files.test(file))
  if (!rule) return [`${file} falls under no rule`]
  const ownFolder = file.split('/').slice(0, 3).join('/')
  return importsOf(file, text)
    .filter(
      (target) =>
        !rule.may.some(
          (allowed) => allowed.test(target) || (target.startsWith(`${ownFolder}/`) && allowed.test(target.replace(ownFolder, 'own'))),
        ),
    )
    .map((target) => `${file} (${rule.what}) → ${target}`)
}

const transpiler = new Bun.Transpiler({ loader: 'ts' })

/** The modules whose values a source imports: paths from the root of the repository, or names of packages. */
function importsOf(file: string, text: string): string[] {
  return transpiler.scanImports(text).map(({ path }) => (path.startsWith('.') ? relative(root, join(root, dirname(file), path)) : path))
}

async function sources(folders: readonly string[]): Promise<Source[]> {
  const files = folders
    .flatMap((folder) => [...new Glob(`${folder}/**/*.ts`).scanSync(root)].filter((file) => !file.endsWith('.d.ts')))
    .sort()
  return Promise.all(files.map(async (file) => ({ file, text: await Bun.file(join(root, file)).text() })))
}

test('every file imports only what its layer may', async () => {
  const all = await sources(['src', 'db', 'jobs'])
  expect(all.length).toBeGreaterThan(80)
  expect(all.flatMap(breaches)).toEqual([])
})

test('a breach is noticed in every layer, and a type is none', () => {
  const breaking: [file: string, text: string][] = [
    ['src/lib/a.ts', "import { x } from '../http/access.ts'; x()"],
    ['src/modules/shop/domain.ts', "import { x } from './service.ts'; x()"],
    ['src/modules/shop/model.ts', "import { x } from '../merchant/service.ts'; x()"],
    ['src/modules/shop/store.ts', "import { x } from '../merchant/store.ts'; x()"],
    ['src/modules/shop/service.ts', "import { x } from '../merchant/store.ts'; x()"],
    ['src/modules/shop/service.ts', "import { x } from '../../http/access.ts'; x()"],
    ['src/modules/shop/service.ts', "import { x } from 'drizzle-orm'; x()"],
    ['src/modules/shop/routes.ts', "import { x } from './store.ts'; x()"],
    ['src/modules/shop/routes.ts', "import { x } from '../merchant/service.ts'; x()"],
    ['src/modules/shop/routes.ts', "const x = await import('../../../db/sqlite.ts'); x"],
    ['src/http/a.ts', "import { x } from '../modules/shop/service.ts'; x()"],
    ['src/clients/a.ts', "import { x } from '../http/access.ts'; x()"],
    ['jobs/a.ts', "import { x } from '../src/modules/shop/store.ts'; x()"],
    ['db/a.ts', "import { x } from '../src/lib/money.ts'; x()"],
    ['db/schema/a.ts', "import { x } from 'drizzle-orm/sqlite-core'; x()"],
    ['src/elsewhere/a.ts', ''],
  ]
  for (const [file, text] of breaking) expect([file, text, breaches({ file, text }).length]).toEqual([file, text, 1])
  expect(breaches({ file: 'src/lib/a.ts', text: "import type { X } from '../http/access.ts'; export type Y = X" })).toEqual([])
})

/** What must come in through `deps`, so that tests can hold it: the clock, chance, the network, the environment. */
const outside =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|(?<![.\w])fetch\(|\bprocess\.env\b|\bBun\.env\b|\bperformance\.now\(|\bBun\.sleep\(|\bsetTimeout\(|\.transaction\(/

test('modules, jobs and lib take time, chance, the network and the environment from deps', async () => {
  const found = (await sources(['src/modules', 'src/lib', 'jobs']))
    .filter(({ text }) => outside.test(withoutComments(text)))
    .map(({ file }) => file)
  expect(found).toEqual([])
})

test('one place reads the environment for the program, and one decides the dialect', async () => {
  const found = (await sources(['src', 'db', 'jobs']))
    .filter(({ text }) => /\bprocess\.env\b|\bBun\.env\b/.test(withoutComments(text)))
    .map(({ file }) => file)
  expect(found).toEqual(['db/columns.ts', 'db/generate.ts', 'src/main.ts'])
})

test('queries are prepared in one way, and only db/ decodes what a column holds', async () => {
  const all = await sources(['src', 'jobs'])
  const prepares = all.filter(({ text }) => /\.prepare\(/.test(withoutComments(text)))
  expect(prepares.map(({ file }) => file)).toEqual([])
  const stores = all.filter(({ file }) => /[/-]store\.ts$/.test(file))
  expect(stores.length).toBeGreaterThan(15)
  expect(stores.filter(({ text }) => /\bJSON\.parse\(|\bmapFromDriverValue\b/.test(withoutComments(text))).map(({ file }) => file)).toEqual(
    [],
  )
})

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
