/** The import rules of docs/architecture.md as data. Type imports count too. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { basename, dirname, join, relative } from 'node:path'
import { Glob } from 'bun'
import { longTestMs } from './support/timeouts.ts'

setDefaultTimeout(longTestMs)

const root = join(import.meta.dir, '..')

type Rule = { what: string; files: RegExp; may: readonly RegExp[] }

const lib = /^src\/lib\//
/** core/, lib/, the settings and the interface of the data layer. */
const core = [/^src\/core\//, /^src\/config\.ts$/, /^db\/engine\.ts$/, lib]
const http = /^src\/http\//
/** The list of payment processors, their interface and its errors. */
const processorPort = /^src\/clients\/processors\/(index|processor)\.ts$/
/** The rows of tables, as types. */
const schema = /^db\/schema\/[\w-]+\.ts$/
/** Pure functions, types and schemas of any module. */
const anyDomain = /^src\/modules\/[^/]+\/[^/]+\/domain\.ts$/
const anyModel = /^src\/modules\/[^/]+\/[^/]+\/([\w-]+-)?model\.ts$/
const anyIndex = /^src\/modules\/[^/]+\/[^/]+\/index\.ts$/
const pure = String.raw`(domain|pricing|view|listing|summary|checklist|documentation|units|csv[\w-]*)`
const ownPure = new RegExp(String.raw`^own\/${pure}\.ts$`)
const schemas = /^(elysia|@sinclair\/typebox(\/errors)?)$/
const drizzle = /^drizzle-orm(\/sqlite-core)?$/

/** The first rule that matches a file applies. In `may`, `own/` is the module of the importing file. */
const rules: readonly Rule[] = [
  {
    what: 'lib',
    files: lib,
    may: [
      lib,
      /^node:(crypto|net)$/,
      /^ipaddr\.js$/,
      /^structured-headers$/,
      /^@noble\/hashes\/sha3$/,
      /^countries-list\/minimal\/[\w.]+$/,
    ],
  },
  {
    what: 'core',
    files: /^src\/core\//,
    may: [...core, /^db\/prepared\.ts$/, drizzle, /^(sanitize-html|lru-cache|csv-parse|croner|@sinclair\/typebox|node:async_hooks)$/],
  },
  {
    what: 'settings',
    files: /^src\/settings\//,
    may: [/^src\/settings\//, /^src\/clients\/processors\/index\.ts$/, /^db\/hosts\.ts$/, /^node:/, lib],
  },
  {
    what: 'the configuration and keys',
    files: /^src\/(config|keys|version)\.ts$/,
    may: [...core, /^src\/settings\//, /^db\/(hosts|temporary-files)\.ts$/, /^node:/, /^package\.json$/],
  },
  {
    what: 'domain',
    files: new RegExp(String.raw`^src\/modules\/(?:[^/]+\/){2,3}${pure}\.ts$`),
    may: [
      /^src\/core\/(console-files|csv-format|csv-records|date-range|error-notes|errors|html|operations|outgoing|principal|publication|tokens)\.ts$/,
      lib,
      schema,
      ownPure,
      anyDomain,
      /^countries-list(\/minimal\/[\w.]+)?$/,
      /^cldr-subdivisions-full\/subdivisions\/en\/en\.json$/,
      /^csv-parse$/,
    ],
  },
  {
    what: 'what both transports of agents share: a table of operations, with their schemas',
    files: /^src\/modules\/agents\/agent-api\/(dispatch|operations|mcp[\w-]*|routes)\.ts$/,
    may: [schemas, /^@sinclair\/typebox\/compiler$/, http, ...core, anyModel, anyIndex, /^own\//],
  },
  {
    what: 'model',
    files: anyModel,
    may: [schemas, /^src\/http\/(role-fields|schema)\.ts$/, processorPort, ...core, anyDomain, anyModel, ownPure],
  },
  {
    what: 'messages',
    files: /^src\/modules\/[^/]+\/[^/]+\/messages\.ts$/,
    may: [schemas, /^src\/core\/schema\.ts$/, lib, anyDomain, anyModel, ownPure],
  },
  {
    what: 'store',
    files: /^src\/modules\/(?:[^/]+\/){2,3}([\w-]+-)?store\.ts$/,
    may: [
      drizzle,
      /^db\/(admin-search|change-feed|change-feed-query|columns|deadline|list-pages|merchant-account|page-query|prepared|product-filter|product-lists|search|search-backfill|search-words|shop-figures|units-to-send|migrations\/index)\.ts$/,
      schema,
      ...core,
      ownPure,
      anyDomain,
    ],
  },
  {
    what: 'providers',
    files: /^src\/modules\/[^/]+\/[^/]+\/providers\.ts$/,
    may: [...core, /^src\/clients\//, anyIndex, /^own\/(?!index|([\w-]+-)?(routes|model)\.ts)/],
  },
  { what: 'index', files: anyIndex, may: [/^own\/(?!([\w-]+-)?(routes|model)\.ts)/] },
  {
    what: 'routes',
    files: /^src\/modules\/[^/]+\/[^/]+\/([\w-]+-)?routes\.ts$/,
    may: [schemas, http, ...core, anyModel, anyIndex, ownPure, /^own\/messages\.ts$/],
  },
  {
    what: 'service',
    files: /^src\/modules\/(?:[^/]+\/){2,3}[\w-]+\.ts$/,
    may: [
      ...core,
      schema,
      processorPort,
      anyDomain,
      anyIndex,
      /^own\/(?!index|([\w-]+-)?(routes|model)\.ts)/,
      /^viem\/accounts$/,
      /^@zxcvbn-ts\/language-common$/,
      /^file-type$/,
    ],
  },
  { what: 'http', files: http, may: [http, ...core, schemas, /^@elysiajs\//, /^node:net$/, /^swagger-ui-dist\//] },
  {
    what: 'clients',
    files: /^src\/clients\//,
    may: [
      /^src\/clients\//,
      /^src\/settings\/kinds\.ts$/,
      ...core,
      /^(bun|node:.+)$/,
      /^@elysiajs\/jwt$/,
      /^viem(\/(accounts|utils))?$/,
      /^(mmdb-lib|aws4fetch|nodemailer\/lib\/[\w-]+)$/,
    ],
  },
  {
    what: 'the composition',
    files: /^src\/providers\.ts$/,
    may: [...core, processorPort, http, /^src\/modules\/[^/]+\/[^/]+\/providers\.ts$/],
  },
  {
    what: 'the surface',
    files: /^src\/app\.ts$/,
    may: [schemas, http, ...core, /^src\/providers\.ts$/, /^src\/modules\/[^/]+\/[^/]+\/([\w-]+-)?routes\.ts$/],
  },
  {
    what: 'the instance',
    files: /^src\/(instance|server)\.ts$/,
    may: [
      ...core,
      http,
      /^src\/(app|instance|keys|providers|version)\.ts$/,
      /^src\/clients\//,
      anyIndex,
      /^db\/(open|(postgres|sqlite)\/engine)\.ts$/,
      /^(bun|node:\w+)$/,
    ],
  },
  { what: 'the build', files: /^src\/build\.ts$/, may: [/^node:/, /^src\/clients\/console\/(bundle|files)\.ts$/] },
  {
    // The console runs in a browser: it imports nothing of the server, and the server nothing of it.
    what: 'the console',
    files: /^src\/console\//,
    may: [
      /^src\/console\//,
      /^src\/lib\/(city-lines|country-code|csv-line|day|decimal|html-rules|money|processor-keys|processors|province-names|provinces|rounding|shipping-offers)\.ts$/,
      /^prosemirror-(commands|history|keymap|model|schema-list|state|view)$/,
      /^(preact(\/hooks)?|preact-iso(\/[\w-]+)?|@preact\/signals|uplot(\/dist\/uPlot\.min\.css)?|qr|openapi-fetch|eventsource-parser(\/stream)?)$/,
    ],
  },
  { what: 'the entry', files: /^src\/main\.ts$/, may: [/^src\/cli\/index\.ts$/] },
  {
    what: 'the demo',
    files: /^src\/demo\//,
    may: [/^src\/demo\//, ...core, processorPort, anyIndex, anyDomain, schema, /^src\/providers\.ts$/, /^node:(crypto|http|net)$/],
  },
  {
    what: 'cli',
    files: /^src\/cli\//,
    may: [
      /^src\/(cli|demo)\//,
      /^src\/clients\/(chain\/[\w-]+|safe-fetch|countries|erased-list|service-manager|atomic-files)\.ts$/,
      ...core,
      http,
      /^src\/(app|instance|keys|providers|server|version)\.ts$/,
      processorPort,
      anyIndex,
      anyDomain,
      /^jobs\/index\.ts$/,
      /^db\//,
      /^(bun:sqlite|drizzle-orm|@sinclair\/typebox\/value|node:[\w/]+)$/,
    ],
  },
  {
    what: 'the wiring of jobs',
    files: /^jobs\/index\.ts$/,
    may: [/^jobs\//, /^croner$/, anyIndex, /^src\/lib\/job-table\.ts$/, /^src\/providers\.ts$/],
  },
  { what: 'jobs', files: /^jobs\//, may: [anyIndex, ...core, /^src\/providers\.ts$/] },
  { what: 'schema', files: /^db\/schema\//, may: [/^drizzle-orm$/, /^db\/(columns|schema\/[\w-]+)\.ts$/, /^src\/lib\/processors\.ts$/] },
  { what: 'db', files: /^db\//, may: [/^db\//, /^(drizzle-orm(\/[\w-]+)?|lru-cache|pg|bun:sqlite|node:[\w/]+)$/] },
]

type Source = { file: string; text: string }

/** Returns the module of a file: `src/modules/AREA/MODULE`, with its subfolders. The product folders are one module. */
function moduleOf(file: string): string | undefined {
  const [, area, name] = /^src\/modules\/([^/]+)\/([^/]+)\//.exec(file) ?? []
  if (area === undefined) return undefined
  return area === 'catalog' && /^(products|collections|stock|import-export)$/.test(name ?? '') ? 'catalog/products' : `${area}/${name}`
}

/** Returns the forbidden imports of a source, as `file → import`. */
function violationsOf({ file, text }: Source): string[] {
  const rule = rules.find(({ files }) => files.test(file))
  if (!rule) return [`${file} falls under no rule`]
  const own = moduleOf(file)
  return importsOf(file, text)
    .filter(
      (target) =>
        !rule.may.some(
          (allowed) => allowed.test(target) || (own !== undefined && moduleOf(target) === own && allowed.test(`own/${basename(target)}`)),
        ),
    )
    .map((target) => `${file} (${rule.what}) → ${target}`)
}

const specifier = /(?:\bfrom |\bimport |\bimport\()'([^'\n]+)'/g

/** Returns the imports of a source, including types: paths relative to the repository's root, or package names. */
function importsOf(file: string, text: string): string[] {
  const paths = [...withoutComments(text).matchAll(specifier)].map(([, path = '']) => path)
  return paths.map((path) => (path.startsWith('.') ? relative(root, join(root, dirname(file), path)) : path))
}

async function sources(folders: readonly string[]): Promise<Source[]> {
  const files = folders
    .flatMap((folder) => [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync(root)].filter((file) => !file.endsWith('.d.ts')))
    .sort()
  return Promise.all(files.map(async (file) => ({ file, text: await Bun.file(join(root, file)).text() })))
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

test('every file imports only what its layer may, types included', async () => {
  const all = await sources(['src', 'db', 'jobs'])
  expect(all.length).toBeGreaterThan(80)
  expect(all.flatMap(violationsOf)).toEqual([])
})

test('a forbidden import is found in every layer, also of a type', () => {
  const forbiddenImports: [file: string, text: string][] = [
    ['src/lib/a.ts', "import { x } from '../http/access.ts'"],
    ['src/lib/a.ts', "import type { X } from '../core/deps.ts'"],
    ['src/core/a.ts', "import type { X } from '../http/deps.ts'"],
    ['src/settings/a.ts', "import { x } from '../core/job-table.ts'"],
    ['src/demo/a.ts', "import { x } from '../cli/progress.ts'"],
    ['src/modules/messaging/webhook/messages.ts', "import { x } from '../../../http/schema.ts'"],
    ['src/modules/shop/shop/domain.ts', "import { x } from './service.ts'"],
    ['src/modules/shop/shop/domain.ts', "import type { X } from './store.ts'"],
    ['src/modules/shop/shop/model.ts', "import { x } from '../../identity/merchant/service.ts'"],
    ['src/modules/shop/shop/store.ts', "import { x } from '../../identity/merchant/store.ts'"],
    ['src/modules/shop/shop/service.ts', "import { x } from '../../identity/merchant/store.ts'"],
    ['src/modules/shop/shop/service.ts', "import { x } from '../../identity/merchant/service.ts'"],
    ['src/modules/shop/shop/service.ts', "import type { X } from '../../identity/merchant/providers.ts'"],
    ['src/modules/shop/shop/service.ts', "import type { X } from '../../../http/access.ts'"],
    ['src/modules/shop/shop/service.ts', "import { x } from 'drizzle-orm'"],
    ['src/modules/shop/shop/index.ts', "export { x } from '../../identity/merchant/service.ts'"],
    ['src/modules/shop/shop/routes.ts', "import { x } from './store.ts'"],
    ['src/modules/shop/shop/routes.ts', "import { x } from './service.ts'"],
    ['src/modules/shop/shop/routes.ts', "import { x } from '../../identity/merchant/service.ts'"],
    ['src/modules/shop/shop/routes.ts', "const x = await import('../../../../db/sqlite/engine.ts')"],
    ['src/modules/selling/order/saga/domain.ts', "import { x } from './store.ts'"],
    ['src/modules/catalog/stock/stock.ts', "import { x } from '../media/store.ts'"],
    ['src/http/a.ts', "import type { X } from '../modules/shop/shop/index.ts'"],
    ['src/clients/a.ts', "import { x } from '../http/access.ts'"],
    ['src/app.ts', "import { x } from './modules/shop/shop/service.ts'"],
    ['jobs/a.ts', "import { x } from '../src/modules/shop/shop/store.ts'"],
    ['jobs/a.ts', "import type { X } from '../src/app.ts'"],
    ['db/a.ts', "import { x } from '../src/lib/money.ts'"],
    ['db/schema/a.ts', "import { x } from 'drizzle-orm/sqlite-core'"],
    ['src/console/screens/home/index.tsx', "import type { X } from '../../../http/deps.ts'"],
    ['src/console/lib/a.ts', "import { x } from '../../lib/log.ts'"],
    ['src/console/lib/a.ts', "import { x } from 'elysia'"],
    ['src/console/lib/a.ts', "import { x } from 'preact/compat'"],
    ['src/modules/operations/console/routes.ts', "import { x } from '../../../console/screens.ts'"],
    ['src/clients/console/bundle.ts', "import { x } from '../../console/screens.ts'"],
    ['src/elsewhere/a.ts', ''],
  ]
  for (const [file, text] of forbiddenImports) expect([file, text, violationsOf({ file, text }).length]).toEqual([file, text, 1])
})

test('files of lib/ that the console imports depend on lib/ only, and on nothing that only a server has', async () => {
  const all = await sources(['src/console', 'src/lib'])
  const targets = new Map(all.map(({ file, text }) => [file, importsOf(file, text)]))
  const reached = new Set(all.filter(({ file }) => file.startsWith('src/console/')).flatMap(({ file }) => targets.get(file) ?? []))
  for (const file of reached) if (file.startsWith('src/lib/')) for (const target of targets.get(file) ?? []) reached.add(target)
  /** A small package of data. */
  const data = /^countries-list\/minimal\//
  const imported = [...reached].filter((file) => file.startsWith('src/lib/'))
  expect(imported.length).toBeGreaterThan(2)
  expect(
    imported.flatMap((file) =>
      (targets.get(file) ?? []).filter((target) => !lib.test(target) && !data.test(target)).map((target) => `${file} → ${target}`),
    ),
  ).toEqual([])
  const texts = all.filter(({ file }) => imported.includes(file))
  expect(texts.filter(({ text }) => /\b(Bun|Buffer|process)\./.test(withoutComments(text))).map(({ file }) => file)).toEqual([])
})

test('no file imports itself indirectly, types included', async () => {
  const all = await sources(['src', 'db', 'jobs'])
  const targets = new Map(all.map(({ file, text }) => [file, importsOf(file, text)]))
  const done = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (done.has(file) || path.includes(file)) return
    for (const target of targets.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const { file } of all) walk(file, [])
  expect(circles).toEqual([])
})

/** A placeholder for any value: its properties and results are the placeholder again. */
const placeholder: object = new Proxy(() => placeholder, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => '' : placeholder),
  apply: () => placeholder,
})

/** A placeholder container: these keys exist, and any other key returns a placeholder. */
const placeholderDeps = new Proxy(
  { config: placeholder, db: placeholder, clock: placeholder, keyring: placeholder, log: placeholder },
  { get: (_, name) => (name === 'randomBytes' ? (count: number) => new Uint8Array(count) : placeholder) },
)

type Provided = { name: string; module: string | undefined }

/** Returns the keys that each module adds to the container. */
async function providedKeys(): Promise<Provided[]> {
  const files = [...new Glob('src/modules/*/*/providers.ts').scanSync(root)]
  const keys = files.map(async (file) => {
    const module: Record<string, unknown> = await import(join(root, file))
    const providers = Object.entries(module).filter(([name]) => name.endsWith('Providers'))
    const made = providers.map(([, provide]) => (provide as (deps: object, more: unknown[]) => object)(placeholderDeps, []))
    return made.flatMap((values) => Object.keys(values)).map((name) => ({ name, module: moduleOf(file) }))
  })
  return (await Promise.all(keys)).flat()
}

/** Returns the keys of stores and caches. */
const ownedProviders = async (): Promise<Provided[]> =>
  (await providedKeys()).filter(({ name }) => /Store$|Cache$|Waitlist$|^listingCounts$|^listings$/.test(name))

test('no two modules add the same key to the container', async () => {
  const keys = await providedKeys()
  expect(keys.length).toBeGreaterThan(60)
  const modulesOf = Map.groupBy(keys, ({ name }) => name)
  const shared = [...modulesOf].filter(([, owners]) => new Set(owners.map(({ module }) => module)).size > 1)
  expect(shared.map(([name, owners]) => `${name}: ${owners.map(({ module }) => module).join(', ')}`)).toEqual([])
})

test("no module uses another module's stores and caches", async () => {
  const all = await sources(['src', 'jobs'])
  const owned = await ownedProviders()
  expect(owned.length).toBeGreaterThan(15)
  const foreignUses = owned.flatMap(({ name, module }) =>
    all
      .filter(
        ({ file, text }) =>
          moduleOf(file) !== module && new RegExp(String.raw`(?:\.${name}\b|[{,]\s*${name}\s*[,}:=])`).test(withoutComments(text)),
      )
      .map(({ file }) => `${file}: ${name}`),
  )
  expect(foreignUses).toEqual([])
  const inRoutes = all.filter(({ file, text }) => /routes\.ts$/.test(file) && owned.some(({ name }) => text.includes(name)))
  expect(inRoutes.map(({ file }) => file)).toEqual([])
})

/** Matches direct use of the clock, randomness, the network and the environment, which must come from `deps`. */
const directUse =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|(?<![.\w])fetch\(|\bprocess\.env\b|\bBun\.env\b|\bperformance\.now\(|\bBun\.sleep\(|\bsetTimeout\(|\.transaction\(/

test('modules, jobs and lib take time, randomness, the network and the environment from deps', async () => {
  const found = (await sources(['src/modules', 'src/core', 'src/lib', 'jobs']))
    .filter(({ text }) => directUse.test(withoutComments(text)))
    .map(({ file }) => file)
  expect(found).toEqual([])
})

test('only main.ts reads the environment for the program, and only db/ reads it to select the dialect', async () => {
  const found = (await sources(['src', 'db', 'jobs']))
    .filter(({ text }) => /\bprocess\.env\b|\bBun\.env\b/.test(withoutComments(text)))
    .map(({ file }) => file)
  expect(found).toEqual(['db/columns.ts', 'db/generate.ts', 'src/main.ts'])
})

/** Matches static imports of values. Type imports and dynamic imports do not count. */
const staticImport = /^import (?!type )(?:[^'";]*? from )?'([^']+)'$/gm

test('only chain clients import viem statically, because it would double the time of a start', async () => {
  const heavy = /^(?:viem(?:\/.+)?|src\/clients\/chain\/(?:answers|bloom|client|eas|reader|transactions)\.ts)$/
  const loading = (await sources(['src', 'jobs'])).filter(({ file, text }) =>
    [...withoutComments(text).matchAll(staticImport)]
      .map(([, path = '']) => (path.startsWith('.') ? relative(root, join(root, dirname(file), path)) : path))
      .some((path) => heavy.test(path)),
  )
  const chain = ['answers', 'bloom', 'client', 'eas', 'reader', 'transactions'].map((name) => `src/clients/chain/${name}.ts`)
  expect(loading.map(({ file }) => file)).toEqual(chain)
})

test('no file of the program is longer than 430 lines, and the composition is under 300', async () => {
  const lengths = (await sources(['src', 'db', 'jobs'])).map(({ file, text }) => [file, text.split('\n').length - 1] as const)
  expect(lengths.filter(([, lines]) => lines > 430)).toEqual([])
  expect(lengths.filter(([file, lines]) => ['src/providers.ts', 'src/instance.ts', 'src/app.ts'].includes(file) && lines >= 300)).toEqual(
    [],
  )
})
test('only db/ prepares statements and decodes columns', async () => {
  const all = await sources(['src', 'jobs'])
  const prepares = all.filter(({ text }) => /\.prepare\(/.test(withoutComments(text)))
  expect(prepares.map(({ file }) => file)).toEqual([])
  const stores = all.filter(({ file }) => /[/-]store\.ts$/.test(file))
  expect(stores.length).toBeGreaterThan(15)
  expect(stores.filter(({ text }) => /\bJSON\.parse\(|\bmapFromDriverValue\b/.test(withoutComments(text))).map(({ file }) => file)).toEqual(
    [],
  )
})
