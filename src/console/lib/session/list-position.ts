/** Where one was: whoever goes back to a list finds the part of it that they came from. */
const last = new Map<string, string>()
/** So many pages, those that were shown last: a console that is open for a day sees many. */
const visitsMax = 100
/** What of an address opens a window over a list: nobody comes back to that. */
const windows = ['do', 'new', 'edit', 'erase']

/** Notes that a page is shown. @param url its address with the query, which says which part of it */
export function noteVisit(path: string, url: string): void {
  const query = new URLSearchParams(url.slice(path.length))
  for (const name of windows) query.delete(name)
  last.delete(path)
  last.set(path, query.size === 0 ? path : `${path}?${query}`)
  const oldest = last.keys().next().value
  if (last.size > visitsMax && oldest !== undefined) last.delete(oldest)
}

/** The address that a page was shown at last; its own where it never was. */
export const lastVisit = (path: string): string => last.get(path) ?? path
