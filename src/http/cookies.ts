/** What a cookie of ours may hold. */
const valueForm = /^[\w-]{1,200}$/

/**
 * The value of a cookie that a request brings. One that comes more than once counts as none: another site of the same domain may have put
 * it beside ours.
 */
export function cookieIn({ headers }: Pick<Request, 'headers'>, name: string): string | undefined {
  const pairs = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  const [value, ...others] = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
  return value !== undefined && others.length === 0 && valueForm.test(value) ? value : undefined
}

/** Where a cookie goes. One that is `isSecure` has a name that browsers take by TLS alone. */
export type CookiePlace = { readonly name: string; readonly path: string; readonly isSecure: boolean }

/** @param maxAgeSeconds 0 removes it */
export const setCookie = ({ name, path, isSecure }: CookiePlace, value: string, maxAgeSeconds: number): string =>
  `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
