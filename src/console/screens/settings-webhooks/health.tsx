import type { Schema } from '../../lib/api/api.ts'
import { ago } from '../../lib/format/format.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

/** Shows an endpoint's state. */
export function EndpointHealth({ endpoint: { disabledAt, failingSince } }: { endpoint: Schema<'WebhookEndpoint'> }) {
  if (disabledAt) return <StatusBadge status="DISABLED" text={t('disabled')} tone="bad" />
  if (failingSince) return <StatusBadge status="FAILING" text={t('failing', { at: ago(failingSince) })} tone="warn" />
  return <StatusBadge status="OK" text={t('works')} />
}
