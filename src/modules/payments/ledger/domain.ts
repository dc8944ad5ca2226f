import type { unifiedTransactions } from '../../../../db/schema/ledger.ts'

type Transaction = typeof unifiedTransactions.$inferSelect
type Kind = Transaction['kind']

/** The sums that an order's movements add up to, and which movements subtract. */
const sums: { readonly [one in Kind]: { readonly of: 'SALE' | 'REFUND' | 'DISPUTE'; readonly sign: 1 | -1 } } = {
  CAPTURE: { of: 'SALE', sign: 1 },
  GIFT_CARD: { of: 'SALE', sign: 1 },
  REFUND: { of: 'REFUND', sign: 1 },
  GIFT_CARD_REFUND: { of: 'REFUND', sign: 1 },
  REFUND_REVERSED: { of: 'REFUND', sign: -1 },
  DISPUTE: { of: 'DISPUTE', sign: 1 },
  DISPUTE_WON: { of: 'DISPUTE', sign: -1 },
}

/** Returns whether a movement adds to the sum of its kind (1) or takes from it (-1). */
export const signOf = ({ kind }: Pick<Transaction, 'kind'>): 1 | -1 => sums[kind].sign

type SummedMovement = Pick<Transaction, 'kind' | 'orderId' | 'currency' | 'rateDay' | 'processor' | 'confirmed' | 'amount'>

/** Returns the key of a movement's sum: by order, rate and processor. */
export const sumOf = ({ kind, orderId, currency, rateDay, processor, confirmed }: SummedMovement): string =>
  `${sums[kind].of} ${orderId} ${currency} ${rateDay} ${processor} ${confirmed}`

/**
 * Returns the value of a movement in US cents: how much it changes the value of its sum. So the values of parts add up
 * to the value of the whole. Never negative.
 * @param before the sum without the movement, in the currency's minor units and in cents
 * @param centsOf converts an amount to cents, rounded once
 */
export function addedWorth(
  movement: Pick<SummedMovement, 'kind' | 'amount'>,
  before: { readonly amount: number; readonly usdCents: number } | undefined,
  centsOf: (amount: number) => number,
): number {
  const { amount, usdCents } = before ?? { amount: 0, usdCents: 0 }
  const sign = signOf(movement)
  return Math.max(0, sign * (centsOf(amount + sign * movement.amount) - usdCents))
}
