import { useRoute } from 'preact-iso/router'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { mayManage, shopPath } from '../../lib/session/current-shop.ts'
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
  const of = customer.data.value
  useLiveReload(['order.*', 'customer.*'], customer.reload)
  const isErased = of?.erasedAt != null
  return (
    <Page
      title={of ? (isErased ? t('erased') : of.name || of.email) : t('customer')}
      back={{ href: shopPath('customers'), text: t('title') }}
      actions={
        of &&
        mayManage.value &&
        !isErased && (
          <>
            <ButtonLink href={query.href({ edit: '1', page: query.of['page'] })} text={common('edit')} />
            <Button
              icon="download"
              onPress={() => download(`/customer/${encodeURIComponent(id)}/export`, `${id}.json`, 'application/json')}
              text={t('export')}
            />
            <ButtonLink kind="danger" href={query.href({ erase: '1', page: query.of['page'] })} text={t('erase')} />
          </>
        )
      }
    >
      <ResourceView of={customer}>
        {(shown) => (
          <>
            {isErased && <Note tone="warn">{t('erasedText', { at: moment(shown.erasedAt ?? '') })}</Note>}
            <div class="columns">
              <CustomerOrders of={shown} />
              <div class="stack">
                <CustomerFacts of={shown} />
                {!isErased && <Addresses of={shown} onChanged={customer.reload} />}
                {mayManage.value && <CustomerGiftCards customerId={shown.id} />}
              </div>
            </div>
            {query.of['edit'] && mayManage.value && !isErased && (
              <EditCustomerDialog
                id={id}
                onClose={() => query.set({ edit: undefined, page: query.of['page'] }, { replace: true })}
                onSaved={async () => {
                  query.set({ edit: undefined, page: query.of['page'] }, { replace: true })
                  await customer.reload()
                }}
              />
            )}
            {query.of['erase'] && mayManage.value && !isErased && (
              <EraseDialog
                of={shown}
                onClose={() => query.set({ erase: undefined, page: query.of['page'] }, { replace: true })}
                onErased={customer.reload}
              />
            )}
          </>
        )}
      </ResourceView>
    </Page>
  )
}

function CustomerOrders({ of: { id } }: { of: Customer }) {
  const query = useQuery()
  const orders = useResource(`${id} ${query.page}`, (signal) =>
    ok(api.GET('/v2/orders', { params: { query: { customerId: id, page: query.page } }, signal })),
  )
  useLiveReload(['order.*'], orders.reload)
  return (
    <Section title={common('orders')}>
      <ListView of={orders} query={query} goesOn empty={<EmptyState icon="orders" title={common('noOrders')} text={t('noOrdersText')} />}>
        {(list) => (
          <Table
            caption={t('theirOrders')}
            rows={list.data}
            rowKey={(order) => order.id}
            href={(order) => shopPath('orders', order.id)}
            columns={[
              { title: common('order'), main: true, cell: (order) => `#${order.number}` },
              { title: common('placed'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
              { title: common('status'), cell: (order) => <OrderStatusBadge of={order} /> },
              { title: common('total'), end: true, cell: ({ total }) => <Money of={total} /> },
            ]}
          />
        )}
      </ListView>
    </Section>
  )
}
