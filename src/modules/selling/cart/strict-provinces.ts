import { invalidField } from '../../../core/errors.ts'
import { isUnknownProvince } from '../../shop/countries/domain.ts'
import type { Cart } from './domain.ts'
import type { CartSnapshot } from './pricing.ts'

const fields = ['shippingAddress', 'billingAddress'] as const

/**
 * Finds the address whose country has no such province, in a shop with `strictProvinces`; undefined if there is none.
 */
export const strictlyUnknown = (
  { shop, provinces }: Pick<CartSnapshot, 'shop' | 'provinces'>,
  addresses: Partial<Pick<Cart, (typeof fields)[number]>>,
): (typeof fields)[number] | undefined =>
  shop.strictProvinces
    ? fields.find((field) => {
        const address = addresses[field]
        return address ? isUnknownProvince(provinces, address) : false
      })
    : undefined

/**
 * Refuses addresses with an unknown province in a shop with `strictProvinces`.
 * @param source where the addresses come from: the request's body, or the cart as it is stored
 * @throws AppError INVALID with the code UNKNOWN_PROVINCE, naming the field
 */
export function assertProvinces(
  snapshot: Pick<CartSnapshot, 'shop' | 'provinces'>,
  addresses: Partial<Pick<Cart, (typeof fields)[number]>>,
  source: 'body' | 'cart',
): void {
  const field = strictlyUnknown(snapshot, addresses)
  if (field === undefined) return
  const rule = `must be an ISO 3166-2 code or a name of a province of ${addresses[field]?.countryCode}`
  throw invalidField(`${source === 'cart' ? 'cart.' : ''}${field}.province`, rule, { code: 'UNKNOWN_PROVINCE' })
}
