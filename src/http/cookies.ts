/** What a cookie of ours may hold. */
const valueForm = /^[\w-]{1,200}$/
/** Of a name that is there so many times more than one has put it there who wants us to be busy. */
const valuesMax = 5
/** Of a host's name so many parents are gone through, the nearest first. */
const domainsMax = 6

/** All values that a request brings under a name, ours or not. */
export const cookiesIn = ({ headers }: Pick<Request, 'headers'>, name: string): string[] =>
  (headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))

/**
 * The value of a cookie that a request brings. One that comes more than once counts as none: another site of the same domain may have put
 * it beside ours.
 */
export function cookieIn(request: Pick<Request, 'headers'>, name: string): string | undefined {
  const [value, ...others] = cookiesIn(request, name)
  return value !== undefined && others.length === 0 && valueForm.test(value) ? value : undefined
}

/** The values that could be ours, a few of them at most: of a cookie that comes more than once nobody can tell which is. */
export const possibleCookiesIn = (request: Pick<Request, 'headers'>, name: string): string[] =>
  cookiesIn(request, name)
    .filter((value) => valueForm.test(value))
    .slice(0, valuesMax)

/** Where a cookie goes. One that is `isSecure` has a name that browsers take by TLS alone. */
export type CookiePlace = { readonly name: string; readonly path: string; readonly isSecure: boolean }

/** @param maxAgeSeconds 0 removes it */
export const setCookie = ({ name, path, isSecure }: CookiePlace, value: string, maxAgeSeconds: number, domain?: string): string =>
  `${name}=${value}; Path=${path};${domain === undefined ? '' : ` Domain=${domain};`} Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

/**
 * What removes each cookie of that name that a browser could send to its path, whoever has put it there: ours, that of a path above, and
 * that of the host's domain or one above, which any site below it may set.
 * @param hostname of the page, without a port
 */
export function removalsOf(place: CookiePlace, hostname: string): string[] {
  // `/a/b` is sent what was set for /, /a, /a/ and /a/b.
  const parts = place.path.split('/').slice(1)
  const above = parts.slice(0, -1).flatMap((_, at) => {
    const path = `/${parts.slice(0, at + 1).join('/')}`
    return [path, `${path}/`]
  })
  const labels = /^\[|^[\d.]+$/.test(hostname) ? [] : hostname.split('.')
  const domains = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  return ['/', ...above, place.path].flatMap((path) =>
    [undefined, ...domains.slice(0, domainsMax)].map((domain) => setCookie({ ...place, path }, '', 0, domain)),
  )
}
