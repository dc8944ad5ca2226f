/** Every screen of the console: the menu, the palette and the addresses come from here, and the tests go through it. */
import { type Screen, screen } from './lib/screen.tsx'
import { w as accountWords } from './screens/account/words.ts'
import { w as affiliatesWords } from './screens/affiliates/words.ts'
import { w as auditWords } from './screens/audit/words.ts'
import { w as backupsWords } from './screens/backups/words.ts'
import { w as blogWords } from './screens/blog/words.ts'
import { w as breakersWords } from './screens/breakers/words.ts'
import { w as chainsWords } from './screens/chains/words.ts'
import { w as collectionsWords } from './screens/collections/words.ts'
import { w as customersWords } from './screens/customers/words.ts'
import { w as discountsWords } from './screens/discounts/words.ts'
import { w as draftsWords } from './screens/drafts/words.ts'
import { w as figuresWords } from './screens/figures/words.ts'
import { w as giftCardsWords } from './screens/gift-cards/words.ts'
import { w as homeWords } from './screens/home/words.ts'
import { w as jobsWords } from './screens/jobs/words.ts'
import { w as kybWords } from './screens/kyb/words.ts'
import { w as lendingWords } from './screens/lending/words.ts'
import { w as lendingQueueWords } from './screens/lending-queue/words.ts'
import { w as operationsWords } from './screens/operations/words.ts'
import { w as ordersWords } from './screens/orders/words.ts'
import { w as partnershipsWords } from './screens/partnerships/words.ts'
import { w as picturesWords } from './screens/pictures/words.ts'
import { w as productsWords } from './screens/products/words.ts'
import { w as rankingsWords } from './screens/rankings/words.ts'
import { w as registriesWords } from './screens/registries/words.ts'
import { w as repaymentsWords } from './screens/repayments/words.ts'
import { w as settingsWords } from './screens/settings/words.ts'
import { w as settingsHostsWords } from './screens/settings-hosts/words.ts'
import { w as settingsKeysWords } from './screens/settings-keys/words.ts'
import { w as settingsMailWords } from './screens/settings-mail/words.ts'
import { w as settingsPaymentsWords } from './screens/settings-payments/words.ts'
import { w as settingsShippingWords } from './screens/settings-shipping/words.ts'
import { w as settingsStaffWords } from './screens/settings-staff/words.ts'
import { w as settingsTaxesWords } from './screens/settings-taxes/words.ts'
import { w as settingsVerificationWords } from './screens/settings-verification/words.ts'
import { w as settingsWebhooksWords } from './screens/settings-webhooks/words.ts'
import { w as shopsWords } from './screens/shops/words.ts'

const owners = ['OWNER'] as const
const managers = ['OWNER', 'MANAGER'] as const
const readers = ['OWNER', 'MANAGER', 'READ_ONLY'] as const

/** More exact paths stand before those with a name in the same place. */
export const screens: readonly Screen[] = [
  {
    path: '/s/:shop',
    area: 'shop',
    nav: { group: 'day', icon: 'home', word: 'home' },
    component: screen(() => import('./screens/home/index.tsx'), homeWords),
  },
  {
    path: '/s/:shop/orders',
    area: 'shop',
    nav: { group: 'day', icon: 'orders', word: 'orders' },
    component: screen(() => import('./screens/orders/list.tsx'), ordersWords),
  },
  {
    path: '/s/:shop/orders/drafts',
    area: 'shop',
    roles: managers,
    nav: { group: 'day', icon: 'page', word: 'drafts', below: true },
    component: screen(() => import('./screens/drafts/list.tsx'), draftsWords),
  },
  {
    path: '/s/:shop/orders/drafts/new',
    area: 'shop',
    roles: managers,
    component: screen(() => import('./screens/drafts/edit.tsx'), draftsWords),
  },
  {
    path: '/s/:shop/orders/drafts/:id',
    area: 'shop',
    roles: managers,
    component: screen(() => import('./screens/drafts/edit.tsx'), draftsWords),
  },
  {
    path: '/s/:shop/orders/refunds',
    area: 'shop',
    roles: readers,
    nav: { group: 'day', icon: 'money', word: 'refunds', below: true },
    component: screen(() => import('./screens/orders/refunds.tsx'), ordersWords),
  },
  { path: '/s/:shop/orders/:id', area: 'shop', component: screen(() => import('./screens/orders/order.tsx'), ordersWords) },
  {
    path: '/s/:shop/products',
    area: 'shop',
    roles: readers,
    nav: { group: 'catalog', icon: 'products', word: 'products' },
    component: screen(() => import('./screens/products/list.tsx'), productsWords),
  },
  {
    path: '/s/:shop/products/new',
    area: 'shop',
    roles: managers,
    component: screen(() => import('./screens/products/edit.tsx'), productsWords, picturesWords),
  },
  {
    path: '/s/:shop/products/import',
    area: 'shop',
    roles: managers,
    component: screen(() => import('./screens/products/import.tsx'), productsWords),
  },
  {
    path: '/s/:shop/products/low-stock',
    area: 'shop',
    roles: readers,
    nav: { group: 'catalog', icon: 'warn', word: 'lowStock', below: true },
    component: screen(() => import('./screens/products/low-stock.tsx'), productsWords),
  },
  {
    path: '/s/:shop/products/:id',
    area: 'shop',
    roles: readers,
    component: screen(() => import('./screens/products/edit.tsx'), productsWords, picturesWords),
  },
  {
    path: '/s/:shop/products/:id/variants/:variant/stock',
    area: 'shop',
    roles: readers,
    component: screen(() => import('./screens/products/stock.tsx'), productsWords),
  },
  {
    path: '/s/:shop/collections',
    area: 'shop',
    roles: readers,
    nav: { group: 'catalog', icon: 'tag', word: 'collections', below: true },
    component: screen(() => import('./screens/collections/list.tsx'), collectionsWords),
  },
  {
    path: '/s/:shop/collections/:id',
    area: 'shop',
    roles: readers,
    component: screen(() => import('./screens/collections/edit.tsx'), collectionsWords, picturesWords),
  },
  {
    path: '/s/:shop/pictures',
    area: 'shop',
    roles: managers,
    nav: { group: 'catalog', icon: 'upload', word: 'pictures', below: true },
    component: screen(() => import('./screens/pictures/index.tsx'), picturesWords),
  },
  {
    path: '/s/:shop/customers',
    area: 'shop',
    roles: readers,
    nav: { group: 'people', icon: 'people', word: 'customers' },
    component: screen(() => import('./screens/customers/list.tsx'), customersWords),
  },
  {
    path: '/s/:shop/customers/import',
    area: 'shop',
    roles: managers,
    component: screen(() => import('./screens/customers/import.tsx'), customersWords),
  },
  {
    path: '/s/:shop/customers/:id',
    area: 'shop',
    roles: readers,
    component: screen(() => import('./screens/customers/customer.tsx'), customersWords),
  },
  {
    path: '/s/:shop/discounts',
    area: 'shop',
    roles: managers,
    nav: { group: 'people', icon: 'tag', word: 'discounts' },
    component: screen(() => import('./screens/discounts/list.tsx'), discountsWords),
  },
  {
    path: '/s/:shop/discounts/:id',
    area: 'shop',
    roles: managers,
    component: screen(() => import('./screens/discounts/edit.tsx'), discountsWords),
  },
  {
    path: '/s/:shop/gift-cards',
    area: 'shop',
    roles: readers,
    nav: { group: 'people', icon: 'gift', word: 'giftCards' },
    component: screen(() => import('./screens/gift-cards/list.tsx'), giftCardsWords),
  },
  {
    path: '/s/:shop/gift-cards/:id',
    area: 'shop',
    roles: readers,
    component: screen(() => import('./screens/gift-cards/card.tsx'), giftCardsWords),
  },
  {
    path: '/s/:shop/affiliates',
    area: 'shop',
    roles: managers,
    nav: { group: 'people', icon: 'people', word: 'affiliates', below: true },
    component: screen(() => import('./screens/affiliates/list.tsx'), affiliatesWords),
  },
  {
    path: '/s/:shop/blog',
    area: 'shop',
    roles: readers,
    nav: { group: 'content', icon: 'book', word: 'blog' },
    component: screen(() => import('./screens/blog/list.tsx'), blogWords),
  },
  { path: '/s/:shop/blog/:id', area: 'shop', roles: readers, component: screen(() => import('./screens/blog/edit.tsx'), blogWords) },
  {
    path: '/s/:shop/settings',
    area: 'shop',
    roles: managers,
    nav: { group: 'money', icon: 'settings', word: 'settings' },
    component: screen(() => import('./screens/settings/shop.tsx'), settingsWords),
  },
  {
    path: '/s/:shop/settings/payments',
    area: 'shop',
    roles: managers,
    nav: { group: 'money', icon: 'money', word: 'payments', below: true },
    component: screen(() => import('./screens/settings-payments/index.tsx'), settingsPaymentsWords),
  },
  {
    path: '/s/:shop/settings/payments/:processor',
    area: 'shop',
    roles: owners,
    component: screen(() => import('./screens/settings-payments/account.tsx'), settingsPaymentsWords),
  },
  {
    path: '/s/:shop/settings/shipping',
    area: 'shop',
    roles: managers,
    nav: { group: 'money', icon: 'truck', word: 'shipping', below: true },
    component: screen(() => import('./screens/settings-shipping/index.tsx'), settingsShippingWords),
  },
  {
    path: '/s/:shop/settings/taxes',
    area: 'shop',
    roles: managers,
    nav: { group: 'money', icon: 'chart', word: 'taxes', below: true },
    component: screen(() => import('./screens/settings-taxes/index.tsx'), settingsTaxesWords),
  },
  {
    path: '/s/:shop/settings/mail',
    area: 'shop',
    roles: managers,
    nav: { group: 'money', icon: 'bell', word: 'mail', below: true },
    component: screen(() => import('./screens/settings-mail/index.tsx'), settingsMailWords),
  },
  {
    path: '/s/:shop/settings/hosts',
    area: 'shop',
    roles: managers,
    nav: { group: 'money', icon: 'server', word: 'hosts', below: true },
    component: screen(() => import('./screens/settings-hosts/index.tsx'), settingsHostsWords),
  },
  {
    path: '/s/:shop/settings/keys',
    area: 'shop',
    roles: owners,
    nav: { group: 'money', icon: 'shield', word: 'keys', below: true },
    component: screen(() => import('./screens/settings-keys/index.tsx'), settingsKeysWords),
  },
  {
    path: '/s/:shop/settings/webhooks',
    area: 'shop',
    roles: owners,
    nav: { group: 'money', icon: 'chain', word: 'webhooks', below: true },
    component: screen(() => import('./screens/settings-webhooks/list.tsx'), settingsWebhooksWords),
  },
  {
    path: '/s/:shop/settings/webhooks/:id',
    area: 'shop',
    roles: owners,
    component: screen(() => import('./screens/settings-webhooks/endpoint.tsx'), settingsWebhooksWords),
  },
  {
    path: '/s/:shop/settings/staff',
    area: 'shop',
    roles: owners,
    nav: { group: 'money', icon: 'people', word: 'staff', below: true },
    component: screen(() => import('./screens/settings-staff/index.tsx'), settingsStaffWords),
  },
  {
    path: '/s/:shop/settings/verification',
    area: 'shop',
    roles: owners,
    nav: { group: 'money', icon: 'check', word: 'verification', below: true },
    component: screen(() => import('./screens/settings-verification/index.tsx'), settingsVerificationWords),
  },
  {
    path: '/s/:shop/lending',
    area: 'shop',
    roles: owners,
    nav: { group: 'money', icon: 'money', word: 'lending' },
    component: screen(() => import('./screens/lending/list.tsx'), lendingWords),
  },
  {
    path: '/s/:shop/lending/:id',
    area: 'shop',
    roles: owners,
    component: screen(() => import('./screens/lending/application.tsx'), lendingWords),
  },
  {
    path: '/net',
    area: 'net',
    nav: { group: 'network', icon: 'chart', word: 'figures' },
    component: screen(() => import('./screens/figures/index.tsx'), figuresWords),
  },
  { path: '/net/figures/:kpi', area: 'net', component: screen(() => import('./screens/figures/detail.tsx'), figuresWords) },
  {
    path: '/net/rankings',
    area: 'net',
    nav: { group: 'network', icon: 'people', word: 'rankings' },
    component: screen(() => import('./screens/rankings/index.tsx'), rankingsWords),
  },
  {
    path: '/net/shops',
    area: 'net',
    nav: { group: 'network', icon: 'products', word: 'shops' },
    component: screen(() => import('./screens/shops/list.tsx'), shopsWords),
  },
  { path: '/net/shops/:id', area: 'net', component: screen(() => import('./screens/shops/shop.tsx'), shopsWords) },
  {
    path: '/net/operations',
    area: 'net',
    nav: { group: 'operations', icon: 'server', word: 'operations' },
    component: screen(() => import('./screens/operations/index.tsx'), operationsWords),
  },
  {
    path: '/net/jobs',
    area: 'net',
    nav: { group: 'operations', icon: 'clock', word: 'jobs' },
    component: screen(() => import('./screens/jobs/index.tsx'), jobsWords),
  },
  {
    path: '/net/breakers',
    area: 'net',
    nav: { group: 'operations', icon: 'shield', word: 'breakers' },
    component: screen(() => import('./screens/breakers/index.tsx'), breakersWords),
  },
  {
    path: '/net/chains',
    area: 'net',
    nav: { group: 'operations', icon: 'chain', word: 'chains' },
    component: screen(() => import('./screens/chains/index.tsx'), chainsWords),
  },
  {
    path: '/net/backups',
    area: 'net',
    nav: { group: 'operations', icon: 'download', word: 'backups' },
    component: screen(() => import('./screens/backups/index.tsx'), backupsWords),
  },
  {
    path: '/net/kyb',
    area: 'net',
    nav: { group: 'review', icon: 'check', word: 'kyb' },
    component: screen(() => import('./screens/kyb/list.tsx'), kybWords),
  },
  { path: '/net/kyb/:id', area: 'net', component: screen(() => import('./screens/kyb/record.tsx'), kybWords) },
  {
    path: '/net/lending',
    area: 'net',
    nav: { group: 'review', icon: 'money', word: 'lendingQueue' },
    component: screen(() => import('./screens/lending-queue/list.tsx'), lendingQueueWords),
  },
  { path: '/net/lending/:id', area: 'net', component: screen(() => import('./screens/lending-queue/application.tsx'), lendingQueueWords) },
  {
    path: '/net/repayments',
    area: 'net',
    nav: { group: 'review', icon: 'money', word: 'repayments', below: true },
    component: screen(() => import('./screens/repayments/index.tsx'), repaymentsWords),
  },
  {
    path: '/net/partnerships',
    area: 'net',
    nav: { group: 'trust', icon: 'people', word: 'partnerships', below: true },
    component: screen(() => import('./screens/partnerships/index.tsx'), partnershipsWords),
  },
  {
    path: '/net/lenders',
    area: 'net',
    nav: { group: 'trust', icon: 'book', word: 'lenders' },
    component: screen(() => import('./screens/lenders/index.tsx'), registriesWords),
  },
  {
    path: '/net/methodologies',
    area: 'net',
    nav: { group: 'trust', icon: 'page', word: 'methodologies', below: true },
    component: screen(() => import('./screens/methodologies/index.tsx'), registriesWords),
  },
  {
    path: '/net/providers',
    area: 'net',
    nav: { group: 'trust', icon: 'server', word: 'providers', below: true },
    component: screen(() => import('./screens/providers/index.tsx'), registriesWords),
  },
  {
    path: '/net/wallets',
    area: 'net',
    nav: { group: 'trust', icon: 'chain', word: 'wallets', below: true },
    component: screen(() => import('./screens/wallets/index.tsx'), registriesWords),
  },
  {
    path: '/net/audit',
    area: 'net',
    nav: { group: 'operations', icon: 'book', word: 'audit' },
    component: screen(() => import('./screens/audit/index.tsx'), auditWords),
  },
  { path: '/account', area: 'account', component: screen(() => import('./screens/account/index.tsx'), accountWords) },
]
