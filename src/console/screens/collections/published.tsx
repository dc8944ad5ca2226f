import { moment } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { State } from '../../ui/bits.tsx'
import { t } from './i18n.ts'

/** Whether the public sees it, or from when on. */
export function Published({ at }: { at: string | null }) {
  if (at === null) return <State of="DRAFT" text={t('notPublished')} />
  const isAhead = new Date(at).getTime() > serverNow()
  return isAhead ? <State of="PENDING" text={t('from', { at: moment(at) })} /> : <State of="PUBLISHED" text={t('published')} />
}
