import { api, type Schema } from '../../lib/api/api.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { deviceName } from '../../lib/format/device-name.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Moment } from '../../ui/moment.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { type Column, Pager, Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'

type Session = Schema<'Session'>
type List = { data: Session[]; page: number; pages: number; total: number }

/** The person's sessions. */
export function Sessions({ sessions, query }: { sessions: Resource<List>; query: Query }) {
  async function endOthers(): Promise<void> {
    const isSure = await confirm({ title: t('endOthersTitle'), body: <p>{t('endOthersText')}</p>, action: t('endOthers'), danger: true })
    if (!isSure) return
    await api.DELETE('/auth/sessions')
    notify(t('othersEnded'))
    await sessions.reload()
  }
  async function endSession({ id }: Session): Promise<void> {
    await api.DELETE('/auth/sessions/{id}', { params: { path: { id } } })
    notify(t('ended'))
    await sessions.reload()
  }
  const hasOthers = (sessions.data.value?.total ?? 0) > 1
  return (
    <Section
      title={t('sessions')}
      hint={t('sessionsHint')}
      wide
      actions={hasOthers && <Button kind="danger" onPress={endOthers} text={t('endOthers')} />}
    >
      <ResourceView resource={sessions}>
        {(list) => (
          <>
            <Table caption={t('sessionsList')} columns={columns(endSession)} rows={list.data} rowKey={({ id }) => id} />
            <Pager pageInfo={list} query={query} />
          </>
        )}
      </ResourceView>
    </Section>
  )
}

const columns = (endSession: (session: Session) => Promise<void>): readonly Column<Session>[] => [
  {
    title: t('agent'),
    main: true,
    cell: ({ agent, current }) => (
      <>
        <bdi title={agent ?? undefined}>{agent === null ? t('unknownAgent') : deviceName(agent)}</bdi>{' '}
        {current && <span class="faint">({t('thisOne')})</span>}
      </>
    ),
  },
  { title: t('ipAddress'), cell: ({ address }) => <bdi>{address ?? '–'}</bdi> },
  { title: t('begun'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: t('used'), cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} relative /> },
  {
    title: common('actions'),
    cell: (session) =>
      // Log-out ends the present session.
      session.current ? '–' : <Button kind="quiet" onPress={() => endSession(session)} text={t('end')} />,
  },
]
