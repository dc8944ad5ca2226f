/** What of a page stands in its address: filters, pages, windows. A link brings the same page up again. */
import { useLocation, useRoute } from 'preact-iso/router'

export type Query = {
  readonly of: Readonly<Record<string, string>>
  /** Changes some of it; what is empty goes away. Back to the first page, unless the page is what changes. */
  set(change: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }): void
  /** The address with such a change. */
  href(change: Readonly<Record<string, string | undefined>>): string
  readonly page: number
}

/** The query of the screen's address, and how it is changed. */
export function useQuery(): Query {
  // Of the screen's own address: while the next one is on its way, this one does not read anew by that of the next.
  const { path, query } = useRoute()
  const { route } = useLocation()
  function href(change: Readonly<Record<string, string | undefined>>): string {
    const { page: _, ...kept } = query
    const next = Object.entries({ ...kept, ...change }).filter((entry): entry is [string, string] => !!entry[1])
    return next.length === 0 ? path : `${path}?${new URLSearchParams(next)}`
  }
  return {
    of: query,
    href,
    set: (change, { replace = false } = {}) => route(href(change), replace),
    page: Math.max(1, Math.trunc(Number(query['page'])) || 1),
  }
}
