import { AppError } from '../core/errors.ts'
import { assertOrigin } from '../core/origin.ts'
import type { Identity, ShopContext } from '../core/principal.ts'

type Shops = { readonly identity: Pick<Identity, 'shopNamed'> }

/**
 * The shop that a public path names.
 * @throws AppError NOT_FOUND
 */
export async function shopNamed({ identity }: Shops, name: string): Promise<ShopContext> {
  const shop = await identity.shopNamed(name)
  if (!shop) throw new AppError('NOT_FOUND', 'No such shop')
  return shop
}

/**
 * A browser says where its page is from: then the shop's list of storefronts counts.
 * @throws AppError FORBIDDEN, NOT_FOUND
 */
export async function assertOriginOf(shops: Shops, name: string, { headers }: Request): Promise<void> {
  if (headers.has('origin')) assertOrigin(headers.get('origin'), (await shopNamed(shops, name)).origins)
}
