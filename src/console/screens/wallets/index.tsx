import { api, ok, type Schema } from '../../lib/api/api.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { Moment } from '../../ui/moment.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from '../registries/i18n.ts'
import { RegistryList } from '../registries/list.tsx'

const columns = (): readonly Column<Schema<'PlatformWallet'>>[] => [
  { title: common('address'), main: true, cell: ({ address }) => <code>{address}</code> },
  { title: t('from'), cell: ({ from }) => <Moment at={from} /> },
  { title: t('to'), cell: ({ to }) => (to ? <Moment at={to} /> : t('open')) },
]

/** The platform's attesting wallets. */
export default function Wallets() {
  const query = useQuery()
  return (
    <RegistryList
      query={query}
      title={t('platformWallets')}
      subtitle={t('platformWalletsText')}
      create={{ href: operatorPath('wallets', 'new'), text: t('newWallet') }}
      columns={columns()}
      href={({ id }) => operatorPath('wallets', id)}
      read={(_, signal) => ok(api.GET('/admin/platform-wallets', { params: { query: { page: query.page } }, signal }))}
      empty={{ title: t('noWallets'), text: t('noWalletsText') }}
    />
  )
}
