/** Every screen of the console, as src/console/screens.ts lists them, and an address of each in a shop that has something to show. */
import { join } from 'node:path'
import type { Json } from './app.ts'

export type ListedScreen = { readonly path: string; readonly area: 'shop' | 'net' | 'account' }

/** Read, not loaded: what the table names runs in a browser. */
export async function listedScreens(): Promise<ListedScreen[]> {
  const text = await Bun.file(join(import.meta.dir, '../../src/console/screens.ts')).text()
  const screens = [...text.matchAll(/path: '([^']+)',\s+area: '(shop|net|account)'/g)].map(([, path = '', area = '']) => ({ path, area }))
  const paths = text.match(/\bpath: '/g)?.length ?? 0
  if (screens.length !== paths) throw new Error(`src/console/screens.ts lists ${paths} paths, of which ${screens.length} are understood`)
  return screens as ListedScreen[]
}

/** Where the record is found that a screen shows: a list of the API, and who asks. What is not here has a name that is no id. */
const lists: Readonly<Record<string, string>> = {
  '/s/:shop/orders/drafts/:id': '/v2/orders/drafts',
  '/s/:shop/orders/:id': '/v2/orders',
  '/s/:shop/products/:id': '/product-v2',
  '/s/:shop/products/:id/variants/:variant/stock': '/product-v2',
  '/s/:shop/collections/:id': '/collection-v2',
  '/s/:shop/customers/:id': '/customer',
  '/s/:shop/discounts/:id': '/discounts',
  '/s/:shop/gift-cards/:id': '/giftcard',
  '/s/:shop/affiliates/:id': '/affiliate',
  '/s/:shop/blog/:id': '/blogs',
  '/s/:shop/settings/webhooks/:id': '/webhook-endpoints',
  '/s/:shop/lending/:id': '/lending-application',
  '/net/shops/:id': '/admin/shops',
  '/net/kyb/:id': '/admin/kyb',
  '/net/lending/:id': '/admin/lending-application',
  '/net/lenders/:id': '/admin/lenders',
  '/net/methodologies/:id': '/admin/methodologies',
  '/net/providers/:id': '/admin/service-providers',
  '/net/wallets/:id': '/admin/platform-wallets',
}
const words: Readonly<Record<string, string>> = {
  '/s/:shop/settings/payments/:processor': 'stripe',
  '/net/figures/:kpi': 'gmv',
}

/** Reads a list by somebody's access token. */
export type Ask = (path: string) => Promise<Json>

/**
 * The address of a screen, below /console and without a slash before it: of the first record, where it shows one.
 * @param ask as whoever the screen is for
 */
export async function addressOf({ path }: ListedScreen, shopName: string, ask: Ask): Promise<string> {
  const named = path.replace(':shop', encodeURIComponent(shopName)).slice(1)
  if (!named.includes(':')) return named
  const word = words[path]
  if (word !== undefined) return named.replace(/:\w+/, word)
  const list = lists[path]
  if (list === undefined) throw new Error(`test/support/console-screens.ts does not know what ${path} shows`)
  const [first] = (await ask(list)).data
  if (!first) throw new Error(`there is nothing in ${list} that ${path} could show`)
  return named.replace(':id', first.id).replace(':variant', first.variants?.[0]?.id ?? '')
}
