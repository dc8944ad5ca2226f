import { useLocation } from 'preact-iso/router'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { dayOf, number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink, CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { EmailText } from '../../ui/email-text.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Money } from '../../ui/money.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { type Column, columnSort } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { NewCustomerForm } from './new.tsx'

type Customer = Schema<'Customer'>

const columns = (query: Query): readonly Column<Customer>[] => [
  {
    title: common('name'),
    main: true,
    sort: columnSort(query, 'name'),
    cell: ({ name, email, erasedAt }) => <bdi class="cut">{erasedAt ? t('erased') : name || email}</bdi>,
  },
  { title: common('email'), name: 'email', cell: ({ email, erasedAt }) => erasedAt === null && <EmailText email={email} /> },
  { title: t('since'), name: 'since', cell: ({ createdAt }) => <time dateTime={createdAt}>{dayOf(createdAt)}</time> },
  { title: t('marketing'), name: 'marketing', cell: ({ acceptsMarketing }) => t(acceptsMarketing ? 'marketingYes' : 'marketingNo') },
  { title: common('tags'), name: 'tags', cell: ({ tags }) => <bdi class="cut">{tags.join(', ')}</bdi> },
  { title: common('orders'), name: 'orders', alignEnd: true, cell: ({ ordersCount }) => number(ordersCount) },
  { title: t('spent'), name: 'spent', alignEnd: true, cell: ({ totalSpent }) => <Money amount={totalSpent} /> },
]

export default function Customers() {
  const query = useQuery()
  const { route } = useLocation()
  const { q, email, tag, sort, new: isNew } = query.values
  const customers = useResource(JSON.stringify([q, email, tag, sort, query.page]), (signal) =>
    ok(
      api.GET('/customer', {
        // The URL's values are unchecked; the API refuses unknown orders.
        params: {
          query: { ...(q && { q }), ...(email && { email }), ...(tag && { tag }), ...(sort && { sort }), page: query.page } as object,
        },
        signal,
      }),
    ),
  )
  return (
    <Page
      title={t('title')}
      actions={
        canManage.value && (
          <>
            <CsvButton path="/customer" query={{ q, email, tag }} name="customers" />
            <ButtonLink icon="upload" href={shopPath('customers', 'import')} text={t('import')} />
            <CreateLink href={query.href({ new: '1', page: query.values['page'] })} text={t('add')} />
          </>
        )
      }
    >
      <Filters
        query={query}
        search={t('search')}
        filters={[
          { name: 'email', label: common('email'), type: 'email' },
          { name: 'tag', label: common('tag') },
        ]}
      />
      <ListTable
        resource={customers}
        query={query}
        isFiltered={!!q || !!email || !!tag}
        hasMorePages={!q && !(tag && sort)}
        empty={
          <EmptyState
            icon="people"
            title={t('none')}
            text={t('noneText')}
            action={canManage.value && <ButtonLink href={shopPath('customers', 'import')} text={t('import')} />}
          />
        }
        notFound={t('guests')}
        caption={t('title')}
        columns={columns(query)}
        href={({ id }) => shopPath('customers', id)}
      />
      {isNew && canManage.value && (
        <FormDialog title={t('add')} onClose={() => query.set({ new: undefined, page: query.values['page'] }, { replace: true })}>
          <NewCustomerForm onCreated={({ id }) => route(shopPath('customers', id), true)} />
        </FormDialog>
      )}
    </Page>
  )
}
