import { AppError } from '../core/errors.ts'
import type { Identity, ShopContext } from '../core/principal.ts'

type Shops = { readonly identity: Pick<Identity, 'publicShopNamed'> }

/**
 * Returns the shop that a public path names.
 * @throws AppError NOT_FOUND, also if the shop is suspended
 */
export async function shopNamed({ identity }: Shops, name: string): Promise<ShopContext> {
  const shop = await identity.publicShopNamed(name)
  if (!shop) throw new AppError('NOT_FOUND', 'No such shop')
  return shop
}

/**
 * Returns whether the shop lists the origin of a request. Requests without an origin, and shops without a list, pass.
 */
export function isOriginAllowed(headers: Headers, origins: readonly string[]): boolean {
  if (origins.length === 0) return true
  const origin = headers.get('origin')
  return !origin || origins.includes(origin)
}

/**
 * Refuses an origin that the shop does not list.
 * @throws AppError FORBIDDEN
 */
export function assertShopOrigin(headers: Headers, origins: readonly string[]): void {
  if (!isOriginAllowed(headers, origins)) throw new AppError('FORBIDDEN', 'The shop does not allow this origin')
}

/**
 * Checks the origin of a browser request against the shop's list.
 * @throws AppError FORBIDDEN, NOT_FOUND
 */
export async function assertOriginOf(shops: Shops, name: string, { headers }: Request): Promise<void> {
  if (headers.has('origin')) assertShopOrigin(headers, (await shopNamed(shops, name)).origins)
}
