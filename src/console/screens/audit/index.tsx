import { api, ok, type Schema } from '../../lib/api.ts'
import { type Query, useQuery } from '../../lib/query.ts'
import { useResource } from '../../lib/resource.ts'
import { shops } from '../../lib/session.ts'
import { c } from '../../lib/words/common.ts'
import { Note, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty, Loaded, Page } from '../../ui/page.tsx'
import { type Column, Pager, Table } from '../../ui/table.tsx'
import { type FilterName, filterNames, filtersFor, pageOf } from './audit.domain.ts'
import { Changes } from './changes.tsx'
import { w } from './words.ts'

type Row = Schema<'AuditRecord'>

const columns = (query: Query): readonly Column<Row>[] => {
  /** A value, as a way to all rows that have it. */
  const only = (name: FilterName, value: string) => (
    <a href={query.href({ [name]: value, q: undefined })}>
      <code class={name === 'action' ? 'number' : undefined}>{value}</code>
    </a>
  )
  return [
    { key: 'action', title: w('action'), main: true, cell: ({ action }) => only('action', action) },
    { key: 'at', title: w('at'), cell: ({ at }) => <When at={at} /> },
    { key: 'actor', title: w('actor'), cell: ({ actor }) => only('actor', actor) },
    {
      key: 'subject',
      title: w('subject'),
      cell: (row) => {
        const page = pageOf(row, shops.value)
        return (
          <div>
            {only('subject', row.subject)}{' '}
            {page && (
              <a href={`/console${page}`} aria-label={w('show', { id: row.subject })} title={w('show', { id: row.subject })}>
                <Icon name="right" />
              </a>
            )}
            {row.shopId !== null && row.shopId !== row.subject && (
              <small>
                <br />
                <span class="faint">{w('shopId')}</span> {only('shopId', row.shopId)}
              </small>
            )}
          </div>
        )
      },
    },
    { key: 'changes', title: w('changes'), cell: (row) => <Changes of={row} /> },
  ]
}

/** Who did what to what, in the whole network, newest first. */
export default function Audit() {
  const query = useQuery()
  const { q = '', from, to } = query.of
  const named = Object.fromEntries(filterNames.flatMap((name) => (query.of[name] ? [[name, query.of[name]]] : [])))
  const days = { ...(from && { from }), ...(to && { to }) }
  const trail = useResource(JSON.stringify([named, q, days, query.page]), async (signal) => {
    const asked = { ...named, ...days, page: query.page }
    const text = q.trim()
    // What was typed may be meant in two ways: the second is asked for where the first finds nothing.
    const ways = text === '' ? [undefined] : filtersFor(text).filter((name) => !named[name])
    for (const [at, way] of ways.entries()) {
      const list = await ok(api.GET('/admin/audit', { params: { query: { ...asked, ...(way && { [way]: text }) } }, signal }))
      if (list.total > 0 || at === ways.length - 1) return { list, way }
    }
    return { list: undefined, way: undefined }
  })
  const isFiltered = q !== '' || from || to || Object.keys(named).length > 0
  return (
    <Page title={w('title')} actions={<Button onPress={trail.reload}>{w('again')}</Button>}>
      <Filters
        query={query}
        search={w('search')}
        filters={[
          ...filterNames.map((name) => ({ name, label: w(name) })),
          { name: 'from', label: c('from'), type: 'date' as const },
          { name: 'to', label: c('to'), type: 'date' as const },
        ]}
      />
      <p class="hint">{w('hint')}</p>
      <Loaded of={trail}>
        {({ list, way }) =>
          !list || list.data.length === 0 ? (
            isFiltered ? (
              <Empty icon="search" title={c('nothingFound')} text={w('nothingFoundText')} />
            ) : (
              <Empty icon="book" title={c('nothing')} text={w('emptyText')} />
            )
          ) : (
            <>
              {way && <Note>{w('takenAs', { name: w(way) })}</Note>}
              <Table caption={w('title')} columns={columns(query)} rows={list.data} rowKey={({ id }) => id} />
              <Pager of={list} query={query} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
