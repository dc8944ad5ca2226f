import { useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { canFulfil, canManage, shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink, CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { EmailText } from '../../ui/email-text.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { FulfilmentBadge, StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { BulkFulfilDialog } from './bulk-fulfil.tsx'
import { t } from './i18n.ts'
import { SelectionBar, selectionColumn, useSelection } from './selection.tsx'

type Order = Schema<'Order'>

const statuses = ['PENDING_PAYMENT', 'PAID', 'CONFIRMED', 'FULFILLED', 'COMPLETED', 'COMPENSATING', 'CANCELLED', 'EXPIRED'] as const

const paymentStatuses = ['PENDING', 'AUTHORIZED', 'PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED', 'PARTIALLY_REFUNDED', 'REFUNDED'] as const

const fulfilmentStatuses = ['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED'] as const

const withoutEmpty = (filters: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value))

/** Sorts by a column: descending first, then ascending. */
function sortBy(query: Query, name: 'createdAt' | 'total'): NonNullable<Column<Order>['sort']> {
  const { sort = '-createdAt' } = query.values
  const next = sort === `-${name}` ? name : `-${name}`
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none'
  return { href: query.href({ sort: next === '-createdAt' ? undefined : next }), direction }
}

const OrderNumber = ({ number, isByAgent }: { number: number; isByAgent: boolean }) => (
  <>
    <span class="number">#{number}</span> {isByAgent && <StatusBadge status="AGENT" text={t('agent')} />}
  </>
)

const columns = (query: Query): readonly Column<Order>[] => [
  { title: common('order'), main: true, cell: ({ number, agent }) => <OrderNumber number={number} isByAgent={Boolean(agent)} /> },
  { title: common('placed'), name: 'date', sort: sortBy(query, 'createdAt'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: common('customer'), name: 'customer', cell: ({ email }) => <EmailText email={email ?? t('guest')} cut /> },
  { title: common('status'), name: 'status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    title: t('payment'),
    name: 'payment',
    cell: ({ paymentStatus }) => <StatusBadge status={paymentStatus} text={t(`payment.${paymentStatus}`)} />,
  },
  { title: t('sending'), name: 'fulfilment', cell: (order) => <FulfilmentBadge order={order} /> },
  { title: common('tags'), name: 'tags', cell: ({ tags = [] }) => <bdi class="cut">{tags.join(', ')}</bdi> },
  { title: common('total'), name: 'total', sort: sortBy(query, 'total'), alignEnd: true, cell: ({ total }) => <Money amount={total} /> },
]

/** The shop's orders with the API's filters. */
export default function Orders() {
  const query = useQuery()
  const { q, status, paymentStatus, fulfilmentStatus, toFulfil, agent, number, email, tag, customerId, from, to, sort } = query.values
  const filters = {
    q,
    status,
    paymentStatus,
    fulfilmentStatus,
    toFulfil,
    agent,
    number: number?.trim().replace(/^#/, ''),
    email,
    tag,
    customerId,
    from,
    to,
  }
  const isToFulfil = toFulfil === 'true'
  // As many as one request fulfils.
  const limit = isToFulfil ? '100' : undefined
  const selection = useSelection()
  // Held here, because the list is empty once all of them are sent.
  const ordersToFulfil = useSignal<readonly Order[] | undefined>(undefined)
  function closeDialog(): void {
    ordersToFulfil.value = undefined
    selection.value = new Set()
    void orders.reload()
  }
  const orders = useResource(JSON.stringify([filters, sort, query.page]), (signal) =>
    // The URL's values are unchecked; the API refuses unknown states.
    ok(api.GET('/v2/orders', { params: { query: { ...withoutEmpty({ ...filters, sort, limit }), page: query.page } as object }, signal })),
  )
  useLiveReload(['order.*'], orders.reload)
  const isFiltered = Object.values(filters).some(Boolean)
  return (
    <Page
      title={common('orders')}
      actions={
        <>
          {canFulfil.value && <ButtonLink icon="upload" href={shopPath('orders', 'tracking')} text={t('trackingFile')} />}
          {canManage.value && <CsvButton path="/v2/orders" query={filters} name="orders" />}
          {canManage.value && <CreateLink href={shopPath('orders', 'drafts', 'new')} text={t('newDraft')} />}
        </>
      }
    >
      <Tabs
        label={common('view')}
        tabs={[
          { href: query.href({ toFulfil: undefined }), text: common('all'), current: !isToFulfil },
          { href: query.href({ toFulfil: 'true' }), text: t('toFulfil'), current: isToFulfil },
        ]}
      />
      <Filters
        query={query}
        search={t('search')}
        filters={[
          { name: 'status', label: common('status'), options: statuses.map((status) => [status, stateName(status)]) },
          { name: 'paymentStatus', label: t('payment'), options: paymentStatuses.map((status) => [status, t(`payment.${status}`)]) },
          { name: 'fulfilmentStatus', label: t('sending'), options: fulfilmentStatuses.map((status) => [status, stateName(status)]) },
          { name: 'agent', label: t('agent'), options: [['true', t('byAgent')]] },
          { name: 'number', label: t('filterNumber') },
          { name: 'tag', label: common('tag') },
          { name: 'email', label: common('email'), type: 'email' },
          { name: 'from', label: common('from'), type: 'date' },
          { name: 'to', label: common('to'), type: 'date' },
        ]}
      />
      {customerId && (
        <Note>
          {t('ofCustomer')} · <a href={query.href({ customerId: undefined })}>{t('allCustomers')}</a>
        </Note>
      )}
      <ListTable
        resource={orders}
        query={query}
        isFiltered={isFiltered}
        hasMorePages={!filters.q}
        empty={<EmptyState icon="orders" title={common('noOrders')} text={t('noneText')} />}
        caption={common('orders')}
        columns={canFulfil.value ? [selectionColumn(selection), ...columns(query)] : columns(query)}
        above={({ data }) =>
          canFulfil.value && <SelectionBar orders={data} selection={selection} onFulfil={(selected) => (ordersToFulfil.value = selected)} />
        }
        href={({ id }) => shopPath('orders', id)}
      />
      {ordersToFulfil.value && <BulkFulfilDialog orders={ordersToFulfil.value} onClose={closeDialog} />}
    </Page>
  )
}
