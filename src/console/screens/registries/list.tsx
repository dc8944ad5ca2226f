import type { ComponentChildren } from 'preact'
import { useResource } from '../../lib/api/resource.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useVisibleInterval } from '../../lib/live/live-events.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { ButtonLink, CreateLink } from '../../ui/button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListView } from '../../ui/list-view.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'

const pollMs = 30_000

type List<Row> = { readonly data: Row[]; readonly page: number; readonly limit: number; readonly total: number; readonly pages: number }

/**
 * A registry's list with status filter.
 * @param read reads a page
 * @param empty texts of an empty list
 */
export function RegistryList<Row extends { readonly id: string }>({
  query,
  title,
  subtitle,
  statuses = [],
  create,
  columns,
  href,
  read,
  empty,
  above,
  isNarrowed = false,
}: {
  query: Query
  title: string
  subtitle?: string
  statuses?: readonly string[]
  create: { href: string; text: string }
  columns: readonly Column<Row>[]
  href: (row: Row) => string
  read: (status: string | undefined, signal: AbortSignal) => Promise<List<Row>>
  empty: { title: string; text: string }
  above?: ComponentChildren
  /** Whether other filters are set. */
  isNarrowed?: boolean
}) {
  const status = statuses.find((one) => one === query.of['status'])
  const list = useResource(JSON.stringify([query.of, query.page]), (signal) => read(status, signal))
  // Registries send no events.
  useVisibleInterval(pollMs, list.reload)
  return (
    <Page title={title} subtitle={subtitle} actions={<CreateLink href={create.href} text={create.text} />}>
      {statuses.length > 0 && (
        <Filters
          query={query}
          filters={[{ name: 'status', label: common('status'), options: statuses.map((one) => [one, stateName(one)]) }]}
        />
      )}
      {above}
      <ListView
        of={list}
        query={query}
        isFiltered={!!status || isNarrowed}
        empty={
          <EmptyState
            icon="book"
            title={empty.title}
            text={empty.text}
            action={
              <ButtonLink icon="plus" href={create.href}>
                {create.text}
              </ButtonLink>
            }
          />
        }
      >
        {(of) => <Table caption={title} columns={columns} rows={of.data} rowKey={({ id }) => id} href={href} />}
      </ListView>
    </Page>
  )
}
