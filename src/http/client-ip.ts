import { addressOf, blockList, isIpv4 } from '../lib/networks.ts'

export type ClientAddress = (request: Request, peer: string | undefined) => string | undefined

/**
 * What proxies and CDNs add to a request: standard (`Forwarded`, `Via`), customary (`X-Forwarded-…`, also with something before it), and
 * whatever names a client's address (`X-Real-IP`, `CF-Connecting-IP`, `Fastly-Client-IP`, `X-Azure-ClientIP`, `X-Envoy-External-Address`).
 */
const forwardingHeader =
  /^(?:via|forwarded(?:-.*)?|x-(?:.+-)?forwarded(?:-.*)?|(?:.+-)?(?:real|client|connecting|connecting-client|originating|remote)-?ip(?:v6)?|(?:.+-)?(?:client|remote|external)-addr(?:ess)?|cf-(?:ray|visitor|pseudo-ipv4)|x-proxyuser-ip|x-arr-(?:log-id|ssl)|cdn-loop)$/

/** Whether the request says that it came through a proxy. */
export function isForwarded({ headers }: Request): boolean {
  for (const name of headers.keys()) if (forwardingHeader.test(name)) return true
  return false
}

/** An address in its one spelling; anything else as it is. */
const plain = (address: string): string => (isIpv4(address) ? address : (addressOf(address)?.toString() ?? address))

/** What a proxy wrote of one hop: an address, or one with its port, as `203.0.113.9:4711`, `[2001:db8::1]:4711` or `[2001:db8::1]`. */
function addressOfHop(hop: string): string | undefined {
  const text = hop.trim()
  if (isIpv4(text)) return text
  const [, v4, v6, port = '0'] = /^(?:([\d.]{7,15})|\[([\da-fA-F:.]{2,45})\])(?::(\d{1,5}))?$/.exec(text) ?? []
  const isIpv6 = v6?.includes(':') ?? true
  return Number(port) <= 65_535 && isIpv6 ? addressOf(v4 ?? v6 ?? text)?.toString() : undefined
}

/** Whether an address is this machine's own. */
export const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

/** Whether a Host header names this machine by a name that no other machine can be asked for. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return name === 'localhost' || isLoopback(addressOf(name.replace(/^\[|\]$/g, ''))?.toString() ?? '')
}

/**
 * Who is calling, for limits and allowlists: X-Forwarded-For read from the right past the proxies we trust, and only if
 * the socket's peer is one of them. Undefined when that cannot be told: no socket, or a header that is not addresses.
 */
export function createClientAddress(trustedProxies: readonly string[]): {
  /** The address that counts for limits: a stranger's forwarding headers are ignored. */
  of: ClientAddress
  /** For what is guarded by address: forwarding headers from a peer that we do not trust leave no address at all. */
  strictly: ClientAddress
  /** Whether a peer is one of the proxies. */
  isProxy: (peer: string | undefined) => boolean
} {
  const trusted = blockList(trustedProxies)
  let last: { peer: string; socket: string; isTrusted: boolean } | undefined
  /** Most requests come from the proxy that the one before came from. */
  function known(peer: string) {
    if (last?.peer === peer) return last
    const socket = plain(peer)
    last = { peer, socket, isTrusted: trusted(socket) }
    return last
  }
  const of: ClientAddress = (request, peer) => {
    if (peer === undefined) return undefined
    const { socket, isTrusted } = known(peer)
    const header = isTrusted ? request.headers.get('x-forwarded-for') : null
    if (header === null) return socket
    // One hop is what most proxies tell of.
    if (isIpv4(header)) return header
    for (let end = header.length; ; ) {
      const start = header.lastIndexOf(',', end - 1) + 1
      const hop = addressOfHop(header.slice(start, end))
      if (start === 0 || hop === undefined || !trusted(hop)) return hop
      end = start - 1
    }
  }
  const strictly: ClientAddress = (request, peer) => {
    if (peer === undefined) return undefined
    // A proxy of ours that names the caller in a header we do not read would pass for the caller itself.
    const readable = trusted(plain(peer)) && request.headers.has('x-forwarded-for')
    return isForwarded(request) && !readable ? undefined : of(request, peer)
  }
  return { of, strictly, isProxy: (peer) => peer !== undefined && known(peer).isTrusted }
}
