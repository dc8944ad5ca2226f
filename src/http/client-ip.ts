import { addressOf, blockList, isIpv4 } from '../lib/networks.ts'

type ClientAddress = (request: Request, peer: string | undefined) => string | undefined

/**
 * Headers that proxies and CDNs add: standard (`Forwarded`, `Via`), customary (`X-Forwarded-…`, also with a prefix),
 * and headers with a client address (`X-Real-IP`, `CF-Connecting-IP`, `Fastly-Client-IP`, `X-Azure-ClientIP`,
 * `X-Envoy-External-Address`).
 */
const forwardingHeader =
  /^(?:via|forwarded(?:-.*)?|x-(?:.+-)?forwarded(?:-.*)?|(?:.+-)?(?:real|client|connecting|connecting-client|originating|remote)-?ip(?:v6)?|(?:.+-)?(?:client|remote|external)-addr(?:ess)?|cf-(?:ray|visitor|pseudo-ipv4)|x-proxyuser-ip|x-arr-(?:log-id|ssl)|cdn-loop)$/

/** Returns whether a request has headers of a proxy. */
export function isForwarded({ headers }: Request): boolean {
  for (const name of headers.keys()) if (forwardingHeader.test(name)) return true
  return false
}

/** Returns the canonical form of an address; other text unchanged. */
const plain = (address: string): string => (isIpv4(address) ? address : (addressOf(address)?.toString() ?? address))

/**
 * Parses one hop of a proxy header: an address with or without a port, such as `203.0.113.9:4711` or
 * `[2001:db8::1]:4711`.
 */
function addressOfHop(hop: string): string | undefined {
  const text = hop.trim()
  if (isIpv4(text)) return text
  const [, v4, v6, port = '0'] = /^(?:([\d.]{7,15})|\[([\da-fA-F:.]{2,45})\])(?::(\d{1,5}))?$/.exec(text) ?? []
  const isIpv6 = v6?.includes(':') ?? true
  return Number(port) <= 65_535 && isIpv6 ? addressOf(v4 ?? v6 ?? text)?.toString() : undefined
}

/** Returns whether an address is a loopback address. */
export const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

/** Returns whether a Host header names this machine by `localhost` or a loopback address. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return name === 'localhost' || isLoopback(addressOf(name.replace(/^\[|\]$/g, ''))?.toString() ?? '')
}

/**
 * Determines the client address for limits and allowlists: X-Forwarded-For, read from the right past trusted proxies,
 * if the connection comes from a trusted proxy. Undefined if it is unknown: no connection, or an invalid header.
 */
export function createClientAddress(trustedProxies: readonly string[]): {
  /** The address for limits. Forwarding headers of untrusted peers are ignored. */
  of: ClientAddress
  /** The address for allowlists. Forwarding headers of an untrusted peer make it undefined. */
  strictly: ClientAddress
  /** Whether a peer is a trusted proxy. */
  isProxy: (peer: string | undefined) => boolean
} {
  const trusted = blockList(trustedProxies)
  let last: { peer: string; socket: string; isTrusted: boolean } | undefined
  /** Cached, because most requests come from the same proxy as the one before. */
  function addressOf(peer: string) {
    if (last?.peer === peer) return last
    const socket = plain(peer)
    last = { peer, socket, isTrusted: trusted(socket) }
    return last
  }
  const of: ClientAddress = (request, peer) => {
    if (peer === undefined) return undefined
    const { socket, isTrusted } = addressOf(peer)
    const header = isTrusted ? request.headers.get('x-forwarded-for') : null
    if (header === null) return socket
    // Most proxies report one hop.
    if (isIpv4(header)) return header
    for (let end = header.length; ; ) {
      const start = header.lastIndexOf(',', end - 1) + 1
      const hop = addressOfHop(header.slice(start, end))
      if (start === 0 || hop === undefined || !trusted(hop)) return hop
      end = start - 1
    }
  }
  const strictClientAddress: ClientAddress = (request, peer) => {
    if (peer === undefined) return undefined
    // A trusted proxy that uses a header we do not read would otherwise count as the client.
    const readable = trusted(plain(peer)) && request.headers.has('x-forwarded-for')
    return isForwarded(request) && !readable ? undefined : of(request, peer)
  }
  return { of, strictly: strictClientAddress, isProxy: (peer) => peer !== undefined && addressOf(peer).isTrusted }
}
