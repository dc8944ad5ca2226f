/** Metrics of mails in Prometheus' text format. */
import type { Deps } from '../../../core/deps.ts'
import { isClosed } from '../../../lib/breaker.ts'
import { labelledMetric, optionalMetric } from '../../../lib/prometheus.ts'
import type { MailDeps } from './providers.ts'
import { type QueueFigures, mailStore as store } from './store.ts'

/** Returns the queue's figures, at most some seconds old. */
export const readMailFigures = ({ db, mailFigures: cache }: Pick<Deps, 'db'> & Pick<MailDeps, 'mailFigures'>): Promise<QueueFigures> =>
  cache.get(() => store.queue(db.read))

const results = ['sent', 'failed', 'dead', 'nobody', 'dropped', 'refused', 'delayed'] as const

/** @param figures undefined if unknown; then only this process's own counts are returned */
export function mailMetrics({ mailCounts, mailHealth, mailServer, clock }: MailDeps, figures: QueueFigures | undefined): string[] {
  const counts = new Map(mailCounts.all())
  const secondsSince = (at: number | undefined) => (at === undefined ? 0 : Math.max(0, clock.now() - at) / 1_000)
  return [
    ...labelledMetric(
      'souk_mails_total',
      'Results of mails in this process: sent, failed (will be retried), dead (given up), nobody (no recipient any more), dropped (no mail server), refused (not allowed, or over a quota), or delayed (over a quota).',
      results.map((result) => ({ labels: { result }, value: counts.get(result) ?? 0 })),
      'counter',
    ),
    ...optionalMetric('souk_mails_waiting', 'Pending mails, including those between two attempts.', figures?.waiting),
    ...optionalMetric('souk_mail_oldest_age_seconds', 'Age of the oldest pending mail.', figures && secondsSince(figures.oldestAt)),
    ...optionalMetric(
      'souk_mail_overdue_seconds',
      'Time since the first pending mail was due, even if sending is paused; 0: none is due.',
      figures && secondsSince(figures.dueAt),
    ),
    ...optionalMetric(
      'souk_mail_server_up',
      'Whether this process sends to the mail server; 0: sending is paused after repeated failures.',
      mailServer === undefined ? undefined : Number(isClosed(mailHealth.breaker)),
    ),
  ]
}
