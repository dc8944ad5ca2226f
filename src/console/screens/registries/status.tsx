import type { Schema } from '../../lib/api/api.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { AccountLink } from '../../ui/account-name.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'
import { isEnd, movesFrom, type Registry, type StatusOf } from './registry.domain.ts'

const verbOf = (to: string): string => {
  const key = `move.${to}`
  return t.has(key) ? t(key) : to
}

/** What a record may become, each asked about with what comes of it. @param onMove answers whether it was done */
export function Moves<Of extends Registry>({
  of,
  status,
  name,
  onMove,
}: {
  of: Of
  status: StatusOf<Of>
  name: string
  onMove: (to: StatusOf<Of>) => Promise<boolean>
}) {
  async function move(to: StatusOf<Of>): Promise<void> {
    const key = `${of}.${to}`
    const verb = verbOf(to)
    const sure = await confirm({
      title: t('moveOf', { move: verb, name: truncate(name) }),
      body: (
        <>
          {t.has(key) && <p>{t(key)}</p>}
          {isEnd(to) && <p>{t('noWayBack')}</p>}
        </>
      ),
      action: verb,
      danger: to !== 'ACTIVE',
    })
    if (sure && (await onMove(to))) notify(t('moved', { name: truncate(name), state: stateName(to) }))
  }
  return (
    <>
      {movesFrom(of, status).map((to) => (
        <Button key={to} kind={to === 'ACTIVE' ? 'primary' : 'danger'} onPress={() => move(to)}>
          {verbOf(to)}
        </Button>
      ))}
    </>
  )
}

/** What somebody was from when on, and who said so. */
export const History = ({ of }: { of: Schema<'AdminLender'>['statusHistory'] | Schema<'ServiceProvider'>['statusHistory'] }) => (
  <Section title={t('history')}>
    <ol class="timeline">
      {of.toReversed().map(({ status, at, actor }) => (
        <li key={`${at} ${status}`}>
          <span class="row tight">
            <StatusBadge of={status} /> <Moment at={at} />
          </span>
          <small class="faint">
            <AccountLink id={actor} />
          </small>
        </li>
      ))}
    </ol>
  </Section>
)
