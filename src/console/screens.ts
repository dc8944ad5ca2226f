/** All screens: the menu, the palette, the router and the tests use `screens`. */
import { exec } from 'preact-iso/router'
import { lazyScreen, type Screen } from './lib/navigation/screen.tsx'
import Home, { firstPath } from './screens/home/index.tsx'

const owners = ['OWNER'] as const
const managers = ['OWNER', 'MANAGER'] as const
const readers = ['OWNER', 'MANAGER', 'READ_ONLY'] as const
const fulfillers = ['OWNER', 'MANAGER', 'FULFILMENT'] as const
const allRoles = undefined

type Nav = NonNullable<Screen['nav']>
/** An entry of the menu. */
const menu = (group: Nav['group'], icon: Nav['icon'], textKey: Nav['textKey']): Nav => ({ group, icon, textKey })
/** An entry that is indented below the one before it. */
const below = (...entry: Parameters<typeof menu>): Nav => ({ ...menu(...entry), isIndented: true })

type Load = Parameters<typeof lazyScreen>[0]
const shopScreen = (path: string, load: Load, roles: Screen['roles'], nav?: Nav): Screen => ({
  ...{ path: `/s/:shop${path}`, area: 'shop', component: lazyScreen(load) },
  ...(roles && { roles }),
  ...(nav && { nav }),
})
const netScreen = (path: string, load: Load, nav?: Nav): Screen => ({
  ...{ path: `/net${path}`, area: 'net', component: lazyScreen(load) },
  ...(nav && { nav }),
})

/** The optional part of the console that a screen belongs to, by the start of its path. */
const featurePaths: readonly (readonly [path: string, feature: NonNullable<Screen['feature']>])[] = [
  ['/s/:shop/affiliates', 'AFFILIATES'],
  ['/s/:shop/lending', 'LENDING'],
  ['/s/:shop/settings/agents', 'AGENTS'],
  ...['/net/lending', '/net/repayments', '/net/partnerships', '/net/lenders'].map((path) => [path, 'LENDING'] as const),
  ...['/net/methodologies', '/net/providers', '/net/wallets', '/net/chains'].map((path) => [path, 'TRUST'] as const),
  ['/net/rankings', 'RANKINGS'],
]
function withFeature(screen: Screen): Screen {
  const feature = featurePaths.find(([path]) => screen.path === path || screen.path.startsWith(`${path}/`))?.[1]
  return feature ? { ...screen, feature } : screen
}

/** Fixed paths precede those with a parameter in the same place. */
const allScreens: readonly Screen[] = [
  // Bundled with the page, because most visits start here.
  { path: '/s/:shop', area: 'shop', nav: menu('day', 'home', 'home'), first: firstPath, component: Home },
  shopScreen('/orders', () => import('./screens/orders/list.tsx'), allRoles, menu('day', 'orders', 'orders')),
  shopScreen('/orders/drafts', () => import('./screens/drafts/list.tsx'), allRoles, below('day', 'page', 'drafts')),
  shopScreen('/orders/drafts/new', () => import('./screens/drafts/edit.tsx'), managers),
  shopScreen('/orders/drafts/:id', () => import('./screens/drafts/edit.tsx'), allRoles),
  shopScreen('/orders/refunds', () => import('./screens/orders/refunds.tsx'), allRoles, below('day', 'money', 'refunds')),
  shopScreen('/orders/returns', () => import('./screens/orders/returns-list.tsx'), managers, below('day', 'truck', 'returns')),
  shopScreen('/orders/abandoned', () => import('./screens/abandoned-carts/list.tsx'), managers, below('day', 'clock', 'abandonedCarts')),
  shopScreen('/orders/packing-slips', () => import('./screens/orders/documents.tsx'), fulfillers),
  shopScreen('/orders/invoices', () => import('./screens/orders/documents.tsx'), managers),
  shopScreen('/orders/credit-notes', () => import('./screens/orders/documents.tsx'), managers),
  shopScreen('/orders/tracking', () => import('./screens/orders/tracking.tsx'), fulfillers),
  shopScreen('/orders/:id', () => import('./screens/orders/order.tsx'), allRoles),
  shopScreen('/products', () => import('./screens/products/list.tsx'), readers, menu('catalog', 'products', 'products')),
  shopScreen('/products/new', () => import('./screens/products/edit.tsx'), managers),
  shopScreen('/products/import', () => import('./screens/products/import.tsx'), managers),
  shopScreen('/products/low-stock', () => import('./screens/products/low-stock.tsx'), readers, below('catalog', 'warn', 'lowStock')),
  shopScreen('/products/:id', () => import('./screens/products/edit.tsx'), readers),
  shopScreen('/products/:id/variants/:variant/stock', () => import('./screens/products/stock.tsx'), readers),
  shopScreen('/collections', () => import('./screens/collections/list.tsx'), readers, below('catalog', 'tag', 'collections')),
  shopScreen('/collections/:id', () => import('./screens/collections/edit.tsx'), readers),
  shopScreen('/pictures', () => import('./screens/pictures/index.tsx'), readers, below('catalog', 'upload', 'pictures')),
  shopScreen('/customers', () => import('./screens/customers/list.tsx'), readers, menu('people', 'people', 'customers')),
  shopScreen('/customers/import', () => import('./screens/customers/import.tsx'), managers),
  shopScreen('/customers/:id', () => import('./screens/customers/customer.tsx'), readers),
  shopScreen('/discounts', () => import('./screens/discounts/list.tsx'), managers, menu('people', 'tag', 'discounts')),
  shopScreen('/discounts/:id', () => import('./screens/discounts/edit.tsx'), managers),
  shopScreen('/gift-cards', () => import('./screens/gift-cards/list.tsx'), managers, menu('people', 'gift', 'giftCards')),
  shopScreen('/gift-cards/:id', () => import('./screens/gift-cards/card.tsx'), managers),
  shopScreen('/affiliates', () => import('./screens/affiliates/list.tsx'), managers, below('people', 'people', 'affiliates')),
  shopScreen('/blog', () => import('./screens/blog/list.tsx'), readers, menu('people', 'book', 'blog')),
  shopScreen('/blog/:id', () => import('./screens/blog/edit.tsx'), readers),
  shopScreen('/settings', () => import('./screens/settings/shop.tsx'), managers, menu('money', 'settings', 'settings')),
  shopScreen('/settings/payments', () => import('./screens/settings-payments/index.tsx'), managers, below('money', 'money', 'payments')),
  shopScreen('/settings/payments/:processor', () => import('./screens/settings-payments/account.tsx'), owners),
  shopScreen('/settings/shipping', () => import('./screens/settings-shipping/index.tsx'), managers, below('money', 'truck', 'shipping')),
  shopScreen('/settings/taxes', () => import('./screens/settings-taxes/index.tsx'), managers, below('money', 'chart', 'taxes')),
  shopScreen('/settings/mail', () => import('./screens/settings-mail/index.tsx'), managers, below('money', 'bell', 'mail')),
  shopScreen('/settings/hosts', () => import('./screens/settings-hosts/index.tsx'), managers, below('money', 'server', 'hosts')),
  shopScreen('/settings/keys', () => import('./screens/settings-keys/index.tsx'), owners, below('money', 'shield', 'keys')),
  shopScreen('/settings/webhooks', () => import('./screens/settings-webhooks/list.tsx'), owners, below('money', 'chain', 'webhooks')),
  shopScreen('/settings/webhooks/:id', () => import('./screens/settings-webhooks/endpoint.tsx'), owners),
  shopScreen('/settings/agents', () => import('./screens/settings-agents/index.tsx'), owners, below('money', 'people', 'agents')),
  shopScreen('/settings/staff', () => import('./screens/settings-staff/index.tsx'), owners, below('money', 'people', 'staff')),
  shopScreen(
    '/settings/verification',
    () => import('./screens/settings-verification/index.tsx'),
    owners,
    below('money', 'check', 'verification'),
  ),
  shopScreen('/lending', () => import('./screens/lending/list.tsx'), owners, menu('finance', 'money', 'lending')),
  shopScreen('/lending/:id', () => import('./screens/lending/application.tsx'), owners),
  netScreen('', () => import('./screens/figures/index.tsx'), menu('network', 'chart', 'figures')),
  netScreen('/figures/:kpi', () => import('./screens/figures/detail.tsx')),
  netScreen('/rankings', () => import('./screens/rankings/index.tsx'), menu('network', 'people', 'rankings')),
  netScreen('/shops', () => import('./screens/shops/list.tsx'), menu('network', 'products', 'shops')),
  netScreen('/shops/:id', () => import('./screens/shops/shop.tsx')),
  netScreen('/operations', () => import('./screens/operations/index.tsx'), menu('operations', 'server', 'operations')),
  netScreen('/jobs', () => import('./screens/jobs/index.tsx'), menu('operations', 'clock', 'jobs')),
  netScreen('/breakers', () => import('./screens/breakers/index.tsx'), menu('operations', 'shield', 'breakers')),
  netScreen('/chains', () => import('./screens/chains/index.tsx'), menu('operations', 'chain', 'chains')),
  netScreen('/backups', () => import('./screens/backups/index.tsx'), menu('operations', 'download', 'backups')),
  netScreen('/kyb', () => import('./screens/kyb/list.tsx'), menu('review', 'check', 'kyb')),
  netScreen('/kyb/:id', () => import('./screens/kyb/record.tsx')),
  netScreen('/lending', () => import('./screens/lending-queue/list.tsx'), menu('review', 'money', 'lendingQueue')),
  netScreen('/lending/:id', () => import('./screens/lending-queue/application.tsx')),
  netScreen('/repayments', () => import('./screens/repayments/index.tsx'), below('review', 'money', 'repayments')),
  netScreen('/partnerships', () => import('./screens/partnerships/index.tsx'), below('trust', 'people', 'partnerships')),
  netScreen('/lenders', () => import('./screens/lenders/index.tsx'), menu('trust', 'book', 'lenders')),
  netScreen('/lenders/:id', () => import('./screens/lenders/lender.tsx')),
  netScreen('/methodologies', () => import('./screens/methodologies/index.tsx'), below('trust', 'page', 'methodologies')),
  netScreen('/methodologies/:id', () => import('./screens/methodologies/methodology.tsx')),
  netScreen('/providers', () => import('./screens/providers/index.tsx'), below('trust', 'server', 'providers')),
  netScreen('/providers/:id', () => import('./screens/providers/provider.tsx')),
  netScreen('/wallets', () => import('./screens/wallets/index.tsx'), below('trust', 'chain', 'wallets')),
  netScreen('/wallets/:id', () => import('./screens/wallets/wallet.tsx')),
  netScreen('/audit', () => import('./screens/audit/index.tsx'), menu('operations', 'book', 'audit')),
  { path: '/shops/new', area: 'account', component: lazyScreen(() => import('./screens/new-shop/index.tsx')) },
  { path: '/account', area: 'account', component: lazyScreen(() => import('./screens/account/index.tsx')) },
]

export const screens: readonly Screen[] = allScreens.map(withFeature)

/**
 * Returns the screen of a path; undefined for an unknown one.
 * @param pathname with `/console`, without a query
 */
export const screenAt = (pathname: string): Screen | undefined => screens.find(({ path }) => exec(pathname, `/console${path}`))
