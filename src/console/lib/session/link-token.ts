/** The token of a link, behind `#` in the address: browsers send that part to no server. */
import { signal } from '@preact/signals'

const tokenPattern = /^#\/?([\w-]{20,200})$/
const pages = { '/console/setup': 'setup', '/console/invitation': 'invitation' } as const

type LinkToken = { readonly page: (typeof pages)[keyof typeof pages]; readonly token: string }

/** Removes the token from the address bar. The history entry keeps it, so that a reload does not lose it. */
function takeToken(): LinkToken | undefined {
  const page = Object.entries(pages).find(([path]) => location.pathname === path)?.[1]
  if (!page) return undefined
  const token = tokenPattern.exec(location.hash)?.[1]
  if (!token) return (history.state as { linkToken?: LinkToken } | null)?.linkToken
  const found = { page, token }
  history.replaceState({ linkToken: found }, '', location.pathname + location.search)
  return found
}

/** The token that the page was opened with, until it is used. Read before the router sees the address. */
export const linkToken = signal<LinkToken | undefined>(takeToken())
