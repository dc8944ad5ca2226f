import type { ComponentChildren } from 'preact'
import type { Resource } from '../lib/api/resource.ts'
import { common } from '../lib/i18n/common.ts'
import { useReloadOnReturn } from '../lib/live/live-events.ts'
import type { Query } from '../lib/navigation/query.ts'
import { ButtonLink } from './button.tsx'
import { EmptyState, ResourceView } from './page.tsx'
import { type PageInfo, Pager } from './table.tsx'

/**
 * A page of a list with its pager.
 * @param isFiltered whether filters are set: then an empty list shows `notFound`
 * @param empty shown if the list is empty without filters
 * @param goesOn whether pages follow beyond the counted ones
 */
export function ListView<List extends PageInfo & { readonly data: readonly unknown[]; readonly limit: number }>({
  of,
  query,
  isFiltered = false,
  empty,
  notFound = common('nothingFoundText'),
  goesOn = false,
  children,
}: {
  of: Resource<List>
  query: Query
  isFiltered?: boolean
  empty: ComponentChildren
  notFound?: string
  goesOn?: boolean
  children: (list: List) => ComponentChildren
}) {
  useReloadOnReturn(of.reload)
  return (
    <ResourceView of={of}>
      {(list) => {
        // The last row of a page can be gone, or the page never existed.
        if (list.data.length === 0 && list.total > 0) return <PastEnd of={list} query={query} />
        if (list.data.length === 0) return isFiltered ? <EmptyState icon="search" title={common('nothingFound')} text={notFound} /> : empty
        return (
          <>
            {children(list)}
            <Pager of={list} query={query} goesOn={goesOn && !!list.totalCapped && list.data.length === list.limit} />
          </>
        )
      }}
    </ResourceView>
  )
}

const PastEnd = ({ of: { page, pages }, query }: { of: PageInfo; query: Query }) => (
  <EmptyState
    icon="search"
    title={common('pastEnd', { page })}
    action={<ButtonLink href={query.href({ page: String(Math.max(1, pages)) })}>{common('last')}</ButtonLink>}
  />
)
