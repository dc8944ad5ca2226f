/** DNS host names: ASCII, lower case, without port and trailing dot. */
import { isIP } from 'node:net'

const hostLengthMax = 253
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Top-level names that are not in the public DNS (RFC 6761, 6762, 7686, 8375, 9476; ICANN's `internal`), so no proof
 * can exist.
 */
const reservedEndings: ReadonlySet<string> = new Set(['localhost', 'local', 'internal', 'invalid', 'onion', 'alt', 'arpa'])

/**
 * Normalizes a host name: `Bücher.Example` becomes `xn--bcher-kva.example`. Undefined for an address, a port, a
 * trailing dot, a single label, or a name that is too long.
 */
export function normalizeHost(text: string): string | undefined {
  // Other parts of URLs are not names; a percent sign would be decoded.
  if (text.length > hostLengthMax || /[\s:/?#@%\\[\]<>^|]/.test(text) || text.endsWith('.')) return undefined
  const host = URL.parse(`http://${text}/`)?.hostname
  if (host === undefined || host.length > hostLengthMax || isIP(host) !== 0) return undefined
  const labels = host.split('.')
  return labels.length > 1 && labels.every((one) => label.test(one)) ? host : undefined
}

/** Returns whether a normalized name is reserved. */
export const isReservedHost = (host: string): boolean => reservedEndings.has(host.slice(host.lastIndexOf('.') + 1))

/** Normalizes the host name of a storefront as pages report it, in any case and with or without a trailing dot. */
export const storefrontHostOf = (text: string): string | undefined => normalizeHost(text.endsWith('.') ? text.slice(0, -1) : text)
