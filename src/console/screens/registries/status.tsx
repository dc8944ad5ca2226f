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
import { isFinal, movesFrom, type Registry, type StatusOf } from './registry.domain.ts'

const moveName = (to: string): string => t.find(`move.${to}`) ?? to

/**
 * Buttons of the possible transitions, each with a confirmation.
 * @param onMove returns whether it was saved
 */
export function StatusActions<Of extends Registry>({
  registry,
  status,
  name,
  onMove,
}: {
  registry: Of
  status: StatusOf<Of>
  name: string
  onMove: (to: StatusOf<Of>) => Promise<boolean>
}) {
  async function move(to: StatusOf<Of>): Promise<void> {
    const consequence = t.find(`${registry}.${to}`)
    const verb = moveName(to)
    const isConfirmed = await confirm({
      title: t('moveOf', { move: verb, name: truncate(name) }),
      body: (
        <>
          {consequence && <p>{consequence}</p>}
          {isFinal(to) && <p>{t('noWayBack')}</p>}
        </>
      ),
      action: verb,
      danger: to !== 'ACTIVE',
    })
    if (isConfirmed && (await onMove(to))) notify(t('moved', { name: truncate(name), state: stateName(to) }))
  }
  return (
    <>
      {movesFrom(registry, status).map((to) => (
        <Button key={to} kind={to === 'ACTIVE' ? 'primary' : 'danger'} onPress={() => move(to)} text={moveName(to)} />
      ))}
    </>
  )
}

/** The status history. */
export const StatusHistory = ({
  history,
}: {
  history: Schema<'AdminLender'>['statusHistory'] | Schema<'ServiceProvider'>['statusHistory']
}) => (
  <Section title={t('history')}>
    <ol class="timeline">
      {history.toReversed().map(({ status, at, actor }) => (
        <li key={`${at} ${status}`}>
          <span class="row tight">
            <StatusBadge status={status} /> <Moment at={at} />
          </span>
          <small class="faint">
            <AccountLink id={actor} />
          </small>
        </li>
      ))}
    </ol>
  </Section>
)
