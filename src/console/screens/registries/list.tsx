import type { ComponentChildren } from 'preact'
import { useResource } from '../../lib/api/resource.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useVisibleInterval } from '../../lib/live/live-events.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { ButtonLink, CreateLink } from '../../ui/button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { type Registry, type StatusOf, statusesOf } from './registry.domain.ts'

const pollMs = 30_000

type List<Row> = { readonly data: Row[]; readonly page: number; readonly limit: number; readonly total: number; readonly pages: number }

/**
 * A registry's list with status filter.
 * @param read reads a page
 * @param empty texts of an empty list
 */
export function RegistryList<Row extends { readonly id: string }, Of extends Registry>({
  registry,
  query,
  title,
  subtitle,
  create,
  columns,
  href,
  read,
  empty,
  above,
  hasOtherFilters = false,
}: {
  /** The registry whose statuses can be filtered. */
  registry?: Of
  query: Query
  title: string
  subtitle?: string
  create: { href: string; text: string }
  columns: readonly Column<Row>[]
  href: (row: Row) => string
  read: (parameters: { page: number; status?: StatusOf<Of> }, signal: AbortSignal) => Promise<List<Row>>
  empty: { title: string; text: string }
  above?: ComponentChildren
  /** Whether other filters are set. */
  hasOtherFilters?: boolean
}) {
  const statuses = registry ? statusesOf(registry) : []
  const status = statuses.find((status) => status === query.values['status'])
  const list = useResource(JSON.stringify([query.values, query.page]), (signal) =>
    read({ page: query.page, ...(status && { status }) }, signal),
  )
  // Registries send no events.
  useVisibleInterval(pollMs, list.reload)
  return (
    <Page title={title} subtitle={subtitle} actions={<CreateLink href={create.href} text={create.text} />}>
      {statuses.length > 0 && (
        <Filters
          query={query}
          filters={[{ name: 'status', label: common('status'), options: statuses.map((status) => [status, stateName(status)]) }]}
        />
      )}
      {above}
      <ListTable
        resource={list}
        caption={title}
        columns={columns}
        href={href}
        query={query}
        isFiltered={!!status || hasOtherFilters}
        empty={
          <EmptyState
            icon="book"
            title={empty.title}
            text={empty.text}
            action={<ButtonLink icon="plus" href={create.href} text={create.text} />}
          />
        }
      />
    </Page>
  )
}
