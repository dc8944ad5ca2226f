/** The bundled files of the console. They are the same for every build of the program. */

type Bytes = Uint8Array<ArrayBuffer> | Blob

/** One file, uncompressed and compressed. */
export type ConsoleFile = {
  readonly body: Bytes
  readonly contentType: string
  readonly encoded?: { readonly br: Bytes; readonly gzip: Bytes }
}

/** Names of the files that the page loads at once. */
export type ConsoleEntry = {
  /** Runs before the rest is loaded, imports nothing, and starts the script. */
  readonly begin: string
  /** Fallback script. */
  readonly late: string
  readonly script: string
  readonly styles: readonly string[]
  /** Direct and indirect imports of the script. */
  readonly preloads: readonly string[]
}

/** The files by name, and those that the page refers to. */
export type ConsoleFiles = { readonly entry: ConsoleEntry; readonly files: ReadonlyMap<string, ConsoleFile> }

/** Pattern of the names of console files. */
export const consoleFileName = /^[\w.-]+-[a-z0-9]+\.(js|css|woff2|svg)$/

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript;charset=utf-8',
  css: 'text/css;charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/**
 * Returns the content type of a file.
 * @param name name of a console file
 */
export const contentTypeOf = (name: string): string => contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
