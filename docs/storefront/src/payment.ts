/** Buying a cart, by a request that may be sent again, and what becomes of it afterwards. */
import { Refused, type Schema } from './api.ts'
import type { Cart } from './cart.ts'
import { askAsShopper } from './session.ts'
import type { Choice } from './ways.ts'

type Checkout = Schema<'Checkout'>

/**
 * A checkout that was sent and not answered yet. It stays in sessionStorage until it is: a page that is loaded anew in the middle goes on
 * with the very same request, under the key that makes sure it is done once.
 */
type Attempt = { readonly cartId: string; readonly key: string; readonly choice: Choice }
const place = 'souk.attempt'

const attempt = (): Attempt | undefined => {
  const kept = sessionStorage.getItem(place)
  return kept === null ? undefined : (JSON.parse(kept) as Attempt)
}

/** What was about to be paid when the page was left; undefined when nothing was. */
export function unfinished(cartId: string): Choice | undefined {
  const kept = attempt()
  return kept?.cartId === cartId ? kept.choice : undefined
}

const pauseMs = 1_000
const triesMax = 30
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Buys a cart. Whatever gets lost on its way may be asked for again by calling this again, also from a page that was loaded anew.
 * @throws Refused: with 409, souk's message says what has changed, and the cart shows it
 */
export async function buy(cart: Pick<Cart, 'id'>, choice: Choice): Promise<Checkout> {
  const kept = attempt()
  const isSame = kept?.cartId === cart.id && JSON.stringify(kept.choice) === JSON.stringify(choice)
  const key = isSame ? kept.key : crypto.randomUUID()
  sessionStorage.setItem(place, JSON.stringify({ cartId: cart.id, key, choice } satisfies Attempt))
  for (let tries = 1; ; tries++) {
    try {
      const answer = await askAsShopper('POST /cart/{id}/checkout', { path: { id: cart.id }, body: choice }, { 'idempotency-key': key })
      sessionStorage.removeItem(place)
      return answer
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      // The one that a page sent before it was left is still at work.
      const isAtWork = error.status === 409 && error.retryAfter !== null
      if (!isAtWork || tries === triesMax) {
        if (isDecided(error)) sessionStorage.removeItem(place)
        throw error
      }
      await pause(pauseMs)
    }
  }
}

/** Whether a refusal is the last word about its request. Otherwise it may have been done, or will be when it is sent again. */
const isDecided = ({ status, retryAfter }: Refused): boolean => status >= 400 && status < 500 && retryAfter === null && status !== 401

/** How the cart's order stands now: what is asked when the shopper is back from somewhere. */
export const standing = (id: string): Promise<Schema<'Returned'>> => askAsShopper('POST /cart/{id}/complete', { path: { id } })

/** Gives up an order that was not paid: its cart can be changed again. @throws Refused 409 while a payment may still succeed */
export const takeBack = (id: string): Promise<Cart> => askAsShopper('DELETE /cart/{id}/checkout', { path: { id } })
