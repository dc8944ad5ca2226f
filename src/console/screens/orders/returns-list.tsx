import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { CsvButton } from '../../ui/csv-button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { ReturnBadge, type ReturnStatus, returnStatusName } from './return-badge.tsx'

type Return = Schema<'ListedReturn'>

const statuses: readonly ReturnStatus[] = ['REQUESTED', 'APPROVED', 'RECEIVED', 'REJECTED']

const columns = (): readonly Column<Return>[] => [
  { title: common('order'), main: true, cell: ({ orderNumber }) => <span class="number">#{orderNumber}</span> },
  { title: common('date'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: common('status'), cell: ({ status }) => <ReturnBadge status={status} /> },
  { title: common('quantity'), alignEnd: true, cell: ({ lines }) => number(lines.reduce((sum, { quantity }) => sum + quantity, 0)) },
  { title: common('reason'), cell: ({ lines }) => <bdi class="cut">{[...new Set(lines.map(({ reason }) => reason))].join(', ')}</bdi> },
]

/** The returns of all orders. They are decided on the page of their order. */
export default function Returns() {
  const query = useQuery()
  const { status } = query.values
  const returns = useResource(JSON.stringify([status, query.page]), (signal) =>
    // The URL's status is unchecked; the API refuses unknown ones.
    ok(api.GET('/v2/returns', { params: { query: { ...(status ? { status } : {}), page: query.page } as object }, signal })),
  )
  useLiveReload(['order.*'], returns.reload)
  return (
    <Page title={common('returns')} actions={<CsvButton path="/v2/returns" query={{ status }} name="returns" />}>
      <Filters
        query={query}
        filters={[{ name: 'status', label: common('status'), options: statuses.map((status) => [status, returnStatusName(status)]) }]}
      />
      <ListTable
        resource={returns}
        query={query}
        isFiltered={status !== undefined}
        empty={<EmptyState icon="money" title={t('noReturns')} text={t('returnsNoneText')} />}
        caption={common('returns')}
        columns={columns()}
        href={({ orderId }) => shopPath('orders', orderId)}
      />
    </Page>
  )
}
