/** Form of the values of our cookies. */
const valueForm = /^[\w-]{1,200}$/
/** Maximum number of values of one name that are considered. */
const valuesMax = 5
/** Maximum number of parent domains, the nearest first. */
const domainsMax = 6

/** Returns all values of a cookie name. */
export const cookiesIn = ({ headers }: Pick<Request, 'headers'>, name: string): string[] =>
  (headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))

/** Returns the value of a cookie. Several values count as none, because another site of the domain may have set one. */
export function cookieIn(request: Pick<Request, 'headers'>, name: string): string | undefined {
  const [value, ...others] = cookiesIn(request, name)
  return value !== undefined && others.length === 0 && valueForm.test(value) ? value : undefined
}

/** Returns up to five values that may be ours, if a cookie occurs several times. */
export const possibleCookiesIn = (request: Pick<Request, 'headers'>, name: string): string[] =>
  cookiesIn(request, name)
    .filter((value) => valueForm.test(value))
    .slice(0, valuesMax)

/** Attributes of a cookie. A secure one has a name prefix that browsers accept only over TLS. */
export type CookieOptions = { readonly name: string; readonly path: string; readonly isSecure: boolean }

/** @param maxAgeSeconds 0 removes it */
export const setCookie = ({ name, path, isSecure }: CookieOptions, value: string, maxAgeSeconds: number, domain?: string): string =>
  `${name}=${value}; Path=${path};${domain === undefined ? '' : ` Domain=${domain};`} Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

/**
 * Returns headers that delete every cookie of this name that a browser may send to its path: ours, those of parent
 * paths, and those of parent domains, which any site of the domain may set.
 * @param hostname of the page, without port
 */
export function removalsOf(cookie: CookieOptions, hostname: string): string[] {
  // `/a/b` receives cookies of /, /a, /a/ and /a/b.
  const parts = cookie.path.split('/').slice(1)
  const above = parts.slice(0, -1).flatMap((_, at) => {
    const path = `/${parts.slice(0, at + 1).join('/')}`
    return [path, `${path}/`]
  })
  const labels = /^\[|^[\d.]+$/.test(hostname) ? [] : hostname.split('.')
  const domains = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  return ['/', ...above, cookie.path].flatMap((path) =>
    [undefined, ...domains.slice(0, domainsMax)].map((domain) => setCookie({ ...cookie, path }, '', 0, domain)),
  )
}
