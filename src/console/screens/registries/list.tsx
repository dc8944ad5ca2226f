import type { ComponentChildren } from 'preact'
import { useResource } from '../../lib/api/resource.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useVisibleInterval } from '../../lib/live/live-events.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListView } from '../../ui/list-view.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'

/** So often it is looked at what others have done. */
const looksMs = 30_000

type List<Row> = { readonly data: Row[]; readonly page: number; readonly limit: number; readonly total: number; readonly pages: number }

/**
 * A list of records, newest first, by status and page, with a way to a new one.
 * @param read a page of it, in that status
 * @param empty says what would be here, and what it is for
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
  /** It is a part of all by more than their status. */
  isNarrowed?: boolean
}) {
  const status = statuses.find((one) => one === query.of['status'])
  const list = useResource(JSON.stringify([query.of, query.page]), (signal) => read(status, signal))
  // Nothing of these is told.
  useVisibleInterval(looksMs, list.reload)
  return (
    <Page
      title={title}
      subtitle={subtitle}
      actions={
        <ButtonLink icon="plus" kind="primary" href={create.href}>
          {create.text}
        </ButtonLink>
      }
    >
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
