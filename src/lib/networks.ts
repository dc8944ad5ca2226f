/** Which addresses of the Internet are somebody's public ones, whatever their spelling. */
import { isIP } from 'node:net'
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'

export type Address = IPv4 | IPv6
/** An address and how many of its bits count. */
export type Block = [address: Address, bits: number]

/**
 * An address, whatever its spelling; one that is mapped from IPv4 (`::ffff:10.0.0.1`) as the IPv4 address. Undefined for a text
 * that is none, or that names a network card besides (`fe80::1%eth0`).
 */
export function addressOf(text: string): Address | undefined {
  // The library takes more for addresses: what C does (`010.2.3.4`, `0x7f.1`), and `::1.2.3.4` for `::ffff:1.2.3.4`.
  const isStrict = isIP(text) !== 0 && !/%|^::\d+\./.test(text)
  return isStrict && ipaddr.isValid(text) ? ipaddr.process(text) : undefined
}

/**
 * An IPv4 address, in its one spelling, as the number that it is; -1 for any other text. By hand: every request of a proxy's asks for it,
 * and a regular expression costs some ten times as much. By whole numbers of 32 bits, which cost a quarter of what others do.
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

/** Whether a text is an IPv4 address, in its one spelling. */
export const isIpv4 = (text: string): boolean => ipv4Number(text) >= 0

/** What a limit counts by: an IPv4 address, or the /64 that an IPv6 caller moves about in. */
export function limitKeyOf(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  if (!address.includes(':')) return address
  // Without the network card that a link-local address may name.
  const known = addressOf(address.replace(/%.*$/, ''))
  if (known === undefined || known.kind() === 'ipv4') return known?.toString() ?? address
  const groups = known.toNormalizedString().split(':')
  return `${groups.slice(0, 4).join(':')}::/64`
}

/**
 * The network that somebody may have as a whole, with all of its addresses: the /24 of an IPv4 address, the /48 of an IPv6 /64.
 * @param limitKey see `limitKeyOf`; what is no address is a network of its own
 */
export function networkOf(limitKey: string): string {
  // Asked of every body that arrives.
  if (isIpv4(limitKey)) return `${limitKey.slice(0, limitKey.lastIndexOf('.'))}.0/24`
  const [spelt = ''] = limitKey.split('/')
  const address = addressOf(spelt)
  if (!address) return limitKey
  const bits = address.kind() === 'ipv4' ? 24 : 48
  const bytes = address.toByteArray().map((byte, at) => (at < bits / 8 ? byte : 0))
  return `${ipaddr.fromByteArray(bytes)}/${bits}`
}

/**
 * The /48 of an IPv6 caller, of whose 65,536 parts one client may have all; undefined for everybody else.
 * @param limitKey see `limitKeyOf`
 */
export const siteOf = (limitKey: string): string | undefined => (limitKey.endsWith('::/64') ? networkOf(limitKey) : undefined)

/** So many times what an address may is for all of its site: as many as there are networks in a /60, which homes are given. */
export const siteTimes = 16

/** A CIDR block, or the block of one address; undefined for a text that is neither. */
export function blockOf(text: string): Block | undefined {
  const [spelt = '', bits, ...rest] = text.split('/')
  const address = addressOf(spelt)
  if (!address || rest.length > 0 || !/^\d{1,3}$/.test(bits ?? '0')) return undefined
  const bitsMax = address.kind() === 'ipv4' ? 32 : 128
  // Of one that is mapped from IPv4, the first 96 bits are the mapping.
  const before = bitsMax === 32 && isIP(spelt) === 6 ? 96 : 0
  const counted = bits === undefined ? bitsMax : Number(bits) - before
  return counted >= 0 && counted <= bitsMax ? [address, counted] : undefined
}

/** A list of CIDR blocks to test addresses against. Items were checked by the settings' parser. */
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
    // By numbers, since this is asked of every request.
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

/** What IANA keeps for special purposes (RFC 6890 and its registry), and what clouds answer their own machines on. */
const isSpecial = containing([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  // Azure's platform, on an address that looks public.
  '168.63.129.16',
  // Protocol assignments (Teredo among them), documentation, 6to4.
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
])
/** All that is given out to anybody so far: what is outside is local, multicast, embeds IPv4, or nobody's. */
const isGlobalUnicast = containing(['2000::/3'])

/** Where no country is: this machine, and networks that are somebody's own (RFC 1918, RFC 4193, link-local). */
const isOwnNetwork = containing([
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'],
  ...['::1', 'fc00::/7', 'fe80::/10'],
])

/** Whether an address is this machine's or of a private network, whatever its spelling. */
export function isPrivate(text: string): boolean {
  const address = addressOf(text)
  return address !== undefined && isOwnNetwork(address)
}

/** The address of a URL's host when that is one and no name, in its one spelling; `localhost` and what is under it are one too. */
export function literalAddressOf(url: URL): string | undefined {
  const host = hostOf(url)
  if (isIP(host) !== 0) return plainAddress(host)?.toString()
  return /(^|\.)localhost$/i.test(host) ? '127.0.0.1' : undefined
}

/** A URL's host without the brackets of IPv6 and the dots at the end, which resolvers ignore. */
export function hostOf({ hostname }: URL): string {
  const bare = hostname.replace(/\.+$/, '')
  // Without the dots it may turn out to be an address, in any spelling.
  const host = bare === hostname ? bare : (URL.parse(`http://${bare}/`)?.hostname ?? bare)
  return host.replace(/^\[|\]$/g, '')
}

/**
 * Tells which addresses may be called when somebody else chose them: public ones, and those in `allowedNetworks` (CIDR).
 * What embeds an IPv4 address (mapped, NAT64) is judged by that one.
 */
export function createAddressGuard(allowedNetworks: readonly string[]): (address: string) => boolean {
  const isAllowed = containing(allowedNetworks)
  return (text) => {
    const address = plainAddress(text)
    return address !== undefined && (isPublic(address) || isAllowed(address))
  }
}

const isPublic = (address: Address) => !isSpecial(address) && (address.kind() === 'ipv4' || isGlobalUnicast(address))

const isNat64 = containing(['64:ff9b::/96'])

/** An address, and what embeds an IPv4 address as that one. */
function plainAddress(text: string): Address | undefined {
  const address = addressOf(text)
  return address && isNat64(address) ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address
}
