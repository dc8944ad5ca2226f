import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from './i18n.ts'

type Draft = Schema<'DraftOrder'>

const statuses = ['OPEN', 'PENDING_PAYMENT', 'COMPLETED', 'CANCELLED', 'EXPIRED'] as const

const columns = (): readonly Column<Draft>[] => [
  {
    title: t('for'),
    main: true,
    cell: ({ email, shippingAddress, id }) => (
      <bdi class="cut">{email ?? shippingAddress?.name ?? t('nobodyYet', { id: id.slice(-6) })}</bdi>
    ),
  },
  { title: t('made'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} /> },
  { title: t('lines'), alignEnd: true, cell: ({ lines }) => number(lines.length) },
  { title: t('sent'), cell: ({ sentAt }) => (sentAt ? <Moment at={sentAt} /> : '–') },
  { title: common('total'), alignEnd: true, cell: ({ totals }) => <Money amount={totals.total} /> },
]

/** Draft orders. */
export default function Drafts() {
  const query = useQuery()
  const { status } = query.values
  const drafts = useResource(JSON.stringify([status, query.page]), (signal) =>
    ok(api.GET('/v2/orders/drafts', { params: { query: { ...(status ? { status } : {}), page: query.page } as object }, signal })),
  )
  useLiveReload(['order.*'], drafts.reload)
  const create = canManage.value && <CreateLink href={shopPath('orders', 'drafts', 'new')} text={t('new')} />
  return (
    <Page
      title={t('title')}
      subtitle={t('subtitle')}
      actions={
        canManage.value && (
          <>
            <CsvButton path="/v2/orders/drafts" query={{ status }} name="drafts" />
            {create}
          </>
        )
      }
    >
      <Filters
        query={query}
        filters={[{ name: 'status', label: common('status'), options: statuses.map((status) => [status, stateName(status)]) }]}
      />
      <ListTable
        resource={drafts}
        query={query}
        isFiltered={!!status}
        empty={<EmptyState icon="page" title={t('none')} text={t('noneText')} action={create} />}
        caption={t('title')}
        columns={columns()}
        href={({ id }) => shopPath('orders', 'drafts', id)}
      />
    </Page>
  )
}
