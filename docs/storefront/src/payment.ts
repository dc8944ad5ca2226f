/** Checks out a cart with a repeatable request, and follows its payment. */
import { Refused, type Schema } from './api.ts'
import type { Cart } from './cart.ts'
import type { Choice } from './payment-methods.ts'
import { askAsShopper } from './session.ts'

type Checkout = Schema<'Checkout'>

/**
 * A checkout without a response. sessionStorage keeps it, so that a reloaded page repeats the request with the same
 * idempotency key.
 */
type Attempt = { readonly cartId: string; readonly key: string; readonly choice: Choice }
const place = 'souk.attempt'

const attempt = (): Attempt | undefined => {
  const kept = sessionStorage.getItem(place)
  return kept === null ? undefined : (JSON.parse(kept) as Attempt)
}

/** Returns the checkout that was in flight when the page was left, if any. */
export function unfinished(cartId: string): Choice | undefined {
  const kept = attempt()
  return kept?.cartId === cartId ? kept.choice : undefined
}

const pauseMs = 1_000
const triesMax = 30
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Checks out a cart. If a request or response is lost, call it again, also after a reload of the page.
 * @throws Refused: with 409, the message says what changed, and the cart shows it
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
      // The request of the previous page is still in progress.
      const isAtWork = error.status === 409 && error.retryAfter !== null
      if (!isAtWork || tries === triesMax) {
        if (isDecided(error)) sessionStorage.removeItem(place)
        throw error
      }
      await pause(pauseMs)
    }
  }
}

/** Whether an error is final. Otherwise the request may have succeeded, or succeeds when repeated. */
const isDecided = ({ status, retryAfter }: Refused): boolean => status >= 400 && status < 500 && retryAfter === null && status !== 401

/** Reads the state of the cart's order, after the shopper returned. */
export const standing = (id: string): Promise<Schema<'Returned'>> => askAsShopper('POST /cart/{id}/complete', { path: { id } })

/** Cancels an unpaid order, so that its cart can be changed. @throws Refused 409 while a payment may succeed */
export const takeBack = (id: string): Promise<Cart> => askAsShopper('DELETE /cart/{id}/checkout', { path: { id } })
