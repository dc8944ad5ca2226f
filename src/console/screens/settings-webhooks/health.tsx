import type { Schema } from '../../lib/api/api.ts'
import { ago } from '../../lib/format/format.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

/** Shows an endpoint's state. */
export function EndpointHealth({ of: { disabledAt, failingSince } }: { of: Schema<'WebhookEndpoint'> }) {
  if (disabledAt) return <StatusBadge of="DISABLED" text={t('disabled')} tone="bad" />
  if (failingSince) return <StatusBadge of="FAILING" text={t('failing', { at: ago(failingSince) })} tone="warn" />
  return <StatusBadge of="OK" text={t('works')} />
}
