import { api, ok, type Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { Moment } from '../../ui/moment.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from '../registries/i18n.ts'
import { RegistryList } from '../registries/list.tsx'

const columns = (): readonly Column<Schema<'AdminLender'>>[] => [
  { title: common('name'), main: true, cell: ({ displayName }) => <bdi class="cut">{displayName}</bdi> },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} /> },
  { title: t('wallets'), alignEnd: true, cell: ({ wallets }) => number(wallets.length) },
  { title: t('created'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
]

/** Lenders. */
export default function Lenders() {
  const query = useQuery()
  return (
    <RegistryList
      registry="lender"
      query={query}
      title={t('lenders')}
      subtitle={t('lendersText')}
      create={{ href: operatorPath('lenders', 'new'), text: t('newLender') }}
      columns={columns()}
      href={({ id }) => operatorPath('lenders', id)}
      read={(parameters, signal) => ok(api.GET('/admin/lenders', { params: { query: parameters }, signal }))}
      empty={{ title: t('noLenders'), text: t('noLendersText') }}
    />
  )
}
