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

/** @param areWaiting shows the waiting time instead of the decision */
const columns = (areWaiting: boolean, sort: NonNullable<Column<Kyb>['sort']>): readonly Column<Kyb>[] => [
  { title: common('legalName'), main: true, cell: ({ legalName }) => <bdi class="cut">{legalName}</bdi> },
  { title: common('status'), cell: ({ status }) => <StatusBadge of={status} /> },
  { title: lendingText('cohort'), cell: ({ cohort }) => cohortName(cohort) },
  { title: common('address.countryCode'), cell: ({ country: code }) => countryName(code) },
  ...(areWaiting
    ? [
        {
          title: t('filed'),
          sort,
          cell: ({ createdAt }: Kyb) => (
            <span class="lines">
              <Moment at={createdAt} short />
              <small class="faint">{moment(createdAt)}</small>
            </span>
          ),
        },
      ]
    : [
        { title: t('filed'), sort, cell: ({ createdAt }: Kyb) => <Moment at={createdAt} short /> },
        { title: t('decided'), cell: ({ decidedAt }: Kyb) => (decidedAt ? <Moment at={decidedAt} /> : '–') },
      ]),
]

const sorts = ['oldest', 'newest'] as const

/** KYB records; pending ones first, oldest first. */
export default function Businesses() {
  const query = useQuery()
  const parameter = query.of['status']
  const status = parameter === all ? undefined : (statuses.find((one) => one === parameter) ?? 'PENDING')
  const areWaiting = status === 'PENDING'
  const usual = areWaiting ? 'oldest' : 'newest'
  const sort = sorts.find((one) => one === query.of['sort']) ?? usual
  const other = sort === 'oldest' ? 'newest' : 'oldest'
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
      <Tabs label={common('status')} of={[...statuses.map((one) => tab(one, stateName(one))), tab(all, common('all'))]} />
      <ListTable
        of={records}
        query={query}
        isFiltered={!areWaiting}
        empty={<EmptyState icon="check" title={t('empty')} text={t('emptyText')} />}
        caption={t('title')}
        columns={columns(areWaiting, {
          href: query.href({ sort: other === usual ? undefined : other }),
          direction: sort === 'oldest' ? 'ascending' : 'descending',
        })}
        href={({ id }) => operatorPath('kyb', id)}
        above={(list) => areWaiting && sort === usual && list.total > 1 && <p class="hint">{t('order')}</p>}
      />
    </Page>
  )
}
