import { byAddress, type CodeTries } from './domain.ts'
import type { AuthDeps } from './providers.ts'
import { countFailure } from './service.ts'

/** Who types a code. */
export type CodeTrier = {
  readonly cartId: string
  /** Whose cart it is. */
  readonly customerId: string | undefined
  /** What the caller is limited by; undefined for a secret key, behind which all of a shop's shoppers come from one. */
  readonly address: string | undefined
}

/**
 * Looks for what a shopper types the code of. A try is counted before the look-up and taken back when it found something.
 * @param find does the same work whatever the cause of a refusal
 * @throws AppError RATE_LIMITED
 */
export const tryCode = <Found>(
  deps: AuthDeps,
  tries: CodeTries,
  { cartId, customerId, address }: CodeTrier,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> =>
  countFailure(
    deps,
    [
      [tries.cart, cartId],
      ...(customerId === undefined ? [] : ([[tries.customer, customerId]] as const)),
      ...(address === undefined ? [] : byAddress(tries.address, address)),
    ],
    find,
  )
