/**
 * Builds the console from its sources, for the build and for a program that runs from source. The binary contains the
 * result instead.
 */
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type ConsoleEntry, type ConsoleFile, type ConsoleFiles, consoleFileName, contentTypeOf } from '../../core/console-files.ts'

/** Scripts beside the entry that start it or show that it cannot start. */
const bootScripts = ['bootstrap.ts', 'bootstrap-fallback.ts'] as const
const entryPoint = join(import.meta.dir, '../../console/index.tsx')

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/** The compression level: the highest for a binary, a fast one from source. */
const efforts = { some: { quality: 5, level: 6 }, all: { quality: 11, level: 9 } } as const

/** Smaller files are not compressed, in bytes. */
const compressMinBytes = 256

/** Bun's metafile, by relative path. Not in its types as of 1.4.4. */
type Metafile = {
  readonly outputs: Readonly<
    Record<
      string,
      { readonly imports: readonly { path: string; kind: string }[]; readonly entryPoint?: string; readonly cssBundle?: string }
    >
  >
}

/**
 * Bundles the console, names files by content and compresses them.
 * @param from another entry than src/console, with the boot scripts beside it, for tests
 * @throws for an invalid source, with its line
 */
export async function bundleConsole(from = entryPoint, { effort = 'some' }: { effort?: keyof typeof efforts } = {}): Promise<ConsoleFiles> {
  const options: Bun.BuildConfig = {
    entrypoints: [from, ...bootScripts.map((name) => join(dirname(from), name))],
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    // Explicit, since the environment would decide otherwise.
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
    naming: '[name]-[hash].[ext]',
    metafile: true,
    plugins: [singleCorePlugin(from)],
  }
  const { outputs, metafile } = await Bun.build(options).catch((error: unknown) => {
    throw error instanceof AggregateError ? new Error(errorText(error), { cause: error }) : error
  })
  const built = await Promise.all(
    outputs.map(async (output) => [basename(output.path), await toConsoleFile(output, efforts[effort])] as const),
  )
  for (const [name] of built) if (!consoleFileName.test(name)) throw new Error(`the console cannot serve a file of this kind: ${name}`)
  return { entry: entryOf(metafile as Metafile), files: new Map(built) }
}

/** A virtual module of everything that the page always loads. */
const coreModule = 'console:core'
const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }
const loaderOf = (file: string): 'ts' | 'tsx' => (file.endsWith('.tsx') ? 'tsx' : 'ts')

/** Lists the local imports of a file, static and dynamic. The bundler reports missing or invalid files. */
function importsOf(file: string): { readonly file: string; readonly kind: string }[] {
  return scanImports(file)
    .filter(({ path }) => path.startsWith('.') && /\.tsx?$/.test(path))
    .map(({ path, kind }) => ({ file: join(dirname(file), path), kind }))
}

function scanImports(file: string): Bun.Import[] {
  try {
    return transpilers[loaderOf(file)].scanImports(readFileSync(file, 'utf8'))
  } catch {
    return []
  }
}

/**
 * Keeps everything that the page always loads in one chunk. The bundler otherwise creates a chunk per set of users,
 * which would be dozens.
 */
function singleCorePlugin(first: string): Bun.BunPlugin {
  const core = new Set<string>()
  const onDemand = new Set<string>()
  const visited = new Set([first])
  const walk = (file: string, isAtOnce: boolean): void => {
    for (const { file: next, kind } of importsOf(file)) {
      const atOnce = isAtOnce && kind === 'import-statement'
      if (kind === 'dynamic-import') onDemand.add(next)
      if (atOnce ? core.has(next) : visited.has(next)) continue
      visited.add(next)
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
        // Text catalogs share nothing with the core.
        const usesCore = onDemand.has(path) && !/\/i18n\/|\/i18n\.\w+\.ts$/.test(path)
        return { contents: usesCore ? `import ${JSON.stringify(coreModule)}\n${contents}` : contents, loader: loaderOf(path) }
      })
    },
  }
}

/** Formats the bundler's errors. */
const errorText = ({ errors }: AggregateError): string =>
  (errors as readonly { message: string; position?: { file: string; line: number; column: number } | null }[])
    .map(({ message, position }) => (position ? `${position.file}:${position.line}:${position.column}: ${message}` : message))
    .join('\n')

async function toConsoleFile(output: Bun.BuildArtifact, { quality, level }: (typeof efforts)[keyof typeof efforts]): Promise<ConsoleFile> {
  const body = new Uint8Array(await output.arrayBuffer())
  const contentType = contentTypeOf(output.path)
  if (contentType.startsWith('font/') || body.length < compressMinBytes) return { body, contentType }
  const [br, zipped] = await Promise.all([
    compressBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
    compressGzip(body, { level }),
  ])
  return { body, contentType, encoded: { br: new Uint8Array(br), gzip: new Uint8Array(zipped) } }
}

/** Returns the first script, its styles, and the chunks that it needs to start. */
function entryOf({ outputs }: Metafile): ConsoleEntry {
  const scriptOf = (name: string) =>
    Object.entries(outputs).find(([path, { entryPoint: of }]) => of?.endsWith(name) && path.endsWith('.js'))
  const first = scriptOf('index.tsx')
  const [begin, late] = bootScripts.map(scriptOf)
  if (!first || !begin || !late)
    throw new Error(`the bundler made no script of src/console/index.tsx, or of its ${bootScripts.join(' or ')}`)
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
