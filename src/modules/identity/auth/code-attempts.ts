import { type CodeLimits, limitsByAddress } from './domain.ts'
import type { AuthDeps } from './providers.ts'
import { countFailure } from './service.ts'

/** Who enters a code. */
export type CodeCaller = {
  readonly cartId: string
  /** The owner of the cart. */
  readonly customerId: string | undefined
  /** The rate-limit key. Undefined for a secret key, because all shoppers of the shop then share one address. */
  readonly address: string | undefined
}

/**
 * Looks up a code that a shopper enters. Only failed attempts count.
 * @param find must take the same time for every cause of refusal
 * @throws AppError RATE_LIMITED
 */
export const findByCode = <Found>(
  deps: AuthDeps,
  tries: CodeLimits,
  { cartId, customerId, address }: CodeCaller,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> =>
  countFailure(
    deps,
    [
      [tries.cart, cartId],
      ...(customerId === undefined ? [] : ([[tries.customer, customerId]] as const)),
      ...(address === undefined ? [] : limitsByAddress(tries.address, address)),
    ],
    find,
  )
