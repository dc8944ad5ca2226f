import { isIP } from 'node:net'
import { blockList } from '../lib/networks.ts'

export type ClientAddress = (request: Request, peer: string | undefined) => string | undefined

const forwardingHeaders = [
  'x-forwarded-for',
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'x-client-ip',
  'cf-connecting-ip',
  'true-client-ip',
  'x-forwarded-server',
  'x-forwarded-port',
  'x-cluster-client-ip',
  'via',
]

/** Whether the request says that it came through a proxy. */
export const isForwarded = ({ headers }: Request): boolean => forwardingHeaders.some((header) => headers.has(header))

/** `::ffff:10.0.0.1` (or `::ffff:a00:1`) as `10.0.0.1`; anything else as it is. */
function plain(address: string): string {
  if (/^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address)) return address.slice(7)
  const [, high, low] = /^(?:::|0:0:0:0:0:)ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? []
  if (high === undefined || low === undefined) return address
  return [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
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
} {
  const trusted = blockList(trustedProxies)
  const of: ClientAddress = (request, peer) => {
    if (peer === undefined) return undefined
    const socket = plain(peer)
    if (!trusted(socket)) return socket
    const header = request.headers.get('x-forwarded-for')
    if (header === null) return socket
    const hops = header.split(',').map((hop) => plain(hop.trim()))
    for (const hop of hops.reverse()) {
      if (isIP(hop) === 0) return undefined
      if (!trusted(hop)) return hop
    }
    return hops.at(-1)
  }
  const strictly: ClientAddress = (request, peer) => {
    if (peer === undefined) return undefined
    // A proxy of ours that names the caller in a header we do not read would pass for the caller itself.
    const readable = trusted(plain(peer)) && request.headers.has('x-forwarded-for')
    return isForwarded(request) && !readable ? undefined : of(request, peer)
  }
  return { of, strictly }
}

/** What a limit counts by: an IPv4 address, or the /64 that an IPv6 caller moves about in. */
export function limitKeyOf(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  if (isIP(address) !== 6) return address
  const mapped = plain(address)
  if (mapped !== address) return mapped
  const [head = '', tail] = address.split('::')
  const left = head.split(':').filter(Boolean)
  const right = tail === undefined ? [] : tail.split(':').filter(Boolean)
  const groups = tail === undefined ? left : [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
