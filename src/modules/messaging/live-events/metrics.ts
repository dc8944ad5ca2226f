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
      'Streams of events that ended, by reason: closed by the client, token expired, access ended, shop suspended, read too slowly, server stopping, or authorisation could not be checked.',
      endings.map((reason) => ({ labels: { reason }, value: ended.get(reason) ?? 0 })),
      'counter',
    ),
    ...counter('souk_events_sent_total', 'Events written to streams. An event that is encoded once for several streams counts once.', sent),
  ]
}
