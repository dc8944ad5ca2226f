/** Browser storage. It throws if the browser blocks cookies. */

/** Unique per page, so that tabs that are restored together do not interfere. */
const probe = `souk-console-probe-${crypto.getRandomValues(new Uint32Array(1)).join()}`

/**
 * Returns whether the browser keeps the session cookie; if not, a session lasts as long as the page. Over plain HTTP
 * only localhost keeps it.
 * The test blocks for some milliseconds, so it runs once.
 */
export const cookiesPersist = (): boolean => (cookieTest ??= testCookie())
let cookieTest: boolean | undefined
function testCookie(): boolean {
  if (!isSecureContext) return false
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: the test must set and read a cookie synchronously
    document.cookie = `${probe}=1; Path=/console; SameSite=Strict; Max-Age=60`
    const isStored = document.cookie.includes(`${probe}=1`)
    // biome-ignore lint/suspicious/noDocumentCookie: as above
    document.cookie = `${probe}=; Path=/console; SameSite=Strict; Max-Age=0`
    return isStored
  } catch {
    return false
  }
}

type StorageName = 'localStorage' | 'sessionStorage'

/** Reads a stored value; null if there is none or storage is blocked. */
export function readStored(storage: StorageName, name: string): string | null {
  try {
    return globalThis[storage].getItem(name)
  } catch {
    return null
  }
}

/**
 * Stores a value.
 * @returns whether that succeeded
 */
export function writeStored(storage: StorageName, name: string, value: string): boolean {
  try {
    globalThis[storage].setItem(name, value)
    return true
  } catch {
    return false
  }
}
