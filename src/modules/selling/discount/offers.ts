import { AppError } from '../../../core/errors.ts'
import { hmac } from '../../../lib/seal.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import { type CodeCaller, findByCode } from '../../identity/auth/index.ts'
import { closedBy, closedIn, codeKeyOf, type DiscountUse, discountTries, noOffers, type Offer, type Offers } from './domain.ts'
import type { DiscountDeps } from './providers.ts'

/** Whose cart it is. */
export type Shopper = { readonly shopId: string; readonly customerId: string | null; readonly email: string | null }
type Mode = DiscountUse['mode']

/** By what a shopper is told from others: the account, else the e-mail address, of which no more is kept than what tells it again. */
export async function customerKeyOf(
  { instanceKeys }: Pick<DiscountDeps, 'instanceKeys'>,
  { shopId, customerId, email }: Shopper,
): Promise<string | undefined> {
  if (customerId !== null) return customerId
  if (email === null) return undefined
  return hmac({ bytes: await instanceKeys.of('DISCOUNT_CUSTOMERS') }, `${shopId}/${normalEmail(email)}`)
}

/** What of a shop is on offer for a cart: its automatic discounts, and that of the cart's code. Asked in one go, so that it may be asked with the cart. */
export const offersOfCart = ({ discountStore, clock }: DiscountDeps, shopId: string, cartId: string): Promise<readonly Offer[]> =>
  discountStore.ofCart(shopId, cartId, clock.now())

/** What has to be known besides, to tell which of them count. */
export type OfferContext = { readonly shopper: Shopper; readonly mode: Mode; readonly productIds: readonly string[] }

/** The same with what is not said by themselves: which products are in their collections, and what their shopper has used. Where none asks, nothing is read. */
export async function offersWith(deps: DiscountDeps, all: readonly Offer[], { shopper, mode, productIds }: OfferContext): Promise<Offers> {
  if (all.length === 0) return noOffers
  const now = deps.clock.now()
  const open = all.filter((offer) => closedBy(offer, 0, now) === undefined)
  const [collections, uses] = await Promise.all([collectionsFor(deps, open, productIds), usesBy(deps, open, shopper, mode)])
  return { all, collections, uses }
}

async function collectionsFor(
  { discountStore }: DiscountDeps,
  offers: readonly Offer[],
  productIds: readonly string[],
): Promise<Offers['collections']> {
  const wanted = new Set(offers.flatMap(({ of }) => (of ? [...of.collections] : [])))
  const products = [...new Set(productIds)]
  return wanted.size === 0 || products.length === 0 ? noOffers.collections : discountStore.collectionsOf(products, [...wanted])
}

async function usesBy(deps: DiscountDeps, offers: readonly Offer[], shopper: Shopper, mode: Mode): Promise<Offers['uses']> {
  const limited = offers.filter(({ perCustomerLimit }) => perCustomerLimit !== null)
  const customer = limited.length === 0 ? undefined : await customerKeyOf(deps, shopper)
  if (customer === undefined) return noOffers.uses
  const counts = limited.map(({ id }) => deps.discountStore.usesOf({ discountId: id, customer, mode }))
  return new Map((await Promise.all(counts)).map((count, at) => [limited[at]?.id ?? '', count]))
}

/** A code as somebody typed it, and for which cart. */
export type CodeOfCart = { readonly code: string; readonly currency: string; readonly shopper: Shopper; readonly mode: Mode }
/** A code as a shopper types it. */
export type TypedCode = CodeCaller & CodeOfCart

/** The discount of a code, if it can be had: whether what is in the cart is enough for it is no question here. */
export async function offerOfCode(deps: DiscountDeps, { code, currency, shopper, mode }: CodeOfCart): Promise<Offer | undefined> {
  const offer = await deps.discountStore.findByCode(shopper.shopId, codeKeyOf(code))
  if (!offer || (offer.currency !== null && offer.currency !== currency)) return undefined
  const offers = await offersWith(deps, [offer], { shopper, mode, productIds: [] })
  return closedIn(offers, offer, deps.clock.now()) === undefined ? offer : undefined
}

/**
 * The discount of a code, if it can be had: whether what is in the cart is enough for it is no refusal. A try is counted before the look-up
 * and taken back when it found one.
 * @throws AppError NOT_FOUND for every cause alike, since somebody who guesses must not learn which codes there are; RATE_LIMITED
 */
export async function tryDiscountCode(deps: DiscountDeps, { code, currency, shopper, mode, ...trier }: TypedCode): Promise<Offer> {
  const found = await findByCode(deps, discountTries, trier, () => offerOfCode(deps, { code, currency, shopper, mode }))
  if (!found) throw new AppError('NOT_FOUND', 'No such discount')
  return found
}
