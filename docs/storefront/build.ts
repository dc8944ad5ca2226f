/**
 * Makes the storefront into static files: one page of HTML each, its script beside it.
 *
 *   bun build.ts [--souk=URL] [--shop=NAME] [--images=ORIGIN]… (--out=FOLDER | --port=4000)
 */
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'

const here = import.meta.dir

export type Storefront = {
  /** Where souk answers, such as `https://api.example`. */
  readonly souk: string
  /** The name of the shop. */
  readonly shop: string
  /** Other origins from which its pictures come, where they are not all souk's. */
  readonly images?: readonly string[]
}

/** What a page may load and ask: itself, and souk. Nothing stands inline, and nothing is asked of anybody else. */
const policyOf = ({ souk, images = [] }: Storefront): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: ${[new URL(souk).origin, ...images].join(' ')}`,
    `connect-src ${new URL(souk).origin}`,
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ')

const escaped = (text: string) => text.replace(/[&"<]/g, (one) => `&#${one.charCodeAt(0)};`)

/**
 * Every file of the storefront by its name.
 * @throws AggregateError where a source is wrong
 */
export async function build(storefront: Storefront): Promise<Map<string, Blob>> {
  const entrypoints = [...new Glob('*.ts').scanSync(join(here, 'src/pages'))].sort().map((file) => join(here, 'src/pages', file))
  const { outputs } = await Bun.build({ entrypoints, target: 'browser', format: 'esm', splitting: true, minify: true })
  const files = new Map<string, Blob>(outputs.map((output) => [basename(output.path), output]))
  for (const asset of ['style.css', 'icon.svg']) files.set(asset, Bun.file(join(here, asset)))
  const shell = await Bun.file(join(here, 'shell.html')).text()
  for (const page of entrypoints.map((file) => basename(file, '.ts'))) {
    const values: Record<string, string> = { page, policy: policyOf(storefront), souk: storefront.souk, shop: storefront.shop }
    const html = shell.replace(/\{\{(\w+)\}\}/g, (_, name: string) => escaped(values[name] ?? ''))
    files.set(`${page}.html`, new Blob([html], { type: 'text/html;charset=utf-8' }))
  }
  return files
}

/** Serves the files, as any static host does. */
export const serve = (files: ReadonlyMap<string, Blob>, port: number) =>
  Bun.serve({
    port,
    hostname: '127.0.0.1',
    fetch({ url }) {
      const file = files.get(new URL(url).pathname.slice(1) || 'index.html')
      return file
        ? new Response(file, { headers: { 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' } })
        : new Response('not found', { status: 404 })
    },
  })

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      souk: { type: 'string', default: 'http://127.0.0.1:3000' },
      shop: { type: 'string', default: 'demo' },
      images: { type: 'string', multiple: true, default: [] },
      out: { type: 'string' },
      port: { type: 'string', default: '4000' },
    },
  })
  const files = await build(values)
  if (values.out === undefined) {
    process.stdout.write(`${serve(files, Number(values.port)).url}\n`)
  } else {
    for (const [name, file] of files) await Bun.write(join(values.out, name), file)
    process.stdout.write(`${files.size} files in ${values.out}\n`)
  }
}
