/** Metrics of event streams in Prometheus' text format. */
import { counter, labelledMetric } from '../../../lib/prometheus.ts'
import { endings } from './listener.ts'
import type { LiveDeps } from './providers.ts'

export function liveMetrics({ live }: Pick<LiveDeps, 'live'>): string[] {
  const { shop, operator, sent, ended } = live.figures()
  return [
    ...labelledMetric('souk_event_streams', 'Streams of events that are open in this process.', [
      { labels: { of: 'shop' }, value: shop },
      { labels: { of: 'operator' }, value: operator },
    ]),
    ...labelledMetric(
      'souk_event_streams_ended_total',
      'How streams of events ended: left by the client, its token or its access over, its shop suspended, read too slowly, the server stopping, or nobody could be asked.',
      endings.map((reason) => ({ labels: { reason }, value: ended.get(reason) ?? 0 })),
      'counter',
    ),
    ...counter('souk_events_sent_total', 'Events written for streams; one that several are told in the same words counts once.', sent),
  ]
}
