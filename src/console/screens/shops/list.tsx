import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { countryName } from '../../lib/format/names.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from './i18n.ts'

type Shop = Schema<'AdminShop'>

const statuses = ['ACTIVE', 'KYB_VERIFIED', 'SUSPENDED'] as const satisfies readonly Shop['status'][]

const columns = (): readonly Column<Shop>[] => [
  { title: common('shop'), main: true, cell: ({ title, name }) => <bdi class="cut">{title || name}</bdi> },
  { title: t('handle'), cell: ({ name }) => <code>{name}</code> },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} /> },
  { title: common('mode'), cell: ({ mode }) => <StatusBadge status={mode} /> },
  { title: common('address.countryCode'), cell: ({ country: code }) => countryName(code) },
  { title: t('currency'), cell: ({ currency }) => currency },
  { title: t('created'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
]

/** All shops, newest first. */
export default function Shops() {
  const query = useQuery()
  const { q } = query.values
  const status = statuses.find((status) => status === query.values['status'])
  const shops = useResource(JSON.stringify([q, status, query.page]), (signal) =>
    ok(api.GET('/admin/shops', { params: { query: { page: query.page, ...(q ? { q } : {}), ...(status ? { status } : {}) } }, signal })),
  )
  useLiveReload(['shop.*'], shops.reload)
  return (
    <Page title={common('shops')}>
      <Filters
        query={query}
        search={t('search')}
        filters={[{ name: 'status', label: common('status'), options: statuses.map((status) => [status, stateName(status)]) }]}
      />
      <ListTable
        resource={shops}
        query={query}
        isFiltered={!!q || !!status}
        empty={<EmptyState icon="products" title={t('none')} text={t('noneText')} />}
        caption={common('shops')}
        columns={columns()}
        href={({ id }) => operatorPath('shops', id)}
      />
    </Page>
  )
}
