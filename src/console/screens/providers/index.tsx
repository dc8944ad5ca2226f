import { api, ok, type Schema } from '../../lib/api.ts'
import { number } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { net } from '../../lib/shop.ts'
import { c } from '../../lib/words/common.ts'
import { State, When } from '../../ui/bits.tsx'
import type { Column } from '../../ui/table.tsx'
import { RegistryList } from '../registries/list.tsx'
import { moves, type StatusOf } from '../registries/registry.domain.ts'
import { w } from '../registries/words.ts'

const columns = (): readonly Column<Schema<'ServiceProvider'>>[] => [
  { key: 'name', title: w('name'), main: true, cell: ({ displayName }) => <bdi class="cut">{displayName}</bdi> },
  { key: 'archetype', title: w('archetype'), cell: ({ archetype }) => w(`archetype.${archetype}`) },
  { key: 'status', title: c('status'), cell: ({ status }) => <State of={status} /> },
  { key: 'messages', title: w('messages'), end: true, cell: ({ successfulIngestionCount }) => number(successfulIngestionCount) },
  {
    key: 'last',
    title: w('lastMessage'),
    cell: ({ lastSuccessfulIngestionAt }) => (lastSuccessfulIngestionAt ? <When at={lastSuccessfulIngestionAt} short /> : '–'),
  },
]

/** Who stores and carries for merchants, and attests to how. */
export default function Providers() {
  const query = useQuery()
  return (
    <RegistryList
      query={query}
      title={w('providers')}
      subtitle={w('providersText')}
      statuses={Object.keys(moves.provider)}
      create={{ href: net('providers', 'new'), text: w('newProvider') }}
      columns={columns()}
      href={({ id }) => net('providers', id)}
      read={(status, signal) =>
        ok(
          api.GET('/admin/service-providers', {
            params: { query: { page: query.page, ...(status && { status: status as StatusOf<'provider'> }) } },
            signal,
          }),
        )
      }
      empty={{ title: w('noProviders'), text: w('noProvidersText') }}
    />
  )
}
