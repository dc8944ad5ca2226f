/** Has the page run where bootstrap.ts, which does so otherwise, does not come: no module, and alone in a file, as that is. */
{
  const beginMaxMs = 2_000
  const script = document.currentScript?.dataset['then']
  setTimeout(() => {
    if (!script || globalThis.soukBootstrap !== undefined) return
    import(script).catch((cause: unknown) => {
      document.documentElement.classList.add('cannot-begin')
      throw cause
    })
  }, beginMaxMs)
}
