/** Validates the URL and Host of requests. */
import { AppError, invalidField } from '../core/errors.ts'

export const urlLengthMax = 8_192
const hostPattern = /^(?:[a-z0-9_](?:[a-z0-9._-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/** Returns the path of a request, also if its Host header is invalid. */
export const pathnameOf = (url: string): string =>
  (URL.parse(url) ?? URL.parse(`http://unnamed${url.replace(/^http:\/\/[^/]*/, '')}`))?.pathname ?? ''

/** Returns why a Host header is refused; undefined if it is valid. */
export function hostRefusal(host: string, allowedHosts: readonly string[]): AppError | undefined {
  // URL parsing rejects numeric names that are not IPv4 addresses, and ports above 65535.
  if (!hostPattern.test(host) || !URL.canParse(`http://${host}/`)) return invalidField('host', 'must be a host name')
  if (allowedHosts.length > 0 && !allowedHosts.includes(host.replace(/:\d+$/, '').toLowerCase()))
    return invalidField('host', 'not served here')
  return undefined
}

/** Returns whether a URL is valid at a glance: short, without percent encoding. */
export const isPlainUrl = (url: string): boolean => url.length <= urlLengthMax && !url.includes('%')

/** Returns why a URL with its query is refused; undefined if it is valid. */
export function urlRefusal(url: string): AppError | undefined {
  if (url.length > urlLengthMax) return new AppError('INVALID', `The URL is longer than ${urlLengthMax} characters`)
  if (url.includes('%') && !decodes(url)) return new AppError('INVALID', 'The URL must be percent-encoded UTF-8 without a NUL character')
  return undefined
}

function decodes(url: string): boolean {
  try {
    return !decodeURIComponent(url.replaceAll('+', ' ')).includes('\0')
  } catch {
    return false
  }
}

/** Returns the host of a request as sent, in lower case. */
export const hostOf = ({ headers, url }: Pick<Request, 'headers' | 'url'>): string =>
  (headers.get('host') ?? URL.parse(url)?.host ?? '').toLowerCase()

/** Returns path and query of a URL as sent. */
export const pathAndQuery = (url: string): string => url.slice(url.indexOf('/', 8))
