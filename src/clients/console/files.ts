import { type ConsoleEntry, type ConsoleFile, type ConsoleFiles, contentTypeOf } from '../../core/console-files.ts'

/** What the build hands to the compiler as one more file to carry, as which it becomes `console-HASH.bin`. */
export const packFile = 'console.bin'
const packName = /(^|\/)console-[a-z0-9]+\.bin$/

type Span = readonly [start: number, length: number]
/** What stands before the bytes of all files: where each begins behind this, and how long it is. */
type Contents = {
  readonly entry: ConsoleEntry
  readonly files: Readonly<Record<string, { readonly body: Span; readonly encoded?: { readonly br: Span; readonly gzip: Span } }>>
}
/** In bytes: how long the contents are, in front of them. */
const headBytes = 4

let opened: Promise<ConsoleFiles> | undefined

/**
 * The console of this program: in the binary what it carries, each file read when it is asked for; from source what the bundler makes of
 * src/console, once a process.
 * @throws where a source is wrong, and again when it is asked again and still is
 */
export function openConsoleFiles(): Promise<ConsoleFiles> {
  opened ??= (Bun.isStandaloneExecutable ? carried() : bundled()).catch((error: unknown) => {
    opened = undefined
    throw error
  })
  return opened
}

/** By an address that no bundler follows: the binary has no use for one. */
async function bundled(): Promise<ConsoleFiles> {
  const { bundleConsole } = (await import(new URL('./bundle.ts', import.meta.url).href)) as typeof import('./bundle.ts')
  return bundleConsole()
}

async function carried(): Promise<ConsoleFiles> {
  const pack = (Bun.embeddedFiles as readonly (Blob & { readonly name: string })[]).find(({ name }) => packName.test(name))
  if (!pack) throw new Error('this program was compiled without the console')
  return unpacked(pack)
}

/** All files as one, which is read in parts. */
export function packed({ entry, files }: ConsoleFiles): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let at = 0
  const lay = (bytes: Uint8Array<ArrayBuffer> | Blob): Span => {
    if (bytes instanceof Blob) throw new TypeError('what was carried already is not packed again')
    parts.push(bytes)
    at += bytes.length
    return [at - bytes.length, bytes.length]
  }
  const spans = [...files].map(([name, { body, encoded }]) => {
    const span = { body: lay(body), ...(encoded ? { encoded: { br: lay(encoded.br), gzip: lay(encoded.gzip) } } : {}) }
    return [name, span] as const
  })
  const contents = new TextEncoder().encode(JSON.stringify({ entry, files: Object.fromEntries(spans) } satisfies Contents))
  const head = new DataView(new ArrayBuffer(headBytes))
  head.setUint32(0, contents.length)
  return Uint8Array.from(Buffer.concat([new Uint8Array(head.buffer), contents, ...parts]))
}

/** The files of a pack, none of which is read before somebody asks for it. */
export async function unpacked(pack: Blob): Promise<ConsoleFiles> {
  const begin = headBytes + new DataView(await pack.slice(0, headBytes).arrayBuffer()).getUint32(0)
  const { entry, files }: Contents = JSON.parse(await pack.slice(headBytes, begin).text())
  const part = ([start, length]: Span) => pack.slice(begin + start, begin + start + length)
  const all = Object.entries(files).map(([name, { body, encoded }]): [string, ConsoleFile] => [
    name,
    {
      body: part(body),
      contentType: contentTypeOf(name),
      ...(encoded ? { encoded: { br: part(encoded.br), gzip: part(encoded.gzip) } } : {}),
    },
  ])
  return { entry, files: new Map(all) }
}
