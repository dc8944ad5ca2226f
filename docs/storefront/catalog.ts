/** Reads the public records of the shop, from which the build renders pages. */
import type { Storefront } from './html.ts'
import type { Money } from './src/i18n.ts'
import type { Navigation } from './src/navigation.ts'

export type Shop = {
  readonly title: string
  readonly description: string
  readonly logoUrl: string | null
  readonly country: string
  readonly language: string
  readonly publishableKey: string | null
}
type Image = { readonly url: string; readonly alt: string | null; readonly width: number | null; readonly height: number | null }
type Variant = { readonly sku: string | null; readonly title: string; readonly price: Money; readonly available: boolean }
export type Product = {
  readonly handle: string
  readonly title: string
  readonly descriptionHtml: string
  readonly vendor: string
  readonly images: readonly Image[]
  readonly variants: readonly Variant[]
  readonly priceRange: { readonly min: Money; readonly max: Money }
  readonly available: boolean
  readonly seo: { readonly title: string | null; readonly description: string | null }
}
export type Collection = Navigation['collections'][number] & {
  readonly descriptionHtml: string
  readonly products: readonly Pick<Product, 'handle' | 'title'>[]
}
export type Post = {
  readonly slug: string
  readonly title: string
  readonly excerpt: string | null
  readonly bodyHtml: string
  readonly author: string | null
  readonly coverImage: string | null
  readonly publishedAt: string
}
type PageOf<Item> = { readonly data: readonly Item[]; readonly pages: number }

/** The shop with its menu. */
export type Catalog = { readonly storefront: Storefront; readonly shop: Shop; readonly navigation: Navigation }

const triesMax = 5
const patienceMs = 30_000

/**
 * Reads a record of souk; undefined if there is none. After a 429, waits for the time in `Retry-After`.
 * @throws Error for every other error
 */
async function read<Body>({ souk }: Storefront, path: string, headers: Record<string, string> = {}): Promise<Body | undefined> {
  for (let tries = 1; ; tries++) {
    const response = await fetch(`${souk.replace(/\/+$/, '')}${path}`, { headers, signal: AbortSignal.timeout(patienceMs) }).catch(
      (error: Error) => {
        throw new Error(`souk does not answer at ${souk}: ${error.message}`)
      },
    )
    if (response.ok) return (await response.json()) as Body
    if (response.status === 404) return undefined
    const wait = Number(response.headers.get('retry-after'))
    if (!(wait > 0) || tries === triesMax) throw new Error(`${path}: souk answered ${response.status}: ${await response.text()}`)
    await Bun.sleep(wait * 1_000)
  }
}

const encode = encodeURIComponent

/** Reads every page of a list. */
async function readAll<Item>(storefront: Storefront, path: string, headers?: Record<string, string>): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const list = await read<PageOf<Item>>(storefront, `${path}page=${page}`, headers)
    items.push(...(list?.data ?? []))
    pages = list?.pages ?? 0
  }
  return items
}

/** Limits the size of every page. Further collections have pages, but are not in the menu and the filter. */
const menuMax = 30

/** Reads the shop and what its menu shows. @throws Error if souk does not have the shop */
export async function readCatalog(storefront: Storefront): Promise<Catalog> {
  const shop = await read<Shop>(storefront, `/shops/v2/public/name/${encode(storefront.shop)}`)
  if (!shop) throw new Error(`There is no shop ${storefront.shop} at ${storefront.souk}`)
  const collections = await readCollections(storefront)
  return {
    storefront,
    shop,
    navigation: {
      collections: collections.slice(0, menuMax).map(({ handle, title, image }) => ({ handle, title, image })),
      hasBlog: ((await read<PageOf<Post>>(storefront, '/blogs?limit=1', keyOf(shop)))?.data.length ?? 0) > 0,
    },
  }
}

const keyOf = ({ publishableKey }: Shop): Record<string, string> => (publishableKey ? { 'x-service-api-key': publishableKey } : {})

const readCollections = (storefront: Storefront) =>
  readAll<Collection>(storefront, `/collection-v2/published/${encode(storefront.shop)}?limit=20&`)

export const readProduct = ({ storefront }: Catalog, handle: string) =>
  read<Product>(storefront, `/product-v2/public/shop/${encode(storefront.shop)}/handle/${encode(handle)}`)

export const readCollection = ({ storefront }: Catalog, handle: string) =>
  read<Collection>(storefront, `/collection-v2/published/${encode(storefront.shop)}/${encode(handle)}?limit=24`)

export const readPost = ({ storefront }: Catalog, slug: string) => read<Post>(storefront, `/blogs/public/${encode(slug)}`)

/** Reads the handles of everything that has a page. */
export async function readHandles({ storefront, shop }: Catalog): Promise<Record<'products' | 'collections' | 'blog', string[]>> {
  const products = await readAll<Product>(storefront, `/product-v2/public/shop/${encode(storefront.shop)}?limit=100&`)
  const collections = await readCollections(storefront)
  const posts = await readAll<Post>(storefront, '/blogs?limit=100&', keyOf(shop))
  return {
    products: products.map(({ handle }) => handle),
    collections: collections.map(({ handle }) => handle),
    blog: posts.map(({ slug }) => slug),
  }
}
