/** Metrics of mails in Prometheus' text format. */
import type { Deps } from '../../../core/deps.ts'
import { isClosed } from '../../../lib/breaker.ts'
import { labelledMetric, optionalMetric } from '../../../lib/prometheus.ts'
import type { MailDeps } from './providers.ts'
import { type QueueFigures, mailStore as store } from './store.ts'

/** Returns the queue's figures, at most some seconds old. */
export const readMailFigures = ({ db, mailFigures: kept }: Pick<Deps, 'db'> & Pick<MailDeps, 'mailFigures'>): Promise<QueueFigures> =>
  kept.get(() => store.queue(db.read))

const results = ['sent', 'failed', 'dead', 'nobody', 'dropped', 'refused', 'delayed'] as const

/** @param figures undefined if unknown; then only this process's own counts are returned */
export function mailMetrics({ mailCounts, mailHealth, mailServer, clock }: MailDeps, figures: QueueFigures | undefined): string[] {
  const counts = new Map(mailCounts.all())
  const secondsSince = (at: number | undefined) => (at === undefined ? 0 : Math.max(0, clock.now() - at) / 1_000)
  return [
    ...labelledMetric(
      'souk_mails_total',
      'What became of mails in this process: sent, failed (tried again), dead (given up), nobody (nobody was to get it), dropped (there is no mail server), refused (not allowed, or over a quota), or delayed (over a quota).',
      results.map((result) => ({ labels: { result }, value: counts.get(result) ?? 0 })),
      'counter',
    ),
    ...optionalMetric('souk_mails_waiting', 'Mails that are still to be sent, those between two attempts included.', figures?.waiting),
    ...optionalMetric('souk_mail_oldest_age_seconds', 'How old the oldest of them is.', figures && secondsSince(figures.oldestAt)),
    ...optionalMetric(
      'souk_mail_overdue_seconds',
      'For how long the first of them has been due, also while the mail server is left alone; 0: none is due.',
      figures && secondsSince(figures.dueAt),
    ),
    ...optionalMetric(
      'souk_mail_server_up',
      'Whether this process hands mails to the mail server: 0 while it is left alone because it failed again and again.',
      mailServer === undefined ? undefined : Number(isClosed(mailHealth.breaker)),
    ),
  ]
}
