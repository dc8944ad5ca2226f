import { api, ok, type Schema } from '../../lib/api/api.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from '../registries/i18n.ts'
import { RegistryList } from '../registries/list.tsx'

const columns = (): readonly Column<Schema<'AdminMethodology'>>[] => [
  { title: t('version'), main: true, cell: ({ version }) => <bdi class="cut">{version}</bdi> },
  {
    title: t('lender'),
    cell: ({ lenderId }) => (
      <a href={operatorPath('lenders', lenderId)}>
        <code>{lenderId}</code>
      </a>
    ),
  },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} /> },
  { title: t('registeredAt'), cell: ({ registeredAt }) => <Moment at={registeredAt} /> },
]

/** Methodologies by version. */
export default function Methodologies() {
  const query = useQuery()
  const { lenderId } = query.values
  return (
    <RegistryList
      registry="methodology"
      query={query}
      title={common('methodologies')}
      subtitle={t('methodologiesText')}
      create={{
        href: `${operatorPath('methodologies', 'new')}${lenderId ? `?lenderId=${encodeURIComponent(lenderId)}` : ''}`,
        text: t('newMethodology'),
      }}
      columns={columns()}
      href={({ id }) => operatorPath('methodologies', id)}
      read={(parameters, signal) =>
        ok(api.GET('/admin/methodologies', { params: { query: { ...parameters, ...(lenderId && { lenderId }) } }, signal }))
      }
      hasOtherFilters={!!lenderId}
      empty={{ title: t('noMethodologies'), text: t('noMethodologiesText') }}
      above={
        lenderId && (
          <Note>
            {t('ofLender')} <code>{lenderId}</code> <a href={query.href({ lenderId: undefined })}>{common('clear')}</a>
          </Note>
        )
      }
    />
  )
}
