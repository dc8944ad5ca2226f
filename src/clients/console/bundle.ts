/** Makes the console of its sources. The build does so, and a program that runs from source; the binary, which carries the files, does not hold this. */
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type ConsoleEntry, type ConsoleFile, type ConsoleFiles, consoleFileName, contentTypeOf } from '../../core/console-files.ts'

/** Beside the first file: what the page runs before that, and what runs that in its place. */
const ahead = ['bootstrap.ts', 'bootstrap-fallback.ts'] as const
const entryPoint = join(import.meta.dir, '../../console/index.tsx')

const inBrotli = promisify(brotliCompress)
const inGzip = promisify(gzip)

/** How hard it is compressed: for a binary, which is built once, as hard as can be; from source, somebody waits for it. */
const efforts = { some: { quality: 5, level: 6 }, all: { quality: 11, level: 9 } } as const

/** The least that is worth a compressed twin, in bytes: below, it is saved nothing by it. */
const worthCompressing = 256

/** What Bun tells of its output, by relative path. Not in its types as of 1.4.4. */
type Metafile = {
  readonly outputs: Readonly<
    Record<
      string,
      { readonly imports: readonly { path: string; kind: string }[]; readonly entryPoint?: string; readonly cssBundle?: string }
    >
  >
}

/**
 * Bundles, names by content and compresses.
 * @param from where else than in src/console the first file is, with a `bootstrap.ts` and a `bootstrap-fallback.ts` beside it; tests bundle what they wrote
 * @throws where a source is wrong, and says in which line
 */
export async function bundleConsole(from = entryPoint, { effort = 'some' }: { effort?: keyof typeof efforts } = {}): Promise<ConsoleFiles> {
  const options: Bun.BuildConfig = {
    entrypoints: [from, ...ahead.map((name) => join(dirname(from), name))],
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    // Said, because a test's or a developer's environment would decide otherwise.
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
    naming: '[name]-[hash].[ext]',
    metafile: true,
    plugins: [oneCore(from)],
  }
  const { outputs, metafile } = await Bun.build(options).catch((error: unknown) => {
    throw error instanceof AggregateError ? new Error(inWords(error), { cause: error }) : error
  })
  const made = await Promise.all(outputs.map(async (output) => [basename(output.path), await fileOf(output, efforts[effort])] as const))
  for (const [name] of made) if (!consoleFileName.test(name)) throw new Error(`the console cannot serve a file of this kind: ${name}`)
  return { entry: entryOf(metafile as Metafile), files: new Map(made) }
}

/** What stands for all that the page always loads. */
const coreModule = 'console:core'
const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }
const loaderOf = (file: string): 'ts' | 'tsx' => (file.endsWith('.tsx') ? 'tsx' : 'ts')

/** The files of ours that a file imports, at once or on demand. Of one that is wrong, or not there, the bundler tells. */
function importsOf(file: string): { readonly file: string; readonly kind: string }[] {
  return scanned(file)
    .filter(({ path }) => path.startsWith('.') && /\.tsx?$/.test(path))
    .map(({ path, kind }) => ({ file: join(dirname(file), path), kind }))
}

function scanned(file: string): Bun.Import[] {
  try {
    return transpilers[loaderOf(file)].scanImports(readFileSync(file, 'utf8'))
  } catch {
    return []
  }
}

/**
 * Keeps in one file what the page always loads. The bundler makes one of each set of files that the same parts of the page use: what the
 * first script shares with one screen, with another one and with both would be three, and so on to dozens. Here each screen uses all of it.
 */
function oneCore(first: string): Bun.BunPlugin {
  const core = new Set<string>()
  const onDemand = new Set<string>()
  const all = new Set([first])
  const walk = (file: string, isAtOnce: boolean): void => {
    for (const { file: next, kind } of importsOf(file)) {
      const atOnce = isAtOnce && kind === 'import-statement'
      if (kind === 'dynamic-import') onDemand.add(next)
      if (atOnce ? core.has(next) : all.has(next)) continue
      all.add(next)
      if (atOnce) core.add(next)
      walk(next, atOnce)
    }
  }
  walk(first, true)
  return {
    name: 'one-core',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${coreModule}$`) }, ({ path }) => ({ path, namespace: 'console' }))
      build.onLoad({ filter: /.*/, namespace: 'console' }, () => ({
        contents: [...core].map((file) => `import ${JSON.stringify(file)}`).join('\n'),
        loader: 'js',
      }))
      build.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
        const contents = await Bun.file(path).text()
        // Catalogs of words share nothing: they stay what they are.
        const usesCore = onDemand.has(path) && !/\/i18n\/|\/i18n\.\w+\.ts$/.test(path)
        return { contents: usesCore ? `import ${JSON.stringify(coreModule)}\n${contents}` : contents, loader: loaderOf(path) }
      })
    },
  }
}

/** What the bundler says of each source that is wrong. */
const inWords = ({ errors }: AggregateError): string =>
  (errors as readonly { message: string; position?: { file: string; line: number; column: number } | null }[])
    .map(({ message, position }) => (position ? `${position.file}:${position.line}:${position.column}: ${message}` : message))
    .join('\n')

async function fileOf(output: Bun.BuildArtifact, { quality, level }: (typeof efforts)[keyof typeof efforts]): Promise<ConsoleFile> {
  const body = new Uint8Array(await output.arrayBuffer())
  const contentType = contentTypeOf(output.path)
  if (contentType.startsWith('font/') || body.length < worthCompressing) return { body, contentType }
  const [br, zipped] = await Promise.all([
    inBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
    inGzip(body, { level }),
  ])
  return { body, contentType, encoded: { br: new Uint8Array(br), gzip: new Uint8Array(zipped) } }
}

/** What the page has to name: the first script, its style, and the chunks that the script cannot begin without. */
function entryOf({ outputs }: Metafile): ConsoleEntry {
  const madeOf = (name: string) => Object.entries(outputs).find(([path, { entryPoint: of }]) => of?.endsWith(name) && path.endsWith('.js'))
  const first = madeOf('index.tsx')
  const [begin, late] = ahead.map(madeOf)
  if (!first || !begin || !late) throw new Error(`the bundler made no script of src/console/index.tsx, or of its ${ahead.join(' or ')}`)
  const preloads = new Set<string>()
  const walk = (path: string): void => {
    for (const { path: to, kind } of outputs[path]?.imports ?? []) {
      if (kind !== 'import-statement' || preloads.has(to) || to === first[0]) continue
      preloads.add(to)
      walk(to)
    }
  }
  walk(first[0])
  const styles = first[1].cssBundle === undefined ? [] : [first[1].cssBundle]
  return {
    begin: basename(begin[0]),
    late: basename(late[0]),
    script: basename(first[0]),
    styles: styles.map((path) => basename(path)),
    preloads: [...preloads].map((path) => basename(path)),
  }
}
