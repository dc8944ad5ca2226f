/** The console's files, as the bundler of Bun makes them of src/console: those of the program, the same for every instance of it. */

type Bytes = Uint8Array<ArrayBuffer> | Blob

/** One file, whole and as it was compressed beforehand. */
export type ConsoleFile = {
  readonly body: Bytes
  readonly contentType: string
  readonly encoded?: { readonly br: Bytes; readonly gzip: Bytes }
}

/** What the page loads at once, by the names of files. */
export type ConsoleEntry = {
  /** What runs before the rest is there, imports nothing, and has the script run. */
  readonly begin: string
  /** The same, where that does not come. */
  readonly late: string
  readonly script: string
  readonly styles: readonly string[]
  /** What the script imports at once, and what that imports. */
  readonly preloads: readonly string[]
}

export type ConsoleFiles = { readonly entry: ConsoleEntry; readonly files: ReadonlyMap<string, ConsoleFile> }

/** Under which a file may lie; what is not of this form is no file of the console. */
export const consoleFileName = /^[\w.-]+-[a-z0-9]+\.(js|css|woff2|svg)$/

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript;charset=utf-8',
  css: 'text/css;charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** @param name of a file of the console */
export const contentTypeOf = (name: string): string => contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
