import { type ConsoleEntry, type ConsoleFile, type ConsoleFiles, contentTypeOf } from '../../core/console-files.ts'

/** Where the build lays the files, by which the binary finds them in itself. */
export const consoleFolder = 'dist/console/'
/** What says how they belong together. */
export const entryFile = 'entry.json'
/** How a file is laid there in one of its forms. The end is what no loader of the bundler knows, so that it is carried as it is. */
export const laidName = (name: string, form: 'raw' | 'br' | 'gzip'): string => `${name}.${form}.bin`

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

const rawEnd = laidName('', 'raw')

/** As src/build.ts laid them out: each whole, and beside it compressed. */
async function carried(): Promise<ConsoleFiles> {
  const blobs = new Map(
    (Bun.embeddedFiles as readonly (Blob & { readonly name: string })[])
      .filter(({ name }) => name.startsWith(consoleFolder))
      .map((blob) => [blob.name.slice(consoleFolder.length), blob]),
  )
  const listed = blobs.get(laidName(entryFile, 'raw'))
  if (!listed) throw new Error('this program was compiled without the console')
  const files = new Map<string, ConsoleFile>()
  for (const [file, body] of blobs) {
    const name = file.slice(0, -rawEnd.length)
    if (!file.endsWith(rawEnd) || name === entryFile) continue
    const [br, gzip] = [blobs.get(laidName(name, 'br')), blobs.get(laidName(name, 'gzip'))]
    files.set(name, { body, contentType: contentTypeOf(name), ...(br && gzip ? { encoded: { br, gzip } } : {}) })
  }
  return { entry: (await listed.json()) as ConsoleEntry, files }
}
