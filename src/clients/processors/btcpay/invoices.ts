/** Reads a payment from an invoice of BTCPay Server. */
import { decimalsOf } from '../../../lib/money.ts'
import { listAt, needed, textAt, unknownStatus, valueAt } from '../answers.ts'
import { unitsOf, wholeUnitsOf } from '../decimals.ts'
import type { ProcessorPayment } from '../processor.ts'
import { UnknownAnswer } from '../processor.ts'
import { type ApiCall, listedBy, type Money, webAddress } from './calls.ts'

/** Whether an invoice has this amount, as far as it says; zeros at the end do not matter. */
export function isOf(invoice: unknown, { amount, currency }: Money): boolean {
  const told = valueAt(invoice, 'amount')
  return (valueAt(invoice, 'currency') ?? currency) === currency && (told === undefined || unitsOf(told, decimalsOf(currency)) === amount)
}

/**
 * The payment that an invoice stands for. Coins that are not confirmed are no money; those that came too late, or too
 * few of them, are told as `captured` all the same, and only what is whole makes it CAPTURED.
 * @throws ProcessorUnavailable for an invoice of another amount or currency than was asked for, whatever became of it
 */
export async function paymentOf(
  ask: ApiCall,
  pathOf: (reference: string) => string,
  invoice: unknown,
  money: Money,
): Promise<ProcessorPayment> {
  const reference = needed(textAt(invoice, 'id'), 'invoice id')
  const status = needed(textAt(invoice, 'status'), 'invoice status')
  if (!isOf(invoice, money)) throw new UnknownAnswer('an invoice of another amount')
  const { amount, currency } = money
  const detail = textAt(invoice, 'additionalStatus')
  const paid = wholeUnitsOf(valueAt(invoice, 'paidAmount'), decimalsOf(currency))
  const nothing = { reference, authorized: 0, captured: 0 }
  switch (status) {
    case 'New':
      return { ...nothing, state: 'REQUIRES_ACTION', clientParameters: clientParametersOf(invoice, reference) }
    case 'Processing':
      return { ...nothing, state: 'PROCESSING' }
    case 'Settled':
      return taken(reference, settledOf(amount, paid, detail), amount, 'FAILED')
    case 'Expired':
    case 'Invalid': {
      const ended = status === 'Invalid' && detail === 'Marked' ? 'VOIDED' : 'FAILED'
      // Servers before 2.1 do not report the paid amount.
      const came = paid ?? (detail === 'PaidLate' || detail === 'PaidOver' ? amount : 0)
      if (came > 0 && (await isConfirmed(ask, pathOf(reference)))) return taken(reference, came, amount, ended)
      if (came >= amount && status === 'Expired') return { ...nothing, state: 'PROCESSING' }
      return { ...nothing, state: ended, ...(ended === 'FAILED' ? { failureCode: status.toLowerCase() } : {}) }
    }
    default:
      throw unknownStatus(status)
  }
}

/**
 * Of an invoice that is settled: by hand, it is all of it because the shop says so; else what came. Without `PaidOver`
 * that is never more: the rate makes the smallest coin worth more than a minor unit in some currencies.
 */
function settledOf(amount: number, paid: number | undefined, detail: string | undefined): number {
  if (paid === undefined || detail === 'Marked') return amount
  return detail === 'PaidOver' ? Math.max(paid, amount) : Math.min(paid, amount)
}

/** Money on an invoice that takes no more. */
function taken(reference: string, captured: number, amount: number, ended: 'FAILED' | 'VOIDED'): ProcessorPayment {
  const seen = { reference, authorized: captured, captured }
  if (captured >= amount) return { ...seen, state: 'CAPTURED' }
  return { ...seen, state: ended, ...(ended === 'FAILED' ? { failureCode: 'paid_partial' } : {}) }
}

/**
 * Whether none of the coins that came may still go away: an invoice that has ended never settles, and does not say so
 * itself. Where the server does not list them, nothing is held against them.
 */
async function isConfirmed(ask: ApiCall, path: string): Promise<boolean> {
  const methods = listedBy(await ask('GET', `${path}/payment-methods`))
  if (!methods) return true
  const statuses = methods.flatMap((method) => listAt(method, 'payments').map((payment) => textAt(payment, 'status')))
  return statuses.includes('Settled') && statuses.every((status) => status === 'Settled' || status === 'Invalid')
}

/** The page uses the link, or opens the server's own window. */
function clientParametersOf(invoice: unknown, invoiceId: string): Record<string, unknown> {
  const checkoutLink = webAddress(textAt(invoice, 'checkoutLink'))
  const seconds = Number(valueAt(invoice, 'expirationTime'))
  const isTime = Number.isSafeInteger(seconds) && seconds > 0 && seconds < 1e11
  return {
    invoiceId,
    ...(checkoutLink === undefined ? {} : { checkoutLink }),
    ...(isTime ? { expiresAt: new Date(seconds * 1000).toISOString() } : {}),
  }
}
