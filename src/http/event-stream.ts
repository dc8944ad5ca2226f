/** Shared code of event stream routes. */
import type { Principal, ShopContext } from '../core/principal.ts'
import { bearerOf, keyHeader } from './access.ts'
import type { HttpDeps } from './deps.ts'

/** No cache and no proxy may store or buffer the stream. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const

/** Returns when the verified access token of a request expires, in milliseconds; undefined for keys. */
export function expiryOf({ headers }: Request): number | undefined {
  const [, claims] = headers.has(keyHeader) ? [] : (bearerOf(headers)?.split('.') ?? [])
  if (claims === undefined) return undefined
  const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { exp?: unknown }
  return typeof exp === 'number' ? exp * 1_000 : 0
}

/** Returns whether a request would still be admitted with the same principal, role and shop. */
export async function isStillAdmitted(
  { identity, locationRefusal }: Pick<HttpDeps, 'identity' | 'locationRefusal'>,
  request: Request,
  principal: Principal,
  shop: ShopContext | undefined,
): Promise<boolean> {
  const { headers } = request
  if (principal.kind === 'key') {
    const now = await identity.ofKey(headers.get(keyHeader) ?? '')
    return now?.id === principal.id && now.shop.id === shop?.id
  }
  const now = await identity.ofToken(bearerOf(headers) ?? '')
  if (now?.id !== principal.id) return false
  if (principal.kind === 'superAdmin') return now.kind === 'superAdmin' && locationRefusal(request) === undefined
  const membership = await identity.membershipOf(now.id, shop?.id)
  return principal.kind === 'merchant' && membership?.shop.id === shop?.id && membership?.role === principal.role
}
