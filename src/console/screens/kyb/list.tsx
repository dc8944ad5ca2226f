import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment } from '../../lib/format/format.ts'
import { cohortName, lendingText } from '../../lib/format/lending-names.ts'
import { countryName } from '../../lib/format/names.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { t } from './i18n.ts'

type Kyb = Schema<'AdminKybRecord'>

const statuses = ['PENDING', 'APPROVED', 'REJECTED'] as const satisfies readonly Kyb['status'][]
/** Value of the `status` parameter for all statuses. */
const all = 'all'

/** @param isPending shows the waiting time instead of the decision */
const columns = (isPending: boolean, sort: NonNullable<Column<Kyb>['sort']>): readonly Column<Kyb>[] => [
  { title: common('legalName'), main: true, cell: ({ legalName }) => <bdi class="cut">{legalName}</bdi> },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} /> },
  { title: lendingText('cohort'), cell: ({ cohort }) => cohortName(cohort) },
  { title: common('address.countryCode'), cell: ({ country: code }) => countryName(code) },
  ...(isPending
    ? [
        {
          title: t('filed'),
          sort,
          cell: ({ createdAt }: Kyb) => (
            <span class="lines">
              <Moment at={createdAt} relative />
              <small class="faint">{moment(createdAt)}</small>
            </span>
          ),
        },
      ]
    : [
        { title: t('filed'), sort, cell: ({ createdAt }: Kyb) => <Moment at={createdAt} relative /> },
        { title: t('decided'), cell: ({ decidedAt }: Kyb) => (decidedAt ? <Moment at={decidedAt} /> : '–') },
      ]),
]

const sorts = ['oldest', 'newest'] as const

/** KYB records; pending ones first, oldest first. */
export default function Businesses() {
  const query = useQuery()
  const parameter = query.values['status']
  const status = parameter === all ? undefined : (statuses.find((status) => status === parameter) ?? 'PENDING')
  const isPending = status === 'PENDING'
  const defaultSort = isPending ? 'oldest' : 'newest'
  const sort = sorts.find((sort) => sort === query.values['sort']) ?? defaultSort
  const otherSort = sort === 'oldest' ? 'newest' : 'oldest'
  const records = useResource(JSON.stringify([status, sort, query.page]), (signal) =>
    ok(api.GET('/admin/kyb', { params: { query: { page: query.page, sort, ...(status && { status }) } }, signal })),
  )
  useLiveReload(['kyb.*'], records.reload)
  const tab = (value: string, text: string) => ({
    href: query.href({ status: value, sort: undefined }),
    text,
    current: (status ?? all) === value,
  })
  return (
    <Page title={t('title')}>
      <Tabs label={common('status')} tabs={[...statuses.map((status) => tab(status, stateName(status))), tab(all, common('all'))]} />
      <ListTable
        resource={records}
        query={query}
        isFiltered={!isPending}
        empty={<EmptyState icon="check" title={t('empty')} text={t('emptyText')} />}
        caption={t('title')}
        columns={columns(isPending, {
          href: query.href({ sort: otherSort === defaultSort ? undefined : otherSort }),
          direction: sort === 'oldest' ? 'ascending' : 'descending',
        })}
        href={({ id }) => operatorPath('kyb', id)}
        above={(list) => isPending && sort === defaultSort && list.total > 1 && <p class="hint">{t('order')}</p>}
      />
    </Page>
  )
}
