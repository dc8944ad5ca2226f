/** What a screen reads first, asked for before it is drawn: then it is drawn once, with that. */

import { shop } from '../session/current-shop.ts'
import { fetched } from './api.ts'

/** What was asked for ahead. `data` where it is there already. */
export type Early<T> = { readonly coming: Promise<T>; readonly data?: T }
type Asked = { readonly coming: Promise<unknown>; data?: unknown }

/** By shop and path: what is of one is nothing to another. */
const asked = new Map<string, Asked>()
const keyOf = (path: string): string => `${shop.peek()?.id} ${path}`
/** Nobody wants what came before that. */
const keptMs = 2_000

/**
 * Asks for what is of the shop that the page is about; on a page that is about none of one's own, for nothing. What comes of it, a refusal too, is
 * the screen's to tell.
 * @returns resolves when there is an answer, or none
 */
export async function readAhead(path: string): Promise<void> {
  if (!shop.peek()) return
  const key = keyOf(path)
  const one: Asked = { coming: fetched(new Request(path, { credentials: 'omit' })).then((answer) => answer.json()) }
  asked.set(key, one)
  await one.coming.then(
    (data) => {
      one.data = data
    },
    () => undefined,
  )
  setTimeout(() => asked.delete(key), keptMs)
}

/** Takes what was asked for ahead, once. @param path with its query, as it was asked for; undefined: nothing of that */
export function takeAhead<T>(path: string | undefined): Early<T> | undefined {
  if (path === undefined) return undefined
  const found = asked.get(keyOf(path))
  asked.delete(keyOf(path))
  return found as Early<T> | undefined
}
