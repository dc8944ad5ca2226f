import type { ComponentChildren } from 'preact'
import type { Resource } from '../lib/api/resource.ts'
import { common } from '../lib/i18n/common.ts'
import { useReloadOnReturn } from '../lib/live/live-events.ts'
import type { Query } from '../lib/navigation/query.ts'
import { ButtonLink } from './button.tsx'
import { EmptyState, ResourceView } from './page.tsx'
import { type PageInfo, Pager } from './table.tsx'

/**
 * A page of a list, with what leads to its others.
 * @param isFiltered whether one asked for a part of it: then nothing there says that nothing was found
 * @param empty what is said where there is nothing at all yet
 * @param notFound what is said where nothing was found, if there is more to say than that
 * @param goesOn there are pages behind those that are counted
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
        // The last row of a page may be gone by now, or the page was never there.
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
