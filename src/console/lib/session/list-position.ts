/** The last URL of each page, so that going back to a list restores its filters and page. */
const visits = new Map<string, string>()
const visitsMax = 100
/** Parameters that open a dialog; these are not restored. */
const dialogParameters = ['do', 'new', 'edit', 'erase']

/** Records the URL of a shown page. */
export function recordVisit(path: string, url: string): void {
  const query = new URLSearchParams(url.slice(path.length))
  for (const name of dialogParameters) query.delete(name)
  visits.delete(path)
  visits.set(path, query.size === 0 ? path : `${path}?${query}`)
  const oldest = visits.keys().next().value
  if (visits.size > visitsMax && oldest !== undefined) visits.delete(oldest)
}

/** Returns the last URL of a page, or its path. */
export const lastVisit = (path: string): string => visits.get(path) ?? path
