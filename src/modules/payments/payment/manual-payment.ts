/** Payments that the shop receives outside souk: bank transfer, cash on delivery. No processor is called. */
import type { ShopContext } from '../../../core/principal.ts'
import { manualMethodOf } from '../payment-method/index.ts'
import { manualProcessor, type Payment, type PaymentChoice } from './domain.ts'
import type { PaymentDeps } from './providers.ts'
import type { Choices } from './select-processor.ts'

/** Answers for the processor that a manual payment does not have: a void always succeeds, and nothing else changes. */
export const manualAnswer = (isVoid: boolean, { status, authorized, captured }: Payment) => ({
  reference: undefined,
  state: isVoid && captured === 0 ? ('VOIDED' as const) : status,
  authorized,
  captured,
})

/**
 * Chooses a manual method for a checkout. There is nothing to fail over to.
 * @throws AppError CONFLICT for a code that the shop does not offer
 */
export async function selectManualMethod(
  deps: PaymentDeps,
  shop: ShopContext,
  { code, attemptKey, amount }: Pick<PaymentChoice, 'attemptKey'> & { code: string; amount: number },
): Promise<Choices> {
  const manual = await manualMethodOf(deps, shop.id, code)
  const choice = { method: 'manual', accountId: '', mode: shop.mode, token: undefined, returnUrl: undefined, attemptKey } as const
  // Nothing to pay.
  if (amount === 0) return { first: { ...choice, processor: '' }, fallbacks: [] }
  return { first: { ...choice, processor: manualProcessor, manual }, fallbacks: [] }
}
