/** Requests a screen's first data before the screen is drawn. */

import { shop } from '../session/current-shop.ts'
import { fetchAuthorized } from './api.ts'

/** A prefetched response. `data` is set once it arrived. */
export type Prefetched<T> = { readonly promise: Promise<T>; readonly data?: T }
type PrefetchEntry = { readonly promise: Promise<unknown>; data?: unknown }

/** Prefetches by shop and path. */
const prefetches = new Map<string, PrefetchEntry>()
const keyOf = (path: string): string => `${shop.peek()?.id} ${path}`
/** How long an unused prefetch stays, in milliseconds. */
const lifetimeMs = 2_000

/**
 * Prefetches a path of the current shop; does nothing outside a shop. The screen that takes the prefetch handles its
 * error.
 * @returns resolves when the response arrived or failed
 */
export async function prefetch(path: string): Promise<void> {
  if (!shop.peek()) return
  const key = keyOf(path)
  const entry: PrefetchEntry = { promise: fetchAuthorized(new Request(path, { credentials: 'omit' })).then((response) => response.json()) }
  prefetches.set(key, entry)
  await entry.promise.then(
    (data) => {
      entry.data = data
    },
    () => undefined,
  )
  setTimeout(() => prefetches.delete(key), lifetimeMs)
}

/**
 * Takes a prefetched response, once.
 * @param path with its query
 */
export function takePrefetched<T>(path: string | undefined): Prefetched<T> | undefined {
  if (path === undefined) return undefined
  const entry = prefetches.get(keyOf(path))
  prefetches.delete(keyOf(path))
  return entry as Prefetched<T> | undefined
}
