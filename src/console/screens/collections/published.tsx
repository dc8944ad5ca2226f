import { moment } from '../../lib/format/format.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { State } from '../../ui/bits.tsx'
import { w } from './i18n.ts'

/** Whether the public sees it, or from when on. */
export function Published({ at }: { at: string | null }) {
  if (at === null) return <State of="DRAFT" text={w('notPublished')} />
  const isAhead = new Date(at).getTime() > serverNow()
  return isAhead ? <State of="PENDING" text={w('from', { at: moment(at) })} /> : <State of="PUBLISHED" text={w('published')} />
}
