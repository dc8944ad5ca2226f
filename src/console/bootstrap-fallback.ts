/** Starts the page if bootstrap.ts did not load. A classic script of its own file, so that it runs independently. */
{
  const startMaxMs = 2_000
  const script = document.currentScript?.dataset['then']
  setTimeout(() => {
    if (!script || globalThis.soukBootstrap !== undefined) return
    import(script).catch((cause: unknown) => {
      document.documentElement.classList.add('startup-failed')
      throw cause
    })
  }, startMaxMs)
}
