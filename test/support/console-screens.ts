/** The console's screens by src/console/screens.ts, with a URL of each that shows data. */
import { join } from 'node:path'
import type { Json } from './app.ts'

export type ListedScreen = { readonly path: string; readonly area: 'shop' | 'net' | 'account' }

/** Parses the file, because its imports need a browser. */
export async function listedScreens(): Promise<ListedScreen[]> {
  const text = await Bun.file(join(import.meta.dir, '../../src/console/screens.ts')).text()
  const screens = [...text.matchAll(/(?:\bpath: '([^']*)', area: '(\w+)'|\b(shop|net)Screen\(\s*'([^']*)')/g)].map(
    ([, path, area, prefix, rest]) =>
      path === undefined ? { path: `${prefix === 'shop' ? '/s/:shop' : '/net'}${rest}`, area: prefix } : { path, area },
  )
  const components = text.match(/\bcomponent: Home|\bimport\('/g)?.length ?? 0
  if (screens.length !== components)
    throw new Error(`src/console/screens.ts lists ${components} components, of which ${screens.length} are understood`)
  return screens as ListedScreen[]
}

/** API lists that contain the records of screens. Screens that are not listed have names in their path. */
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

/** Reads a list of the API. */
export type Ask = (path: string) => Promise<Json>

/**
 * Returns the URL of a screen, below /console; of the first record if it shows one.
 * @param ask reads as the screen's audience
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
