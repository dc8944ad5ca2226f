/**
 * Builds the storefront as static files, or serves it. `--help` lists the options.
 */
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'
import { type Catalog, readCatalog } from './catalog.ts'
import { htmlOf, type Storefront } from './html.ts'
import { renderAll, renderPage } from './render.ts'
import type { Navigation } from './src/navigation.ts'

export type { Storefront }

const here = import.meta.dir

const usage = `Usage: bun run storefront [--souk=URL] [--shop=NAME] [--images=ORIGIN]… [--port=PORT]
       bun run storefront [--souk=URL] [--shop=NAME] [--images=ORIGIN]… --out=FOLDER --url=URL

Serves the storefront, or builds it as static files.

  --souk    address of souk (http://127.0.0.1:3000)
  --shop    handle of the shop (demo)
  --images  another origin of pictures or the logo
  --port    port to serve at (4000)
  --out     folder to build in, instead of serving
  --url     public address of the storefront; required by --out
`
const noNavigation: Navigation = { collections: [], hasBlog: false }

type Files = Map<string, Blob>

/** Builds scripts and styles, by their names. @throws AggregateError where a source is wrong */
async function buildAssets(): Promise<{ assets: Files; scripts: string[] }> {
  const entrypoints = [...new Glob('*.ts').scanSync(join(here, 'src/pages'))].sort().map((file) => join(here, 'src/pages', file))
  const { outputs } = await Bun.build({ entrypoints, target: 'browser', format: 'esm', splitting: true, minify: true })
  const assets: Files = new Map(outputs.map((output) => [basename(output.path), output]))
  for (const asset of ['style.css', 'icon.svg']) assets.set(asset, Bun.file(join(here, asset)))
  return { assets, scripts: entrypoints.map((file) => basename(file, '.ts')) }
}

const htmlFile = (html: string): Blob => new Blob([html], { type: 'text/html;charset=utf-8' })

/** Creates a page for each script. The script draws the content in the browser. */
function makePages(storefront: Storefront, navigation: Navigation, scripts: readonly string[]): Files {
  const pages: Files = new Map()
  for (const script of scripts) {
    // A host serves 404.html at any depth, so its links start at the storefront's root.
    const root = script === '404' ? new URL(storefront.url ?? 'http://localhost/').pathname.replace(/\/*$/, '/') : ''
    const head = '<meta name="robots" content="noindex">'
    pages.set(`${script}.html`, htmlFile(htmlOf(storefront, navigation, { script, root, head, title: storefront.shop })))
  }
  return pages
}

/**
 * Builds every file of the storefront by its name, without the pages that `render.ts` renders.
 * @param navigation what the menu shows
 */
export async function build(storefront: Storefront, navigation: Navigation = noNavigation): Promise<Files> {
  const { assets, scripts } = await buildAssets()
  return new Map([...assets, ...makePages(storefront, navigation, scripts)])
}

/** How long a served storefront caches its menu. */
const catalogMs = 10_000

/** Responds with a file, compressed if the browser accepts that, as static hosts do. */
async function respond(request: Request, file: Blob, status = 200): Promise<Response> {
  const headers = { 'content-type': file.type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff', vary: 'accept-encoding' }
  if (!request.headers.get('accept-encoding')?.includes('gzip')) return new Response(file, { status, headers })
  return new Response(Bun.gzipSync(await file.arrayBuffer()), { status, headers: { ...headers, 'content-encoding': 'gzip' } })
}

/** Serves a storefront: files as a static host does, and pages that are rendered at each request. */
export async function serve(storefront: Storefront, port: number) {
  const { assets, scripts } = await buildAssets()
  let catalog: Promise<Catalog> | undefined
  let readAt = 0
  function currentCatalog(): Promise<Catalog> {
    if (!catalog || Date.now() - readAt > catalogMs) {
      readAt = Date.now()
      catalog = readCatalog({ ...storefront, url: storefront.url ?? server.url.href })
      // The next request tries again.
      catalog.catch(() => {
        catalog = undefined
      })
    }
    return catalog
  }
  /** While souk does not respond, the pages say so. */
  async function page(path: string): Promise<Blob | undefined> {
    const current = await currentCatalog().catch(() => undefined)
    const html = current && (await renderPage(current, path).catch(() => undefined))
    return html === undefined ? makePages(storefront, current?.navigation ?? noNavigation, scripts).get(path) : htmlFile(html)
  }
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname.slice(1) || 'index.html'
      const file = assets.get(path) ?? (await page(path))
      return file ? respond(request, file) : respond(request, (await page('404.html')) ?? new Blob(), 404)
    },
  })
  return server
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      souk: { type: 'string', default: 'http://127.0.0.1:3000' },
      shop: { type: 'string', default: 'demo' },
      images: { type: 'string', multiple: true, default: [] },
      url: { type: 'string' },
      out: { type: 'string' },
      port: { type: 'string', default: '4000' },
    },
  })
  const { help, out, port, url, ...rest } = values
  if (help) {
    process.stdout.write(usage)
    return
  }
  if (url !== undefined && !URL.canParse(url)) throw new Error(`--url=${url}: expected an address such as https://shop.example/`)
  const storefront: Storefront = { ...rest, ...(url === undefined ? {} : { url }) }
  if (out === undefined) {
    process.stdout.write(`${(await serve(storefront, Number(port))).url}\n`)
    return
  }
  if (url === undefined) throw new Error('--out needs --url=https://shop.example: the address of the storefront')
  const catalog = await readCatalog(storefront)
  const files = new Map<string, Blob | string>(await build(storefront, catalog.navigation))
  for await (const [path, text] of renderAll(catalog)) files.set(path, text)
  for (const [name, file] of files) await Bun.write(join(out, name), file)
  process.stdout.write(`${files.size} files in ${out}\n`)
}

if (import.meta.main)
  await main().catch((error: Error) => {
    const isUsageError = 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
    process.stderr.write(isUsageError ? `${error.message}\n\n${usage}` : `${error.message}\n`)
    process.exitCode = 1
  })
