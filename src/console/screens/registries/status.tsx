import type { ComponentChildren } from 'preact'
import type { Schema, Versioned } from '../../lib/api/api.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { AccountLink } from '../../ui/account-name.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { type RecordOptions, saveRecord } from '../../ui/save-versioned.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'
import { isFinal, movesFrom, type Registry, type StatusOf } from './registry.domain.ts'

const moveName = (to: string): string => t.find(`move.${to}`) ?? to

/** The page of a record, with its status and buttons of the possible transitions, each with a confirmation. */
export function RecordPage<Of extends Registry, Data extends { readonly status: StatusOf<Of> }>({
  registry,
  resource,
  kind,
  nameOf,
  back,
  saveOptions,
  children,
}: {
  registry: Of
  resource: Resource<Versioned<Data>>
  /** Title until the record is read. */
  kind: string
  nameOf: (data: Data) => string
  back: { href: string; text: string }
  saveOptions: (version: Versioned<Data>, change: { status: StatusOf<Of> }) => RecordOptions<Data>
  children: (version: Versioned<Data>) => ComponentChildren
}) {
  const current = resource.data.value
  async function move(version: Versioned<Data>, to: StatusOf<Of>): Promise<void> {
    const name = truncate(nameOf(version.data))
    const consequence = t.find(`${registry}.${to}`)
    const verb = moveName(to)
    const isConfirmed = await confirm({
      title: t('moveOf', { move: verb, name }),
      body: (
        <>
          {consequence && <p>{consequence}</p>}
          {isFinal(to) && <p>{t('noWayBack')}</p>}
        </>
      ),
      action: verb,
      danger: to !== 'ACTIVE',
    })
    if (isConfirmed && (await saveRecord(resource, version.etag, saveOptions(version, { status: to }))))
      notify(t('moved', { name, state: stateName(to) }))
  }
  return (
    <Page
      title={current ? nameOf(current.data) : kind}
      back={back}
      subtitle={current && <StatusBadge status={current.data.status} />}
      actions={
        current &&
        movesFrom(registry, current.data.status).map((to) => (
          <Button key={to} kind={to === 'ACTIVE' ? 'primary' : 'danger'} onPress={() => move(current, to)} text={moveName(to)} />
        ))
      }
    >
      <ResourceView resource={resource}>{children}</ResourceView>
    </Page>
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
