/** What a screen reads first, asked for before it is drawn: then it is drawn once, with that. */

import { shop } from '../session/current-shop.ts'
import { fetchAuthorized } from './api.ts'

/** What was asked for ahead. `data` where it is there already. */
export type Prefetched<T> = { readonly coming: Promise<T>; readonly data?: T }
type PrefetchEntry = { readonly coming: Promise<unknown>; data?: unknown }

/** By shop and path: what is of one is nothing to another. */
const prefetches = new Map<string, PrefetchEntry>()
const keyOf = (path: string): string => `${shop.peek()?.id} ${path}`
/** Nobody wants what came before that. */
const lifetimeMs = 2_000

/**
 * Asks for what is of the shop that the page is about; on a page that is about none of one's own, for nothing. What comes of it, a refusal too, is
 * the screen's to tell.
 * @returns resolves when there is an answer, or none
 */
export async function prefetch(path: string): Promise<void> {
  if (!shop.peek()) return
  const key = keyOf(path)
  const one: PrefetchEntry = { coming: fetchAuthorized(new Request(path, { credentials: 'omit' })).then((answer) => answer.json()) }
  prefetches.set(key, one)
  await one.coming.then(
    (data) => {
      one.data = data
    },
    () => undefined,
  )
  setTimeout(() => prefetches.delete(key), lifetimeMs)
}

/** Takes what was asked for ahead, once. @param path with its query, as it was asked for; undefined: nothing of that */
export function takePrefetched<T>(path: string | undefined): Prefetched<T> | undefined {
  if (path === undefined) return undefined
  const found = prefetches.get(keyOf(path))
  prefetches.delete(keyOf(path))
  return found as Prefetched<T> | undefined
}
