import { AppError } from '../../../core/errors.ts'
import { hmac } from '../../../lib/seal.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import { type CodeCaller, findByCode } from '../../identity/auth/index.ts'
import {
  codeKeyOf,
  type DiscountUse,
  discountCodeLimits,
  noOffers,
  type Offer,
  type Offers,
  unavailableReasonIn,
  unavailableReasonOf,
} from './domain.ts'
import type { DiscountDeps } from './providers.ts'

/** The shopper of a cart. */
export type Shopper = { readonly shopId: string; readonly customerId: string | null; readonly email: string | null }
type Mode = DiscountUse['mode']

/** Returns the key that identifies a shopper: the account's id, else a keyed hash of the e-mail address. */
export async function customerKeyOf(
  { instanceKeys }: Pick<DiscountDeps, 'instanceKeys'>,
  { shopId, customerId, email }: Shopper,
): Promise<string | undefined> {
  if (customerId !== null) return customerId
  if (email === null) return undefined
  return hmac({ bytes: await instanceKeys.of('DISCOUNT_CUSTOMERS') }, `${shopId}/${normalEmail(email)}`)
}

/** Reads the offers for a cart in one query: the shop's automatic discounts and the one of its code. */
export const offersOfCart = ({ discountStore, clock }: DiscountDeps, shopId: string, cartId: string): Promise<readonly Offer[]> =>
  discountStore.ofCart(shopId, cartId, clock.now())

/** What decides which offers apply. */
type OfferContext = { readonly shopper: Shopper; readonly mode: Mode; readonly productIds: readonly string[] }

/**
 * Adds what the offers depend on: collections of the products and uses by the shopper. Reads nothing if no offer needs
 * it.
 */
export async function offersWith(deps: DiscountDeps, all: readonly Offer[], { shopper, mode, productIds }: OfferContext): Promise<Offers> {
  if (all.length === 0) return noOffers
  const now = deps.clock.now()
  const open = all.filter((offer) => unavailableReasonOf(offer, 0, now) === undefined)
  const [collections, uses] = await Promise.all([collectionsFor(deps, open, productIds), usesBy(deps, open, shopper, mode)])
  return { all, collections, uses }
}

async function collectionsFor(
  { discountStore }: DiscountDeps,
  offers: readonly Offer[],
  productIds: readonly string[],
): Promise<Offers['collections']> {
  const collectionIds = new Set(offers.flatMap(({ of }) => (of ? [...of.collections] : [])))
  const products = [...new Set(productIds)]
  return collectionIds.size === 0 || products.length === 0
    ? noOffers.collections
    : discountStore.collectionsOf(products, [...collectionIds])
}

async function usesBy(deps: DiscountDeps, offers: readonly Offer[], shopper: Shopper, mode: Mode): Promise<Offers['uses']> {
  const limited = offers.filter(({ perCustomerLimit }) => perCustomerLimit !== null)
  const customer = limited.length === 0 ? undefined : await customerKeyOf(deps, shopper)
  if (customer === undefined) return noOffers.uses
  const counts = limited.map(({ id }) => deps.discountStore.usesOf({ discountId: id, customer, mode }))
  return new Map((await Promise.all(counts)).map((count, at) => [limited[at]?.id ?? '', count]))
}

/** A code as typed, for a cart. */
type CodeOfCart = { readonly code: string; readonly currency: string; readonly shopper: Shopper; readonly mode: Mode }
/** A code as a shopper types it. */
type TypedCode = CodeCaller & CodeOfCart

/** Finds the discount of a code, if it can be used. The contents of the cart do not matter. */
export async function offerOfCode(deps: DiscountDeps, { code, currency, shopper, mode }: CodeOfCart): Promise<Offer | undefined> {
  const offer = await deps.discountStore.findByCode(shopper.shopId, codeKeyOf(code))
  if (!offer || (offer.currency !== null && offer.currency !== currency)) return undefined
  const offers = await offersWith(deps, [offer], { shopper, mode, productIds: [] })
  return unavailableReasonIn(offers, offer, deps.clock.now()) === undefined ? offer : undefined
}

/**
 * Finds the discount of a code that a shopper typed. A try is counted before the look-up and returned if it finds one.
 * @throws AppError NOT_FOUND for every cause, so that guessing reveals nothing; RATE_LIMITED
 */
export async function tryDiscountCode(deps: DiscountDeps, { code, currency, shopper, mode, ...trier }: TypedCode): Promise<Offer> {
  const found = await findByCode(deps, discountCodeLimits, trier, () => offerOfCode(deps, { code, currency, shopper, mode }))
  if (!found) throw new AppError('NOT_FOUND', 'No such discount')
  return found
}
