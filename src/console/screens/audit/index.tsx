import { api, ok, pathWith, type Schema } from '../../lib/api/api.ts'
import { download } from '../../lib/api/download.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { type Query, useQuery } from '../../lib/navigation/query.ts'
import { AccountName } from '../../ui/account-name.tsx'
import { Button } from '../../ui/button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { type FilterName, filterNames, pageOf } from './audit.domain.ts'
import { Changes } from './changes.tsx'
import { t } from './i18n.ts'

type Row = Schema<'AuditRecord'>

const columns = (query: Query): readonly Column<Row>[] => {
  /** Links a value to all rows that have it. */
  const filterLink = (name: FilterName, value: string) => (
    <a href={query.href({ [name]: value, q: undefined })}>
      {name === 'action' ? <code class="number">{value}</code> : <AccountName id={value} />}
    </a>
  )
  return [
    { title: t('action'), main: true, cell: ({ action }) => filterLink('action', action) },
    { title: common('when'), cell: ({ at }) => <Moment at={at} /> },
    {
      title: t('actor'),
      // A failed login records the account, not the person.
      cell: ({ action, actor }) =>
        action === 'login.failed' && actor !== 'anonymous' ? (
          <span>
            <span class="faint">{t('triedAs')}</span> {filterLink('actor', actor)}
          </span>
        ) : (
          filterLink('actor', actor)
        ),
    },
    {
      title: t('subject'),
      cell: (row) => {
        const page = pageOf(row.subject)
        return (
          <div>
            {filterLink('subject', row.subject)}{' '}
            {page && (
              <a href={`/console${page}`} aria-label={t('show', { id: row.subject })} title={t('show', { id: row.subject })}>
                <Icon name="right" />
              </a>
            )}
            {row.shopId !== null && row.shopId !== row.subject && (
              <small>
                <br />
                <span class="faint">{t('shopId')}</span> {filterLink('shopId', row.shopId)}
              </small>
            )}
          </div>
        )
      },
    },
    { title: t('changes'), cell: (row) => <Changes record={row} /> },
  ]
}

/** The audit trail of the instance, newest first. */
export default function Audit() {
  const query = useQuery()
  const { q = '', from, to } = query.values
  const namedFilters = Object.fromEntries(filterNames.flatMap((name) => (query.values[name] ? [[name, query.values[name]]] : [])))
  const days = { ...(from && { from }), ...(to && { to }) }
  const text = q.trim()
  const filters = { ...namedFilters, ...days, ...(text && { q: text }) }
  const records = useResource(JSON.stringify([filters, query.page]), (signal) =>
    ok(api.GET('/admin/audit', { params: { query: { ...filters, page: query.page } }, signal })),
  )
  const isFiltered = q !== '' || !!from || !!to || Object.keys(namedFilters).length > 0
  return (
    <Page
      title={common('audit')}
      actions={
        <>
          <Button
            icon="download"
            onPress={() => download(pathWith('/admin/audit', filters), 'audit.csv', 'text/csv')}
            text={common('download')}
          />
          <Button onPress={records.reload} text={t('again')} />
        </>
      }
    >
      <Filters
        query={query}
        search={t('search')}
        filters={[
          // The search covers all columns; a column's own filter appears if a link has set it.
          ...filterNames.filter((name) => query.values[name]).map((name) => ({ name, label: t(name) })),
          { name: 'from', label: common('from'), type: 'date' as const },
          { name: 'to', label: common('to'), type: 'date' as const },
        ]}
      />
      <p class="hint">{t('hint')}</p>
      <ListTable
        resource={records}
        query={query}
        isFiltered={isFiltered}
        empty={<EmptyState icon="book" title={common('nothing')} text={t('emptyText')} />}
        notFound={t('nothingFoundText')}
        caption={common('audit')}
        columns={columns(query)}
        above={(list) => list.totalCapped && <p class="hint">{t('capped')}</p>}
      />
    </Page>
  )
}
