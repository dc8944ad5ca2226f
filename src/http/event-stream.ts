/** What routes that answer by a stream of events have in common. */
import type { Principal, ShopContext } from '../core/principal.ts'
import { bearerOf, keyHeader } from './access.ts'
import type { HttpDeps } from './deps.ts'

/** Sent as it comes: kept by nobody, and held back by no proxy. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
} as const

/** When the access token of a request runs out, in milliseconds: it was verified before. Undefined where a key let it in. */
export function expiryOf({ headers }: Request): number | undefined {
  const [, claims] = headers.has(keyHeader) ? [] : (bearerOf(headers)?.split('.') ?? [])
  if (claims === undefined) return undefined
  const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { exp?: unknown }
  return typeof exp === 'number' ? exp * 1_000 : 0
}

/** Whether a request would still be let in as whom it was: by the same session or key, in the same role, in the same shop. */
export async function isStillAdmitted(
  { identity, whereRefused }: Pick<HttpDeps, 'identity' | 'whereRefused'>,
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
  if (now?.kind !== principal.kind || now.id !== principal.id) return false
  if (now.kind === 'superAdmin') return whereRefused(request) === undefined
  const place = await identity.placeOf(now.id, shop?.id)
  return principal.kind === 'merchant' && place?.shop.id === shop?.id && place?.role === principal.role
}
