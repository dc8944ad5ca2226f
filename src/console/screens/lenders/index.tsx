import { api, ok, type Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { c } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { net } from '../../lib/session/current-shop.ts'
import { State, When } from '../../ui/bits.tsx'
import type { Column } from '../../ui/table.tsx'
import { w } from '../registries/i18n.ts'
import { RegistryList } from '../registries/list.tsx'
import { moves, type StatusOf } from '../registries/registry.domain.ts'

const columns = (): readonly Column<Schema<'AdminLender'>>[] => [
  { key: 'name', title: w('name'), main: true, cell: ({ displayName }) => <bdi class="cut">{displayName}</bdi> },
  { key: 'status', title: c('status'), cell: ({ status }) => <State of={status} /> },
  { key: 'wallets', title: w('wallets'), end: true, cell: ({ wallets }) => number(wallets.length) },
  { key: 'created', title: w('created'), cell: ({ createdAt }) => <When at={createdAt} /> },
]

/** Who lends to merchants. */
export default function Lenders() {
  const query = useQuery()
  return (
    <RegistryList
      query={query}
      title={w('lenders')}
      subtitle={w('lendersText')}
      statuses={Object.keys(moves.lender)}
      create={{ href: net('lenders', 'new'), text: w('newLender') }}
      columns={columns()}
      href={({ id }) => net('lenders', id)}
      read={(status, signal) =>
        ok(
          api.GET('/admin/lenders', {
            params: { query: { page: query.page, ...(status && { status: status as StatusOf<'lender'> }) } },
            signal,
          }),
        )
      }
      empty={{ title: w('noLenders'), text: w('noLendersText') }}
    />
  )
}
