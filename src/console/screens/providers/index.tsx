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

const columns = (): readonly Column<Schema<'ServiceProvider'>>[] => [
  { title: common('name'), main: true, cell: ({ displayName }) => <bdi class="cut">{displayName}</bdi> },
  { title: t('archetype'), cell: ({ archetype }) => t(`archetype.${archetype}`) },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} /> },
  { title: t('messages'), alignEnd: true, cell: ({ successfulIngestionCount }) => number(successfulIngestionCount) },
  {
    title: t('lastMessage'),
    cell: ({ lastSuccessfulIngestionAt }) => (lastSuccessfulIngestionAt ? <Moment at={lastSuccessfulIngestionAt} relative /> : '–'),
  },
]

/** Service providers. */
export default function Providers() {
  const query = useQuery()
  return (
    <RegistryList
      registry="provider"
      query={query}
      title={t('providers')}
      subtitle={t('providersText')}
      create={{ href: operatorPath('providers', 'new'), text: t('newProvider') }}
      columns={columns()}
      href={({ id }) => operatorPath('providers', id)}
      read={(parameters, signal) => ok(api.GET('/admin/service-providers', { params: { query: parameters }, signal }))}
      empty={{ title: t('noProviders'), text: t('noProvidersText') }}
    />
  )
}
