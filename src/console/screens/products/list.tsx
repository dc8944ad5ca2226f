import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink, CreateLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { columns, type Product, productStatuses } from './columns.tsx'
import { t } from './i18n.ts'
import { FailedChanges, SelectCheckbox, SelectionActions, useProductSelection } from './selected-products.tsx'

export default function Products() {
  const query = useQuery()
  const { q, status, vendor, type, tag, sku, sort } = query.values
  const filters = { q, status: status as Product['status'] | undefined, vendor, type, tag, sku }
  const isFiltered = Object.values(filters).some(Boolean)
  const products = useResource(JSON.stringify([filters, sort, query.page]), (signal) =>
    ok(api.GET('/product-v2', { params: { query: { ...filters, sort, page: query.page } as object }, signal })),
  )
  const selection = useProductSelection(() => products.reload())
  useLiveReload(
    ['stock.*', 'import.finished'],
    products.reload,
    ({ event, data }) => event.startsWith('import.') || !!products.data.peek()?.data.some(({ id }) => id === data['productId']),
  )
  const selectColumns: Column<Product>[] = canManage.value
    ? [{ title: t('pick'), cell: (product) => <SelectCheckbox product={product} chosen={selection.selected} /> }]
    : []
  return (
    <Page
      title={common('products')}
      actions={
        canManage.value && (
          <>
            <CsvButton path="/product-v2" query={filters} name="products" />
            <ButtonLink icon="upload" href={shopPath('products', 'import')} text={t('import')} />
            <CreateLink href={shopPath('products', 'new')} text={t('new')} />
          </>
        )
      }
    >
      <Filters
        query={query}
        search={t('search')}
        filters={[
          { name: 'status', label: common('status'), options: productStatuses.map((status) => [status, stateName(status)]) },
          { name: 'vendor', label: t('vendor') },
          { name: 'type', label: common('type') },
          { name: 'tag', label: t('tag') },
          { name: 'sku', label: t('sku') },
        ]}
      />
      <FailedChanges selection={selection} />
      <ListTable
        resource={products}
        query={query}
        isFiltered={isFiltered || query.page > 1}
        empty={
          <EmptyState
            icon="products"
            title={t('none')}
            text={t('noneText')}
            action={
              canManage.value && (
                <span class="row">
                  <CreateLink href={shopPath('products', 'new')} text={t('new')} />
                  <ButtonLink icon="upload" href={shopPath('products', 'import')} text={t('import')} />
                </span>
              )
            }
          />
        }
        caption={common('products')}
        columns={[...selectColumns, ...columns(query)]}
        href={({ id }) => shopPath('products', id)}
        above={(list) => canManage.value && <SelectionActions selection={selection} shownProducts={list.data} />}
      />
    </Page>
  )
}
