import { AppError } from '../core/errors.ts'
import type { Identity, ShopContext } from '../core/principal.ts'

type Shops = { readonly identity: Pick<Identity, 'publicShopNamed'> }

/**
 * The shop that a public path names.
 * @throws AppError NOT_FOUND, also for one that is suspended
 */
export async function shopNamed({ identity }: Shops, name: string): Promise<ShopContext> {
  const shop = await identity.publicShopNamed(name)
  if (!shop) throw new AppError('NOT_FOUND', 'No such shop')
  return shop
}

/**
 * Refuses a browser on an origin that the shop did not list. Callers without an origin, and shops without a list, pass.
 * @throws AppError FORBIDDEN
 */
export function assertShopOrigin(headers: Headers, origins: readonly string[]): void {
  const origin = headers.get('origin')
  if (origin && origins.length > 0 && !origins.includes(origin)) throw new AppError('FORBIDDEN', 'The shop does not allow this origin')
}

/**
 * A browser says where its page is from: then the shop's list of storefronts counts.
 * @throws AppError FORBIDDEN, NOT_FOUND
 */
export async function assertOriginOf(shops: Shops, name: string, { headers }: Request): Promise<void> {
  if (headers.has('origin')) assertShopOrigin(headers, (await shopNamed(shops, name)).origins)
}
