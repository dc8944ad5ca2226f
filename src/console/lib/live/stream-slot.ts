/** Limits the event streams of all tabs. */

/** HTTP/1.1 browsers open six connections per server: streams leave three for requests. */
const slots = ['souk-events-1', 'souk-events-2', 'souk-events-3']

/**
 * Waits until this tab may open a stream; without one, pages poll.
 * @param signal cancels the wait
 * @returns releases the slot; resolves at once if the browser has no locks
 */
export function acquireStreamSlot(signal: AbortSignal): Promise<() => void> {
  // Missing outside a secure context.
  const locks = navigator.locks as LockManager | undefined
  if (!locks) return Promise.resolve(() => undefined)
  const lockRequests = new AbortController()
  const { promise, resolve } = Promise.withResolvers<() => void>()
  let hasSlot = false
  const resolveWithoutSlot = () => {
    lockRequests.abort()
    if (!hasSlot) resolve(() => undefined)
  }
  if (signal.aborted) resolveWithoutSlot()
  signal.addEventListener('abort', resolveWithoutSlot)
  for (const name of slots)
    locks
      .request(name, { signal: lockRequests.signal }, () => {
        // Two slots can be granted at once; one is enough.
        if (hasSlot || signal.aborted) return undefined
        hasSlot = true
        lockRequests.abort()
        return new Promise<void>((release) => resolve(release))
      })
      // Browsers without cookies refuse locks.
      .catch(() => lockRequests.signal.aborted || resolveWithoutSlot())
  return promise.finally(() => signal.removeEventListener('abort', resolveWithoutSlot))
}
