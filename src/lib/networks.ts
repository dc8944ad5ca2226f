/** Which addresses of the Internet are somebody's public ones, whatever their spelling. */
import { BlockList, isIP } from 'node:net'

/** A list of CIDR blocks to test addresses against. Items were checked by the settings' parser. */
export function blockList(blocks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const block of blocks) {
    const [address = '', bits] = block.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family)
  }
  return (address) => {
    const family = isIP(address)
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** What IANA keeps for special purposes (RFC 6890 and its registry), and what clouds answer their own machines on. */
const isSpecial = blockList([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  // Azure's platform, on an address that looks public.
  '168.63.129.16',
  // Protocol assignments (Teredo among them), documentation, 6to4.
  ...['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
])
/** All that is given out to anybody so far: what is outside is local, multicast, embeds IPv4, or nobody's. */
const isGlobalUnicast = blockList(['2000::/3'])

/** The address of a URL's host when that is one and no name, in its one spelling; `localhost` and what is under it are one too. */
export function literalAddressOf(url: URL): string | undefined {
  const host = hostOf(url)
  if (isIP(host) !== 0) return plainAddress(host)
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
  const isAllowed = blockList(allowedNetworks)
  return (address) => {
    const plain = plainAddress(address)
    return plain !== undefined && (isPublic(plain) || isAllowed(plain))
  }
}

const isPublic = (plain: string) => !isSpecial(plain) && (isIP(plain) === 4 || isGlobalUnicast(plain))

/** An address as all of its spellings come out; undefined for what is none, or names a network card besides (`fe80::1%eth0`). */
function plainAddress(address: string): string | undefined {
  if (isIP(address) === 4) return address
  if (isIP(address) !== 6) return undefined
  const spelt = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1)
  if (spelt === undefined) return undefined
  return embeddedIn(spelt) ?? spelt
}

/** The IPv4 address in `::ffff:0:0/96` or `64:ff9b::/96`. */
function embeddedIn(spelt: string): string | undefined {
  const [, high, low] = /^(?:::ffff|64:ff9b:):(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$/.exec(spelt) ?? []
  if (low === undefined) return undefined
  return [high ?? '0', low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
}
