import type { Deps } from '../../../core/deps.ts'
import { optionalMetric } from '../../../lib/prometheus.ts'
import type { LogShippingDeps } from './providers.ts'

/** Builds Prometheus metrics; without values if shipping is off. */
export function logShippingMetrics({
  logShipping: { isOn, shippedAt, snapshotAt, generations, failures },
  config: { shipLogSeconds = 0 },
}: LogShippingDeps & Pick<Deps, 'config'>): string[] {
  const of = (value: number) => (isOn ? value : undefined)
  const seconds = (ms: number | undefined) => of((ms ?? 0) / 1_000)
  return [
    ...optionalMetric(
      'souk_log_shipped_timestamp_seconds',
      'Everything committed by this time is in the target, by this or an earlier process. 0: the target holds nothing to restore, or has not answered yet.',
      seconds(shippedAt),
    ),
    ...optionalMetric(
      'souk_log_snapshot_timestamp_seconds',
      'When the snapshot began that shipped commits continue from.',
      seconds(snapshotAt),
    ),
    ...optionalMetric(
      'souk_log_generations_total',
      'How often shipping began anew with a snapshot: after a start that could not continue the target, or after the log was lost.',
      of(generations),
      'counter',
    ),
    ...optionalMetric('souk_log_shipping_interval_seconds', 'SHIP_LOG_SECONDS: the interval of shipping.', of(shipLogSeconds)),
    ...optionalMetric('souk_log_shipping_failures_total', 'Attempts to ship that failed.', of(failures), 'counter'),
  ]
}
