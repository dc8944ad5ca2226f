import { type ConsoleEntry, type ConsoleFile, type ConsoleFiles, contentTypeOf } from '../../core/console-files.ts'

/** The file that the build embeds, as `console-HASH.bin`. */
export const packFile = 'console.bin'
const packName = /(^|\/)console-[a-z0-9]+\.bin$/

type Span = readonly [start: number, length: number]
/** The index of the pack: where each file starts after it, and its length. */
type Contents = {
  readonly entry: ConsoleEntry
  readonly files: Readonly<Record<string, { readonly body: Span; readonly encoded?: { readonly br: Span; readonly gzip: Span } }>>
}
/** The length of the index, stored in front of it. */
const headBytes = 4

let openedFiles: Promise<ConsoleFiles> | undefined

/**
 * Opens the console's files: embedded in the binary, or bundled from source once per process.
 * @throws for an invalid source; the next call tries again
 */
export function openConsoleFiles(): Promise<ConsoleFiles> {
  openedFiles ??= (Bun.isStandaloneExecutable ? readEmbedded() : bundleFromSource()).catch((error: unknown) => {
    openedFiles = undefined
    throw error
  })
  return openedFiles
}

/** The import path is computed, so that the bundler does not include the module in the binary. */
async function bundleFromSource(): Promise<ConsoleFiles> {
  const { bundleConsole } = (await import(new URL('./bundle.ts', import.meta.url).href)) as typeof import('./bundle.ts')
  return bundleConsole()
}

async function readEmbedded(): Promise<ConsoleFiles> {
  const pack = (Bun.embeddedFiles as readonly (Blob & { readonly name: string })[]).find(({ name }) => packName.test(name))
  if (!pack) throw new Error('this program was compiled without the console')
  return unpackFiles(pack)
}

/** Packs all files into one. */
export function packFiles({ entry, files }: ConsoleFiles): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let position = 0
  const append = (bytes: Uint8Array<ArrayBuffer> | Blob): Span => {
    if (bytes instanceof Blob) throw new TypeError('files that are already packed cannot be packed again')
    chunks.push(bytes)
    position += bytes.length
    return [position - bytes.length, bytes.length]
  }
  const spans = [...files].map(([name, { body, encoded }]) => {
    const span = { body: append(body), ...(encoded ? { encoded: { br: append(encoded.br), gzip: append(encoded.gzip) } } : {}) }
    return [name, span] as const
  })
  const contents = new TextEncoder().encode(JSON.stringify({ entry, files: Object.fromEntries(spans) } satisfies Contents))
  const head = new DataView(new ArrayBuffer(headBytes))
  head.setUint32(0, contents.length)
  return Uint8Array.from(Buffer.concat([new Uint8Array(head.buffer), contents, ...chunks]))
}

/** Opens a pack. Files are read on demand. */
export async function unpackFiles(pack: Blob): Promise<ConsoleFiles> {
  const begin = headBytes + new DataView(await pack.slice(0, headBytes).arrayBuffer()).getUint32(0)
  const { entry, files }: Contents = JSON.parse(await pack.slice(headBytes, begin).text())
  const sliceOf = ([start, length]: Span) => pack.slice(begin + start, begin + start + length)
  const entries = Object.entries(files).map(([name, { body, encoded }]): [string, ConsoleFile] => [
    name,
    {
      body: sliceOf(body),
      contentType: contentTypeOf(name),
      ...(encoded ? { encoded: { br: sliceOf(encoded.br), gzip: sliceOf(encoded.gzip) } } : {}),
    },
  ])
  return { entry, files: new Map(entries) }
}
