/**
 * Starts a thread that runs a file of this directory. In the compiled program the file is beside the entry, at its path
 * in the source tree; see the build script.
 */
export const startWorker = (name: string): Worker =>
  new Worker(
    import.meta.url.endsWith('/db/sqlite/worker.ts')
      ? new URL(`./${name}.ts`, import.meta.url).href
      : new URL(`./db/sqlite/${name}.js`, import.meta.url).href,
  )
