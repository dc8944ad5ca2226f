/** Where one was: whoever goes back to a list finds the part of it that they came from. */
const visits = new Map<string, string>()
/** So many pages, those that were shown last: a console that is open for a day sees many. */
const visitsMax = 100
/** What of an address opens a window over a list: nobody comes back to that. */
const dialogParameters = ['do', 'new', 'edit', 'erase']

/** Notes that a page is shown. @param url its address with the query, which says which part of it */
export function recordVisit(path: string, url: string): void {
  const query = new URLSearchParams(url.slice(path.length))
  for (const name of dialogParameters) query.delete(name)
  visits.delete(path)
  visits.set(path, query.size === 0 ? path : `${path}?${query}`)
  const oldest = visits.keys().next().value
  if (visits.size > visitsMax && oldest !== undefined) visits.delete(oldest)
}

/** The address that a page was shown at last; its own where it never was. */
export const lastVisit = (path: string): string => visits.get(path) ?? path
