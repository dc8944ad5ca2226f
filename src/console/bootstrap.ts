/**
 * Requests the session before the modules load, and then starts the page. It is a classic script without imports, so
 * that it runs first.
 * bootstrap-fallback.ts and lib/session/session.ts do the same if this script fails or is late.
 */
{
  // Applied here, so that the page is not drawn in other colours first.
  try {
    const scheme = localStorage.getItem('souk-scheme')
    if (scheme) document.documentElement.dataset['scheme'] = scheme
  } catch {
    // The browser blocks storage.
  }

  /** How long the script waits for the session lock. A browser that needs longer does not grant the lock. */
  const lockMaxMs = 2_000
  const script = document.currentScript?.dataset['then']
  // The module runs once, however often it is imported. The error is rethrown so that the browser's console shows it.
  const startPage = (): undefined => {
    if (script)
      void import(script).catch((cause: unknown) => {
        document.documentElement.classList.add('startup-failed')
        throw cause
      })
  }

  const controller = new AbortController()
  const headers = { 'content-type': 'application/json' }
  let isSent = false
  // If another tab holds the lock, lib/session/session.ts waits for its turn instead.
  const sendUnderLock = (lock: unknown): Promise<Response> | undefined => {
    if (!lock || controller.signal.aborted) return startPage()
    isSent = true
    const response = fetch('/console/session', { method: 'POST', headers, body: '{}', signal: controller.signal })
    startPage()
    return response
  }
  const requestSession = async () =>
    'locks' in navigator ? navigator.locks.request('souk-console-session', { ifAvailable: true }, sendUnderLock) : sendUnderLock(true)
  // A failure resolves to undefined, and session.ts then sends the request itself.
  if (globalThis.soukBootstrap === undefined) {
    globalThis.soukBootstrap = { response: requestSession().catch(startPage), controller, isSent: () => isSent }
    setTimeout(startPage, lockMaxMs)
  }
}
