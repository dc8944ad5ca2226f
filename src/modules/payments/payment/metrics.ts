/** Metrics of payments, in Prometheus' text format. */
import { labelledMetric } from '../../../lib/prometheus.ts'
import type { PaymentStatus } from './domain.ts'
import type { PaymentDeps } from './providers.ts'

const results = ['begun', 'authorized', 'processing', 'captured', 'declined', 'unanswered', 'voided'] as const
type Result = (typeof results)[number]

/** The result that a status counts as. A pending action of the shopper is no result. */
const resultOf: Partial<Record<PaymentStatus, Result>> = {
  PENDING: 'begun',
  AUTHORIZED: 'authorized',
  PROCESSING: 'processing',
  CAPTURED: 'captured',
  FAILED: 'declined',
  VOIDED: 'voided',
}

/**
 * Counts the payments of this process. A processor's results are listed from its first payment, and those of live
 * cards from the start, so that the first one shows as an increase.
 */
export function paymentMetrics({ paymentCounts, processors }: Pick<PaymentDeps, 'paymentCounts' | 'processors'>): string[] {
  const counts = new Map([...processors.keys()].map((processor) => [`${processor} card LIVE`, new Map<Result, number>()]))
  for (const [words, value] of paymentCounts.all()) {
    const [processor = '', method = '', mode = '', status = '', reason = ''] = words.split(' ')
    const counted = counts.getOrInsertComputed(`${processor} ${method} ${mode}`, () => new Map<Result, number>())
    const result = status === 'FAILED' && reason !== '' ? 'unanswered' : resultOf[status as PaymentStatus]
    if (result) counted.set(result, (counted.get(result) ?? 0) + value)
  }
  return labelledMetric(
    'souk_payments_total',
    'Payments by processor, method, mode and result. A payment counts each time that it reaches a result.',
    [...counts].flatMap(([names, counted]) => {
      const [processor = '', method = '', mode = ''] = names.split(' ')
      return results.map((result) => ({ labels: { processor, method, mode, result }, value: counted.get(result) ?? 0 }))
    }),
    'counter',
  )
}
