import type { ComponentChildren, Key } from 'preact'
import { number } from '../lib/format/format.ts'
import { common } from '../lib/i18n/common.ts'
import type { Query } from '../lib/navigation/query.ts'
import { Icon } from './icon.tsx'

export type Column<Row> = {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** Lets a person hide the column; stored in views, so it never changes. */
  readonly name?: string
  /** Sorts the list by this column: the URL of the other direction, and the present one. */
  readonly sort?: { readonly href: string; readonly direction: 'ascending' | 'descending' | 'none' }
  /** Aligned to the end, for numbers. */
  readonly alignEnd?: boolean
  /** Short words that do not break. */
  readonly words?: boolean
  /** Names the row: link, and heading of the card on a phone. */
  readonly main?: boolean
}

/** Sorts by a column: each press takes the next of `sorts`, and after the last the default order. */
export function columnSort(query: Query, ...sorts: readonly string[]): NonNullable<Column<unknown>['sort']> {
  const at = sorts.indexOf(query.values['sort'] ?? '')
  const direction = at < 0 ? 'none' : sorts[at]?.startsWith('-') ? 'descending' : 'ascending'
  return { href: query.href({ sort: sorts[at + 1] }), direction }
}

const sortMarks = { ascending: ' ↑', descending: ' ↓', none: ' ↕' } as const

/**
 * A table; on a phone each row is a card.
 * @param href link of a row
 * @param caption names the table for screen readers
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  href,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => Key
  href?: (row: Row) => string | undefined
}) {
  return (
    <div class="table-box" tabIndex={0} role="group" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, alignEnd, sort }, index) => (
              <th key={index} scope="col" class={alignEnd ? 'end' : undefined} aria-sort={sort?.direction}>
                {sort ? (
                  <a class="sort" href={sort.href}>
                    {title}
                    <span aria-hidden="true">{sortMarks[sort.direction]}</span>
                  </a>
                ) : (
                  title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const to = href?.(row)
            return (
              <tr key={rowKey(row)} class={to ? 'linked' : undefined}>
                {columns.map(({ title, cell, alignEnd, main, words }, index) => {
                  const content = main && to ? <a href={to}>{cell(row)}</a> : cell(row)
                  const className = [alignEnd && 'end', main && 'main', words && 'words'].filter(Boolean).join(' ') || undefined
                  return main ? (
                    <th key={index} scope="row" class={className}>
                      {content}
                    </th>
                  ) : (
                    <td key={index} data-title={title} class={className}>
                      {content}
                    </td>
                  )
                })}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Paging fields of a list. */
export type PageInfo = { readonly page: number; readonly pages: number; readonly total: number; readonly totalCapped?: boolean | undefined }

/**
 * Links to the pages of a list.
 * @param hasMorePages whether an uncounted page follows, so that the last page is unknown
 */
export function Pager({
  pageInfo: { page, pages, total, totalCapped },
  query,
  hasMorePages = false,
}: {
  pageInfo: PageInfo
  query: Query
  hasMorePages?: boolean
}) {
  const end = hasMorePages ? Math.max(pages, page + 1) : pages
  const step = (to: number, label: string, icon: 'left' | 'right', twice = false) =>
    to >= 1 && to <= end && to !== page ? (
      <a class="button quiet" href={query.href({ page: String(to) })} aria-label={label} title={label}>
        <Icon name={icon} />
        {twice && <Icon name={icon} />}
      </a>
    ) : (
      <span class="button quiet unavailable" aria-hidden="true">
        <Icon name={icon} />
        {twice && <Icon name={icon} />}
      </span>
    )
  return (
    <nav class="pager" aria-label={common('page', { page, pages })}>
      <span class="faint">{totalCapped ? common('foundCapped', { n: total }) : common('found', { n: total })}</span>
      {pages > 1 && (
        <span class="row tight">
          {step(1, common('first'), 'left', true)}
          {step(page - 1, common('previous'), 'left')}
          <span>{hasMorePages ? number(page) : `${number(page)} / ${number(pages)}`}</span>
          {step(page + 1, common('next'), 'right')}
          {!hasMorePages && step(pages, common('last'), 'right', true)}
        </span>
      )}
    </nav>
  )
}
