/** The part of a page's state that its URL holds: filters, page number, dates. */
import { useLocation, useRoute } from 'preact-iso/router'

export type Query = {
  readonly values: Readonly<Record<string, string>>
  /** Changes parameters; empty ones are removed. Returns to the first page unless the page itself changes. */
  set(change: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }): void
  /** Returns the URL with such a change. */
  href(change: Readonly<Record<string, string | undefined>>): string
  readonly page: number
}

/** Reads the URL of the current screen. `page` is 1 if the URL has none or an invalid one. */
export function useQuery(): Query {
  // The screen's own URL: while the next screen loads, this one does not read by its parameters.
  const { path, query } = useRoute()
  const { route } = useLocation()
  function href(change: Readonly<Record<string, string | undefined>>): string {
    const { page: _, ...otherParameters } = query
    const next = Object.entries({ ...otherParameters, ...change }).filter((entry): entry is [string, string] => !!entry[1])
    return next.length === 0 ? path : `${path}?${new URLSearchParams(next)}`
  }
  return {
    values: query,
    href,
    set: (change, { replace = false } = {}) => route(href(change), replace),
    page: Math.max(1, Math.trunc(Number(query['page'])) || 1),
  }
}
