/** Limits the event streams of all tabs. */

/** HTTP/1.1 browsers open six connections per server: streams leave three for requests. */
const slots = ['souk-events-1', 'souk-events-2', 'souk-events-3']

/**
 * Waits until this tab may open a stream; without one, pages poll.
 * @param signal cancels the wait
 * @returns releases the slot; resolves at once if the browser has no locks
 */
export function streamSlot(signal: AbortSignal): Promise<() => void> {
  // Missing outside a secure context.
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
        // Two slots can be granted at once; one is enough.
        if (isHeld || signal.aborted) return undefined
        isHeld = true
        asking.abort()
        return new Promise<void>((done) => resolve(done))
      })
      // Browsers without cookies refuse locks.
      .catch(() => asking.signal.aborted || give())
  return promise.finally(() => signal.removeEventListener('abort', give))
}
