/** Names of hosts as the DNS has them: ASCII, lower case, without port and trailing dot. */
import { isIP } from 'node:net'

export const hostLengthMax = 253
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Endings that nobody can have in the public DNS (RFC 6761, 6762, 7686, 8375, 9476; ICANN's `internal`): no proof could ever be seen. */
const reservedEndings: ReadonlySet<string> = new Set(['localhost', 'local', 'internal', 'invalid', 'onion', 'alt', 'arpa'])

/**
 * A host name in its one spelling: `Bücher.Example` is `xn--bcher-kva.example`. Undefined for what is none: an address, a name with a
 * port or a trailing dot, without a dot, or too long.
 */
export function normalHost(text: string): string | undefined {
  // Whatever else a URL could hold is no part of a name; a percent would be decoded.
  if (text.length > hostLengthMax || /[\s:/?#@%\\[\]<>^|]/.test(text) || text.endsWith('.')) return undefined
  const host = URL.parse(`http://${text}/`)?.hostname
  if (host === undefined || host.length > hostLengthMax || isIP(host) !== 0) return undefined
  const labels = host.split('.')
  return labels.length > 1 && labels.every((one) => label.test(one)) ? host : undefined
}

/** Whether a host name, in its one spelling, can be nobody's. */
export const isReservedHost = (host: string): boolean => reservedEndings.has(host.slice(host.lastIndexOf('.') + 1))

/** The host name that an address of a storefront is, as pages tell it: in any case, and with the trailing dot of one that is whole. */
export const storefrontHostOf = (text: string): string | undefined => normalHost(text.endsWith('.') ? text.slice(0, -1) : text)
