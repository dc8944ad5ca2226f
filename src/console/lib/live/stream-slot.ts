/** How many streams of events the tabs of a browser hold open together. */

/** By HTTP/1.1 a browser has six connections to a server, of all tabs: streams leave as many to what pages ask for. */
const slots = ['souk-events-1', 'souk-events-2', 'souk-events-3']

/**
 * Waits until this tab may hold a stream open. Whoever waits asks the server from time to time instead.
 * @param signal gives it up
 * @returns what lets the next tab have its turn; at once where the browser gives no locks
 */
export function streamSlot(signal: AbortSignal): Promise<() => void> {
  // Only in a secure context, which the login needs as well.
  const locks = navigator.locks as LockManager | undefined
  if (!locks) return Promise.resolve(() => undefined)
  const asking = new AbortController()
  const { promise, resolve } = Promise.withResolvers<() => void>()
  let isHeld = false
  const give = () => {
    asking.abort()
    if (!isHeld) resolve(() => undefined)
  }
  if (signal.aborted) give()
  signal.addEventListener('abort', give)
  for (const name of slots)
    locks
      .request(name, { signal: asking.signal }, () => {
        // Of two that come at once one is enough.
        if (isHeld || signal.aborted) return undefined
        isHeld = true
        asking.abort()
        return new Promise<void>((done) => resolve(done))
      })
      // Where no cookies are taken, locks are refused.
      .catch(() => asking.signal.aborted || give())
  return promise.finally(() => signal.removeEventListener('abort', give))
}
