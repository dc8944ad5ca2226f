import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { net } from '../../lib/session/current-shop.ts'
import { When } from '../../ui/bits.tsx'
import type { Column } from '../../ui/table.tsx'
import { w } from '../registries/i18n.ts'
import { RegistryList } from '../registries/list.tsx'

const columns = (): readonly Column<Schema<'PlatformWallet'>>[] => [
  { key: 'address', title: w('address'), main: true, cell: ({ address }) => <code>{address}</code> },
  { key: 'from', title: w('from'), cell: ({ from }) => <When at={from} /> },
  { key: 'to', title: w('to'), cell: ({ to }) => (to ? <When at={to} /> : w('open')) },
]

/** The wallets by which the platform itself attests. */
export default function Wallets() {
  const query = useQuery()
  return (
    <RegistryList
      query={query}
      title={w('platformWallets')}
      subtitle={w('platformWalletsText')}
      create={{ href: net('wallets', 'new'), text: w('newWallet') }}
      columns={columns()}
      href={({ id }) => net('wallets', id)}
      read={(_, signal) => ok(api.GET('/admin/platform-wallets', { params: { query: { page: query.page } }, signal }))}
      empty={{ title: w('noWallets'), text: w('noWalletsText') }}
    />
  )
}
