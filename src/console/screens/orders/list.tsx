import { api, ok, pathWith, type Schema } from '../../lib/api.ts'
import { download } from '../../lib/download.ts'
import { useLive } from '../../lib/live.ts'
import { useQuery } from '../../lib/query.ts'
import { useResource } from '../../lib/resource.ts'
import { at, mayManage } from '../../lib/shop.ts'
import { c, stateName } from '../../lib/words/common.ts'
import { Money, State, When } from '../../ui/bits.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { Empty, Loaded, Page } from '../../ui/page.tsx'
import { type Column, Pager, Table } from '../../ui/table.tsx'
import { w } from './words.ts'

type Order = Schema<'Order'>

const statuses = ['PENDING_PAYMENT', 'PAID', 'CONFIRMED', 'FULFILLED', 'COMPLETED', 'COMPENSATING', 'CANCELLED', 'EXPIRED'] as const

const columns = (): readonly Column<Order>[] => [
  { key: 'number', title: w('number'), main: true, cell: ({ number }) => `#${number}` },
  { key: 'placed', title: w('placed'), cell: ({ createdAt }) => <When at={createdAt} /> },
  { key: 'customer', title: w('customer'), cell: ({ email }) => <bdi>{email ?? w('guest')}</bdi> },
  { key: 'status', title: c('status'), cell: ({ status }) => <State of={status} /> },
  { key: 'sending', title: w('sending'), cell: ({ fulfilmentStatus }) => <State of={fulfilmentStatus} /> },
  { key: 'total', title: w('total'), end: true, cell: ({ total }) => <Money of={total} /> },
]

export default function Orders() {
  const query = useQuery()
  const { q, status, from, to } = query.of
  const asked = { q, status: status as Order['status'] | undefined, from, to }
  const orders = useResource(JSON.stringify([asked, query.page]), (signal) =>
    ok(api.GET('/v2/orders', { params: { query: { ...asked, page: query.page } as object }, signal })),
  )
  useLive(['order.*'], orders.reload)
  const isFiltered = Object.values(asked).some(Boolean)
  return (
    <Page
      title={w('title')}
      actions={
        mayManage.value && (
          <>
            <Button icon="download" onPress={() => download(pathWith('/v2/orders', asked), 'orders.csv', 'text/csv')}>
              {c('download')}
            </Button>
            <ButtonLink icon="plus" kind="primary" href={at('orders', 'drafts', 'new')}>
              {c('create')}
            </ButtonLink>
          </>
        )
      }
    >
      <Filters
        query={query}
        search={w('search')}
        filters={[
          { name: 'status', label: c('status'), options: statuses.map((one) => [one, stateName(one)]) },
          { name: 'from', label: c('from'), type: 'date' },
          { name: 'to', label: c('to'), type: 'date' },
        ]}
      />
      <Loaded of={orders}>
        {(list) =>
          list.data.length === 0 && !isFiltered ? (
            <Empty icon="orders" title={w('none')} text={w('noneText')} />
          ) : list.data.length === 0 ? (
            <Empty icon="search" title={c('nothingFound')} text={c('nothingFoundText')} />
          ) : (
            <>
              <Table
                caption={w('title')}
                columns={columns()}
                rows={list.data}
                rowKey={({ id }) => id}
                href={({ id }) => at('orders', id)}
              />
              <Pager of={list} query={query} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
