/** What the browser keeps between two visits. One that is told to take no cookies keeps nothing, and throws where it is asked. */

/** Of this page alone: tabs that are restored at once would take away one another's. */
const probe = `souk-console-probe-${crypto.getRandomValues(new Uint32Array(1)).join()}`

/**
 * Whether the cookie of a session stays: where it does not, a session lasts as long as the page. By plain http, but on the machine itself,
 * browsers take no such cookie. To ask for it the page stands still for some milliseconds: it is asked once, by whoever wants to know first.
 */
export const cookiesPersist = (): boolean => (cookieTest ??= testCookie())
let cookieTest: boolean | undefined
function testCookie(): boolean {
  if (!isSecureContext) return false
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: it is asked whether there is any, at once
    document.cookie = `${probe}=1; Path=/console; SameSite=Strict; Max-Age=60`
    const isKept = document.cookie.includes(`${probe}=1`)
    // biome-ignore lint/suspicious/noDocumentCookie: as above
    document.cookie = `${probe}=; Path=/console; SameSite=Strict; Max-Age=0`
    return isKept
  } catch {
    return false
  }
}

type StorageName = 'localStorage' | 'sessionStorage'

/** What was kept under a name, or null, also where nothing is kept. */
export function readStored(place: StorageName, name: string): string | null {
  try {
    return globalThis[place].getItem(name)
  } catch {
    return null
  }
}

/** Keeps it, where the browser does. @returns whether it does */
export function writeStored(place: StorageName, name: string, value: string): boolean {
  try {
    globalThis[place].setItem(name, value)
    return true
  } catch {
    return false
  }
}
