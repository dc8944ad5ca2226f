/** Reads a payment from an invoice of BTCPay Server. */
import { decimalsOf } from '../../../lib/money.ts'
import { listAt, requireValue, textAt, unknownStatus, valueAt } from '../answers.ts'
import { truncatedUnitsOf, unitsOf } from '../decimals.ts'
import type { ProcessorPayment } from '../processor.ts'
import { UnknownAnswer } from '../processor.ts'
import { type ApiCall, type Money, readList, webAddress } from './calls.ts'

/** Returns whether an invoice has this amount, as far as it says; zeros at the end do not matter. */
export function isOf(invoice: unknown, { amount, currency }: Money): boolean {
  const stated = valueAt(invoice, 'amount')
  return (
    (valueAt(invoice, 'currency') ?? currency) === currency && (stated === undefined || unitsOf(stated, decimalsOf(currency)) === amount)
  )
}

/**
 * Reads an invoice as a payment. Unconfirmed coins do not count. Late or missing coins are stated in `captured`; only
 * the full amount makes it CAPTURED.
 * @throws ProcessorUnavailable for an invoice of another amount or currency
 */
export async function paymentOf(
  ask: ApiCall,
  pathOf: (reference: string) => string,
  invoice: unknown,
  money: Money,
): Promise<ProcessorPayment> {
  const reference = requireValue(textAt(invoice, 'id'), 'invoice id')
  const status = requireValue(textAt(invoice, 'status'), 'invoice status')
  if (!isOf(invoice, money)) throw new UnknownAnswer('an invoice of another amount')
  const { amount, currency } = money
  const detail = textAt(invoice, 'additionalStatus')
  const paid = truncatedUnitsOf(valueAt(invoice, 'paidAmount'), decimalsOf(currency))
  const nothing = { reference, authorized: 0, captured: 0 }
  switch (status) {
    case 'New':
      return { ...nothing, state: 'REQUIRES_ACTION', clientParameters: clientParametersOf(invoice, reference) }
    case 'Processing':
      return { ...nothing, state: 'PROCESSING' }
    case 'Settled':
      return endedPayment(reference, settledOf(amount, paid, detail), amount, 'FAILED')
    case 'Expired':
    case 'Invalid': {
      const ended = status === 'Invalid' && detail === 'Marked' ? 'VOIDED' : 'FAILED'
      // Servers before 2.1 do not report the paid amount.
      const receivedAmount = paid ?? (detail === 'PaidLate' || detail === 'PaidOver' ? amount : 0)
      if (receivedAmount > 0 && (await isConfirmed(ask, pathOf(reference)))) return endedPayment(reference, receivedAmount, amount, ended)
      if (receivedAmount >= amount && status === 'Expired') return { ...nothing, state: 'PROCESSING' }
      return { ...nothing, state: ended, ...(ended === 'FAILED' ? { failureCode: status.toLowerCase() } : {}) }
    }
    default:
      throw unknownStatus(status)
  }
}

/**
 * Returns the paid amount of a settled invoice: all of it if the shop settled it by hand, otherwise what arrived. It is
 * more than the invoice only with `PaidOver`, because a coin's smallest unit may be worth more than a minor unit.
 */
function settledOf(amount: number, paid: number | undefined, detail: string | undefined): number {
  if (paid === undefined || detail === 'Marked') return amount
  return detail === 'PaidOver' ? Math.max(paid, amount) : Math.min(paid, amount)
}

/** Returns the money of an invoice that accepts no more. */
function endedPayment(reference: string, captured: number, amount: number, ended: 'FAILED' | 'VOIDED'): ProcessorPayment {
  const amounts = { reference, authorized: captured, captured }
  if (captured >= amount) return { ...amounts, state: 'CAPTURED' }
  return { ...amounts, state: ended, ...(ended === 'FAILED' ? { failureCode: 'paid_partial' } : {}) }
}

/**
 * Returns whether all received coins are confirmed. An ended invoice never settles by its status. If the server lists
 * no payments, they count as confirmed.
 */
async function isConfirmed(ask: ApiCall, path: string): Promise<boolean> {
  const methods = readList(await ask('GET', `${path}/payment-methods`))
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
