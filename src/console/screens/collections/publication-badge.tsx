import { moment } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

/** Shows whether a collection is published, or from when on. */
export function PublicationBadge({ at }: { at: string | null }) {
  if (at === null) return <StatusBadge status="DRAFT" text={t('notPublished')} />
  const isScheduled = new Date(at).getTime() > serverNow()
  return isScheduled ? (
    <StatusBadge status="PENDING" text={t('from', { at: moment(at) })} />
  ) : (
    <StatusBadge status="PUBLISHED" text={t('published')} />
  )
}
