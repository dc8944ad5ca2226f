import { useRoute } from 'preact-iso/router'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { ListView } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { OrderStatusBadge } from '../../ui/status-badge.tsx'
import { Table } from '../../ui/table.tsx'
import { Addresses } from './addresses.tsx'
import { CustomerGiftCards } from './cards.tsx'
import { EditCustomerDialog } from './edit.tsx'
import { EraseDialog } from './erase.tsx'
import { t } from './i18n.ts'
import { CustomerFacts } from './profile.tsx'

type Customer = Schema<'Customer'>

export default function CustomerPage() {
  const query = useQuery()
  const id = useRoute().params['id'] ?? ''
  const customer = useResource(id, (signal) => ok(api.GET('/customer/{customerId}', { params: { path: { customerId: id } }, signal })))
  const current = customer.data.value
  useLiveReload(['order.*', 'customer.*'], customer.reload)
  const isErased = current?.erasedAt != null
  return (
    <Page
      title={current ? (isErased ? t('erased') : current.name || current.email) : t('customer')}
      back={{ href: shopPath('customers'), text: t('title') }}
      actions={
        current &&
        canManage.value &&
        !isErased && (
          <>
            <ButtonLink href={query.href({ edit: '1', page: query.values['page'] })} text={common('edit')} />
            <Button
              icon="download"
              onPress={() => download(`/customer/${encodeURIComponent(id)}/export`, `${id}.json`, 'application/json')}
              text={t('export')}
            />
            <ButtonLink kind="danger" href={query.href({ erase: '1', page: query.values['page'] })} text={t('erase')} />
          </>
        )
      }
    >
      <ResourceView resource={customer}>
        {(data) => (
          <>
            {isErased && <Note tone="warn">{t('erasedText', { at: moment(data.erasedAt ?? '') })}</Note>}
            <div class="columns">
              <CustomerOrders customer={data} />
              <div class="stack">
                <CustomerFacts customer={data} />
                {!isErased && <Addresses customer={data} onChanged={customer.reload} />}
                {canManage.value && <CustomerGiftCards customerId={data.id} />}
              </div>
            </div>
            {query.values['edit'] && canManage.value && !isErased && (
              <EditCustomerDialog
                id={id}
                onClose={() => query.set({ edit: undefined, page: query.values['page'] }, { replace: true })}
                onSaved={async () => {
                  query.set({ edit: undefined, page: query.values['page'] }, { replace: true })
                  await customer.reload()
                }}
              />
            )}
            {query.values['erase'] && canManage.value && !isErased && (
              <EraseDialog
                customer={data}
                onClose={() => query.set({ erase: undefined, page: query.values['page'] }, { replace: true })}
                onErased={customer.reload}
              />
            )}
          </>
        )}
      </ResourceView>
    </Page>
  )
}

function CustomerOrders({ customer: { id } }: { customer: Customer }) {
  const query = useQuery()
  const orders = useResource(`${id} ${query.page}`, (signal) =>
    ok(api.GET('/v2/orders', { params: { query: { customerId: id, page: query.page } }, signal })),
  )
  useLiveReload(['order.*'], orders.reload)
  return (
    <Section title={common('orders')}>
      <ListView
        resource={orders}
        query={query}
        hasMorePages
        empty={<EmptyState icon="orders" title={common('noOrders')} text={t('noOrdersText')} />}
      >
        {(list) => (
          <Table
            caption={t('theirOrders')}
            rows={list.data}
            rowKey={(order) => order.id}
            href={(order) => shopPath('orders', order.id)}
            columns={[
              { title: common('order'), main: true, cell: (order) => `#${order.number}` },
              { title: common('placed'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
              { title: common('status'), cell: (order) => <OrderStatusBadge order={order} /> },
              { title: common('total'), alignEnd: true, cell: ({ total }) => <Money amount={total} /> },
            ]}
          />
        )}
      </ListView>
    </Section>
  )
}
