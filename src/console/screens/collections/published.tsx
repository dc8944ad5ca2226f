import { moment } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

/** Shows whether a collection is published, or from when on. */
export function PublicationBadge({ at }: { at: string | null }) {
  if (at === null) return <StatusBadge of="DRAFT" text={t('notPublished')} />
  const isAhead = new Date(at).getTime() > serverNow()
  return isAhead ? <StatusBadge of="PENDING" text={t('from', { at: moment(at) })} /> : <StatusBadge of="PUBLISHED" text={t('published')} />
}
