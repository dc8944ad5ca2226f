import { api, type Schema } from '../../lib/api/api.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { c } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Loaded, Section } from '../../ui/page.tsx'
import { type Column, Pager, Table } from '../../ui/table.tsx'
import { w } from './i18n.ts'

type Session = Schema<'Session'>
type List = { data: Session[]; page: number; pages: number; total: number }

/** Where one is logged in. */
export function Sessions({ of, query }: { of: Resource<List>; query: Query }) {
  async function endOthers(): Promise<void> {
    const isSure = await confirm({ title: w('endOthersTitle'), body: <p>{w('endOthersText')}</p>, action: w('endOthers'), danger: true })
    if (!isSure) return
    await api.DELETE('/auth/sessions')
    notify(w('othersEnded'))
    await of.reload()
  }
  async function end({ id }: Session): Promise<void> {
    await api.DELETE('/auth/sessions/{id}', { params: { path: { id } } })
    notify(w('ended'))
    await of.reload()
  }
  const hasOthers = (of.data.value?.total ?? 0) > 1
  return (
    <Section
      title={w('sessions')}
      hint={w('sessionsHint')}
      wide
      actions={
        hasOthers && (
          <Button kind="danger" onPress={endOthers}>
            {w('endOthers')}
          </Button>
        )
      }
    >
      <Loaded of={of}>
        {(list) => (
          <>
            <Table caption={w('sessionsList')} columns={columns(end)} rows={list.data} rowKey={({ id }) => id} />
            <Pager of={list} query={query} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

const columns = (end: (session: Session) => Promise<void>): readonly Column<Session>[] => [
  {
    key: 'agent',
    title: w('agent'),
    main: true,
    cell: ({ agent, current }) => (
      <>
        <bdi>{agent ?? w('unknownAgent')}</bdi> {current && <span class="faint">({w('thisOne')})</span>}
      </>
    ),
  },
  { key: 'place', title: w('place'), cell: ({ address }) => <bdi>{address ?? '–'}</bdi> },
  { key: 'begun', title: w('begun'), cell: ({ createdAt }) => <When at={createdAt} /> },
  { key: 'used', title: w('used'), cell: ({ lastUsedAt }) => <When at={lastUsedAt} short /> },
  {
    key: 'actions',
    title: c('actions'),
    cell: (session) =>
      // One's own ends by logging out.
      session.current ? (
        '–'
      ) : (
        <Button kind="quiet" onPress={() => end(session)}>
          {w('end')}
        </Button>
      ),
  },
]
