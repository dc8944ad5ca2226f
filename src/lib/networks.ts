/** Classifies IP addresses in any spelling. */
import { isIP } from 'node:net'
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'

type Address = IPv4 | IPv6
/** An address and the number of significant bits. */
type AddressBlock = [address: Address, bits: number]

/**
 * Parses an address in any spelling; an IPv4-mapped one (`::ffff:10.0.0.1`) as IPv4. Undefined for other text and for
 * addresses with a zone (`fe80::1%eth0`).
 */
export function addressOf(text: string): Address | undefined {
  // The library accepts more: C notation (`010.2.3.4`, `0x7f.1`), and `::1.2.3.4` for `::ffff:1.2.3.4`.
  const isStrict = isIP(text) !== 0 && !/%|^::\d+\./.test(text)
  return isStrict && ipaddr.isValid(text) ? ipaddr.process(text) : undefined
}

/**
 * Returns a canonical IPv4 address as a number; -1 for other text. Hand-written: proxied requests need it, and a
 * regular expression costs ten times as much.
 */
export function ipv4Number(text: string): number {
  const { length } = text
  if (length > 15) return -1
  let bits = 0
  let part = 0
  let digits = 0
  let dots = 0
  for (let at = 0; at < length; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit === dot) {
      if (digits === 0 || ++dots > 3) return -1
      bits = (bits << 8) | part
      part = digits = 0
    } else if (digit < 0 || digit > 9 || (digits > 0 && part === 0)) return -1
    else {
      part = part * 10 + digit
      if (++digits > 3 || part > 255) return -1
    }
  }
  return dots === 3 && digits > 0 ? ((bits << 8) | part) >>> 0 : -1
}
/** As a digit. */
const dot = '.'.charCodeAt(0) - 48

/** Checks for a canonical IPv4 address. */
export const isIpv4 = (text: string): boolean => ipv4Number(text) >= 0

/** Returns the key of rate limits: an IPv4 address, or the /64 of an IPv6 address. */
export function limitKeyOf(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  if (!address.includes(':')) return address
  // Without the zone of a link-local address.
  const parsed = addressOf(address.replace(/%.*$/, ''))
  if (parsed === undefined || parsed.kind() === 'ipv4') return parsed?.toString() ?? address
  const groups = parsed.toNormalizedString().split(':')
  return `${groups.slice(0, 4).join(':')}::/64`
}

/**
 * Returns the network of a client: the /24 of an IPv4 address, the /48 of an IPv6 /64.
 * @param limitKey see `limitKeyOf`; other text is its own network
 */
export function networkOf(limitKey: string): string {
  // Called for every request body.
  if (isIpv4(limitKey)) return `${limitKey.slice(0, limitKey.lastIndexOf('.'))}.0/24`
  const [spelt = ''] = limitKey.split('/')
  const address = addressOf(spelt)
  if (!address) return limitKey
  const bits = address.kind() === 'ipv4' ? 24 : 48
  const bytes = address.toByteArray().map((byte, at) => (at < bits / 8 ? byte : 0))
  return `${ipaddr.fromByteArray(bytes)}/${bits}`
}

/**
 * Returns the /48 of an IPv6 client, which may own all of its 65,536 /64 networks; undefined for other clients.
 * @param limitKey see `limitKeyOf`
 */
export const siteOf = (limitKey: string): string | undefined => (limitKey.endsWith('::/64') ? networkOf(limitKey) : undefined)

/** Limit of a /48 as a multiple of one address: the number of /64 networks in a /60, the usual size for homes. */
export const siteTimes = 16

/** Parses a CIDR block or a single address; undefined for other text. */
export function blockOf(text: string): AddressBlock | undefined {
  const [spelt = '', bits, ...rest] = text.split('/')
  const address = addressOf(spelt)
  if (!address || rest.length > 0 || !/^\d{1,3}$/.test(bits ?? '0')) return undefined
  const bitsMax = address.kind() === 'ipv4' ? 32 : 128
  // The first 96 bits of an IPv4-mapped address are the mapping.
  const before = bitsMax === 32 && isIP(spelt) === 6 ? 96 : 0
  const counted = bits === undefined ? bitsMax : Number(bits) - before
  return counted >= 0 && counted <= bitsMax ? [address, counted] : undefined
}

/** Creates a test for addresses in CIDR blocks. The settings' parser has validated them. */
export function blockList(texts: readonly string[]): (address: string) => boolean {
  const contains = containing(texts)
  const ofIpv4 = texts.flatMap((text) => {
    const [network, bits] = blockOf(text) ?? []
    const size = 2 ** (32 - (bits ?? 0))
    return network?.kind() === 'ipv4' ? [{ size, nth: Math.floor(ipv4Number(network.toString()) / size) }] : []
  })
  return (text) => {
    if (texts.length === 0) return false
    const number = ipv4Number(text)
    // By numbers, because every request is tested.
    if (number >= 0) return ofIpv4.some(({ size, nth }) => Math.floor(number / size) === nth)
    const address = addressOf(text)
    return address !== undefined && contains(address)
  }
}

function containing(texts: readonly string[]): (address: Address) => boolean {
  const blocks = texts.map((text) => {
    const block = blockOf(text)
    if (!block) throw new Error(`not a CIDR block: ${text}`)
    return block
  })
  return (address) => blocks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))
}

/** `containing` of a constant list, which is parsed at the first test. */
function containingConstant(texts: readonly string[]): (address: Address) => boolean {
  let contains: ReturnType<typeof containing> | undefined
  return (address) => {
    contains ??= containing(texts)
    return contains(address)
  }
}

/** Special-purpose blocks (RFC 6890 and its registry), and addresses at which clouds serve their own machines. */
const isSpecial = containingConstant([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  // Azure's platform, at a public address.
  '168.63.129.16',
  // Protocol assignments (such as Teredo), documentation, 6to4.
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
])
/** All allocated global unicast addresses. Others are local, multicast, embed IPv4, or unallocated. */
const isGlobalUnicast = containingConstant(['2000::/3'])

/** This machine and private networks (RFC 1918, RFC 4193, link-local): they have no country. */
const isOwnNetwork = containingConstant([
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'],
  ...['::1', 'fc00::/7', 'fe80::/10'],
])

/** Returns whether an address is loopback or private, in any spelling. */
export function isPrivate(text: string): boolean {
  const address = addressOf(text)
  return address !== undefined && isOwnNetwork(address)
}

/** Returns the canonical address of a URL whose host is an address or below `localhost`; undefined for names. */
export function literalAddressOf(url: URL): string | undefined {
  const host = hostOf(url)
  if (isIP(host) !== 0) return plainAddress(host)?.toString()
  return /(^|\.)localhost$/i.test(host) ? '127.0.0.1' : undefined
}

/** Returns a URL's host without IPv6 brackets and trailing dots, which resolvers ignore. */
export function hostOf({ hostname }: URL): string {
  const bare = hostname.replace(/\.+$/, '')
  // Without the dots it may be an address in any spelling.
  const host = bare === hostname ? bare : (URL.parse(`http://${bare}/`)?.hostname ?? bare)
  return host.replace(/^\[|\]$/g, '')
}

/**
 * Creates a test for addresses that others chose: public ones and those in `allowedNetworks` (CIDR) pass. An address
 * that embeds IPv4 (mapped, NAT64) is tested by that one.
 */
export function createAddressGuard(allowedNetworks: readonly string[]): (address: string) => boolean {
  const isAllowed = containing(allowedNetworks)
  return (text) => {
    const address = plainAddress(text)
    return address !== undefined && (isPublic(address) || isAllowed(address))
  }
}

const isPublic = (address: Address) => !isSpecial(address) && (address.kind() === 'ipv4' || isGlobalUnicast(address))

const isNat64 = containingConstant(['64:ff9b::/96'])

/** Parses an address; one that embeds IPv4 as IPv4. */
function plainAddress(text: string): Address | undefined {
  const address = addressOf(text)
  return address && isNat64(address) ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address
}
