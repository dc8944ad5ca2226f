/** What a request's URL must be, whatever it asks for. */
import { AppError } from '../core/errors.ts'

export const urlLengthMax = 8_192
const hostPattern = /^(?:[a-z0-9_](?:[a-z0-9._-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/** The path of a request; also where the Host header makes no URL of it. */
export const pathnameOf = (url: string): string =>
  (URL.parse(url) ?? URL.parse(`http://unnamed${url.replace(/^http:\/\/[^/]*/, '')}`))?.pathname ?? ''

/** Why a Host header is refused; undefined when it is not. */
export function hostRefusal(host: string, allowedHosts: readonly string[]): AppError | undefined {
  // What ends in a number is an IPv4 address to a URL, and a port may have five digits and be none.
  if (!hostPattern.test(host) || !URL.canParse(`http://${host}/`)) return new AppError('INVALID', 'host (header): not a host name')
  if (allowedHosts.length > 0 && !allowedHosts.includes(host.replace(/:\d+$/, '').toLowerCase()))
    return new AppError('INVALID', 'host (header): not served here')
  return undefined
}

/** Whether nothing can be wrong with a URL, at a look: it is short, and there is nothing to decode in it. */
export const isPlainUrl = (url: string): boolean => url.length <= urlLengthMax && !url.includes('%')

/** Why a URL is refused, query and all; undefined when it is not. */
export function urlRefusal(url: string): AppError | undefined {
  if (url.length > urlLengthMax) return new AppError('INVALID', `The URL is longer than ${urlLengthMax} characters`)
  if (url.includes('%') && !decodes(url)) return new AppError('INVALID', 'The URL is not percent-encoded UTF-8, or holds a NUL character')
  return undefined
}

function decodes(url: string): boolean {
  try {
    return !decodeURIComponent(url.replaceAll('+', ' ')).includes('\0')
  } catch {
    return false
  }
}
