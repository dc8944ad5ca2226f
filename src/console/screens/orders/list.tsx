import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { mayManage, shopPath } from '../../lib/session/current-shop.ts'
import { CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { OrderStatusBadge, StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from './i18n.ts'

type Order = Schema<'Order'>

const statuses = ['PENDING_PAYMENT', 'PAID', 'CONFIRMED', 'FULFILLED', 'COMPLETED', 'COMPENSATING', 'CANCELLED', 'EXPIRED'] as const

const paymentStatuses = ['PENDING', 'AUTHORIZED', 'PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED', 'PARTIALLY_REFUNDED', 'REFUNDED'] as const

const fulfilmentStatuses = ['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED'] as const

const withoutEmpty = (filters: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value))

const columns = (): readonly Column<Order>[] => [
  { title: common('order'), main: true, cell: ({ number }) => <span class="number">#{number}</span> },
  { title: common('placed'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: common('customer'), cell: ({ email }) => <bdi class="cut">{email ?? t('guest')}</bdi> },
  { title: common('status'), cell: (order) => <OrderStatusBadge of={order} /> },
  { title: t('payment'), cell: ({ paymentStatus }) => <StatusBadge of={paymentStatus} text={t(`payment.${paymentStatus}`)} /> },
  { title: common('total'), end: true, cell: ({ total }) => <Money of={total} /> },
]

/** The shop's orders with the API's filters. */
export default function Orders() {
  const query = useQuery()
  const { q, status, paymentStatus, fulfilmentStatus, toFulfil, number, email, customerId, from, to } = query.of
  const filters = {
    q,
    status,
    paymentStatus,
    fulfilmentStatus,
    toFulfil,
    number: number?.trim().replace(/^#/, ''),
    email,
    customerId,
    from,
    to,
  }
  const orders = useResource(JSON.stringify([filters, query.page]), (signal) =>
    // The URL's values are unchecked; the API refuses unknown states.
    ok(api.GET('/v2/orders', { params: { query: { ...withoutEmpty(filters), page: query.page } as object }, signal })),
  )
  useLiveReload(['order.*'], orders.reload)
  const isFiltered = Object.values(filters).some(Boolean)
  return (
    <Page
      title={common('orders')}
      actions={
        mayManage.value && (
          <>
            <CsvButton path="/v2/orders" query={filters} name="orders" />
            <CreateLink href={shopPath('orders', 'drafts', 'new')} text={t('newDraft')} />
          </>
        )
      }
    >
      <Filters
        query={query}
        search={t('search')}
        filters={[
          { name: 'status', label: common('status'), options: statuses.map((one) => [one, stateName(one)]) },
          { name: 'paymentStatus', label: t('payment'), options: paymentStatuses.map((one) => [one, t(`payment.${one}`)]) },
          { name: 'fulfilmentStatus', label: t('sending'), options: fulfilmentStatuses.map((one) => [one, stateName(one)]) },
          { name: 'toFulfil', label: t('leftToSend'), options: [['true', common('yes')]] },
          { name: 'number', label: t('filterNumber') },
          { name: 'email', label: common('email'), type: 'email' },
          // Timestamps use the shop's time zone, but these dates are UTC.
          { name: 'from', label: `${common('from')} (UTC)`, type: 'date' },
          { name: 'to', label: `${common('to')} (UTC)`, type: 'date' },
        ]}
      />
      {customerId && (
        <Note>
          {t('ofCustomer')} · <a href={query.href({ customerId: undefined })}>{t('allCustomers')}</a>
        </Note>
      )}
      <ListTable
        of={orders}
        query={query}
        isFiltered={isFiltered}
        goesOn={!filters.q}
        empty={<EmptyState icon="orders" title={common('noOrders')} text={t('noneText')} />}
        caption={common('orders')}
        columns={columns()}
        href={({ id }) => shopPath('orders', id)}
      />
    </Page>
  )
}
