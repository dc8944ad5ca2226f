import type { ComponentChildren } from 'preact'
import type { Query } from '../lib/query.ts'
import type { Resource } from '../lib/resource.ts'
import { c } from '../lib/words/common.ts'
import { Empty, Loaded } from './page.tsx'
import { type Paged, Pager } from './table.tsx'

/**
 * A page of a list, with what leads to its others.
 * @param isFiltered whether one asked for a part of it: then nothing there says that nothing was found
 * @param empty what is said where there is nothing at all yet
 * @param notFound what is said where nothing was found, if there is more to say than that
 */
export const LoadedList = <List extends Paged & { readonly data: readonly unknown[] }>({
  of,
  query,
  isFiltered,
  empty,
  notFound = c('nothingFoundText'),
  children,
}: {
  of: Resource<List>
  query: Query
  isFiltered: boolean
  empty: ComponentChildren
  notFound?: string
  children: (list: List) => ComponentChildren
}) => (
  <Loaded of={of}>
    {(list) => {
      if (list.data.length === 0) return isFiltered ? <Empty icon="search" title={c('nothingFound')} text={notFound} /> : empty
      return (
        <>
          {children(list)}
          <Pager of={list} query={query} />
        </>
      )
    }}
  </Loaded>
)
