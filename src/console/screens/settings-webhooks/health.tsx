import type { Schema } from '../../lib/api/api.ts'
import { ago } from '../../lib/format/format.ts'
import { State } from '../../ui/bits.tsx'
import { t } from './i18n.ts'

/** How an endpoint is, in a word. */
export function Health({ of: { disabledAt, failingSince } }: { of: Schema<'WebhookEndpoint'> }) {
  if (disabledAt) return <State of="DISABLED" text={t('disabled')} tone="bad" />
  if (failingSince) return <State of="FAILING" text={t('failing', { at: ago(failingSince) })} tone="warn" />
  return <State of="OK" text={t('works')} />
}
