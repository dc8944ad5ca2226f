import type { ComponentChildren } from 'preact'
import type { Resource } from '../lib/api/resource.ts'
import { common } from '../lib/i18n/common.ts'
import { useReloadOnReturn } from '../lib/live/live-events.ts'
import type { Query } from '../lib/navigation/query.ts'
import { ButtonLink } from './button.tsx'
import { ColumnMenu, shownColumns } from './column-menu.tsx'
import { EmptyState, ResourceView } from './page.tsx'
import { type Column, type PageInfo, Pager, Table } from './table.tsx'

type ListPage = PageInfo & { readonly data: readonly unknown[]; readonly limit: number }
type ListViewProps<List> = {
  resource: Resource<List>
  query: Query
  isFiltered?: boolean
  empty: ComponentChildren
  notFound?: string
  hasMorePages?: boolean
}

/**
 * A page of a list with its pager.
 * @param isFiltered whether filters are set: then an empty list shows `notFound`
 * @param empty shown if the list is empty without filters
 * @param hasMorePages whether pages follow beyond the counted ones
 */
export function ListView<List extends ListPage>({
  resource,
  query,
  isFiltered = false,
  empty,
  notFound = common('nothingFoundText'),
  hasMorePages = false,
  children,
}: ListViewProps<List> & { children: (list: List) => ComponentChildren }) {
  useReloadOnReturn(resource.reload)
  return (
    <ResourceView resource={resource}>
      {(list) => {
        // The last row of a page can be gone, or the page never existed.
        if (list.data.length === 0 && list.total > 0) return <PagePastEnd pageInfo={list} query={query} />
        if (list.data.length === 0) return isFiltered ? <EmptyState icon="search" title={common('nothingFound')} text={notFound} /> : empty
        return (
          <>
            {children(list)}
            <Pager pageInfo={list} query={query} hasMorePages={hasMorePages && !!list.totalCapped && list.data.length === list.limit} />
          </>
        )
      }}
    </ResourceView>
  )
}

type TablePage<Row> = Omit<ListPage, 'data'> & { readonly data: readonly Row[] }
/**
 * A page of a list as a table.
 * @param href link of a row
 * @param above shown above the table
 */
export const ListTable = <Row extends { readonly id: string }>({
  caption,
  columns,
  href,
  above,
  ...list
}: ListViewProps<TablePage<Row>> & {
  caption: string
  columns: readonly Column<Row>[]
  href?: (row: Row) => string
  above?: (list: TablePage<Row>) => ComponentChildren
}) => (
  <ListView {...list}>
    {(page) => (
      <>
        {above?.(page)}
        <ColumnMenu columns={columns} query={list.query} />
        <Table
          caption={caption}
          columns={shownColumns(columns, list.query)}
          rows={page.data}
          rowKey={({ id }) => id}
          {...(href && { href })}
        />
      </>
    )}
  </ListView>
)

const PagePastEnd = ({ pageInfo: { page, pages }, query }: { pageInfo: PageInfo; query: Query }) => (
  <EmptyState
    icon="search"
    title={common('pastEnd', { page })}
    action={<ButtonLink href={query.href({ page: String(Math.max(1, pages)) })} text={common('last')} />}
  />
)
