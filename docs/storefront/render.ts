/**
 * Renders pages of products, collections, posts and policies, so that search engines and link previews read them
 * without a script: title, description, canonical address, Open Graph, JSON-LD. In a browser, the page's script
 * replaces the content with current data.
 */
import { type Catalog, type Product, readCollection, readHandles, readPost, readProduct } from './catalog.ts'
import { escapeHtml, htmlOf } from './html.ts'
import { decimalOf, policyNames, wordsOf } from './src/i18n.ts'
import { productSizes, sizedUrl, srcsetOf } from './src/picture-sizes.ts'
import { policiesIn } from './src/policies/index.ts'

/** A page for clients that do not run its script. */
type Rendered = {
  readonly script: string
  readonly handle?: string
  readonly title: string
  readonly description: string
  readonly type?: 'website' | 'product' | 'article'
  readonly image?: string | undefined
  readonly data?: object | undefined
  /** HTML of the page's content. */
  readonly main: string
}

const descriptionMax = 160

/** Returns the text of HTML. */
export function textOf(html: string): string {
  const spaced = html.replace(/<[^>]*>/g, ' ').replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? '')
  return spaced.replace(/\s+/g, ' ').trim()
}
/** The entities that souk's sanitiser writes. */
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }

const shorten = (text: string): string => (text.length <= descriptionMax ? text : `${text.slice(0, descriptionMax - 1).trimEnd()}…`)

/** The widest picture that souk makes, which link previews ask for. */
const largeOf = (url: string): string => sizedUrl(url, 1280)

const heading = (text: string) => `<h1><bdi>${escapeHtml(text)}</bdi></h1>`

/** Renders the page of a path such as `products/brass-lamp.html`; undefined if there is none. */
export async function renderPage(catalog: Catalog, path: string): Promise<string | undefined> {
  const [, folder = '', file = ''] = /^(?:(\w+)\/)?([^/]+)\.html$/.exec(path) ?? []
  const rendered = await render(catalog, folder, decodeURIComponent(file))
  return rendered && pageHtml(catalog, path, rendered)
}

async function render(catalog: Catalog, folder: string, handle: string): Promise<Rendered | undefined> {
  if (folder === '') return listPage(catalog, handle)
  if (folder === 'products') return productPage(catalog, handle)
  if (folder === 'collections') return collectionPage(catalog, handle)
  if (folder === 'blog') return postPage(catalog, handle)
  if (folder === 'policies') return policyPage(catalog, handle)
  return undefined
}

const home = ({ shop, storefront }: Catalog): Rendered => ({
  script: 'index',
  title: shop.title,
  description: shop.description,
  image: shop.logoUrl ?? undefined,
  data: { '@type': 'Organization', name: shop.title, url: storefront.url, logo: shop.logoUrl ?? undefined },
  main: `<section class="hero">${heading(shop.title)}<p dir="auto">${escapeHtml(shop.description)}</p></section>`,
})

function listPage(catalog: Catalog, page: string): Rendered | undefined {
  const { shop } = catalog
  const words = wordsOf(shop.language, shop.country)
  if (page === 'index') return home(catalog)
  const title = { products: words.allProducts, blog: words.blog }[page]
  return title === undefined ? undefined : { script: page, title, description: '', main: heading(title) }
}

async function productPage(catalog: Catalog, handle: string): Promise<Rendered | undefined> {
  const product = await readProduct(catalog, handle)
  if (!product) return undefined
  const text = textOf(product.descriptionHtml)
  const [image] = product.images
  const words = wordsOf(catalog.shop.language, catalog.shop.country)
  const { min, max } = product.priceRange
  const price = min.amount === max.amount ? words.money(min) : words.from(words.money(min))
  return {
    script: 'product',
    handle,
    title: product.seo.title || product.title,
    description: product.seo.description || text,
    type: 'product',
    image: image && largeOf(image.url),
    data: productData(catalog, product, text),
    main: `<article class="product"><div class="gallery"><ul class="pictures">${image ? `<li>${pictureHtml(image, product.title)}</li>` : ''}</ul></div>
      <div>${heading(product.title)}<p class="price">${escapeHtml(price)}</p><p dir="auto">${escapeHtml(text)}</p></div></article>`,
  }
}

/** Renders the same `img` as `src/pictures.ts`. */
function pictureHtml({ url, alt, width, height }: Product['images'][number], title: string): string {
  const attributes = {
    src: sizedUrl(url, 640),
    srcset: srcsetOf(url),
    sizes: productSizes,
    alt: alt ?? title,
    width,
    height,
    fetchpriority: 'high',
  }
  const given = Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined)
  return `<img ${given.map(([name, value]) => `${name}="${escapeHtml(String(value))}"`).join(' ')}>`
}

/** Returns the product in the vocabulary of schema.org, with an offer for each variant. */
function productData(catalog: Catalog, product: Product, description: string): object {
  const url = addressOf(catalog, `products/${encodeURIComponent(product.handle)}.html`)
  const offers = product.variants.map(({ sku, title, price, available }) => ({
    '@type': 'Offer',
    ...(product.variants.length > 1 ? { name: title } : {}),
    sku: sku ?? undefined,
    url,
    price: decimalOf(price),
    priceCurrency: price.currency,
    availability: `https://schema.org/${available ? 'InStock' : 'OutOfStock'}`,
  }))
  const { min, max } = product.priceRange
  const range = { lowPrice: decimalOf(min), highPrice: decimalOf(max), priceCurrency: min.currency, offerCount: offers.length }
  return {
    '@type': 'Product',
    name: product.title,
    description,
    image: product.images.map((image) => largeOf(image.url)),
    url,
    brand: product.vendor === '' ? undefined : { '@type': 'Brand', name: product.vendor },
    offers: offers.length === 1 ? offers[0] : { '@type': 'AggregateOffer', ...range, offers },
  }
}

async function collectionPage(catalog: Catalog, handle: string): Promise<Rendered | undefined> {
  const collection = await readCollection(catalog, handle)
  if (!collection) return undefined
  const links = collection.products.map(
    (product) => `<li><a href="../products/${encodeURIComponent(product.handle)}.html">${escapeHtml(product.title)}</a></li>`,
  )
  return {
    script: 'products',
    handle,
    title: collection.title,
    description: textOf(collection.descriptionHtml),
    image: collection.image ? largeOf(collection.image.url) : undefined,
    data: { '@type': 'CollectionPage', name: collection.title },
    main: `${heading(collection.title)}<ul class="grid">${links.join('')}</ul>`,
  }
}

async function postPage(catalog: Catalog, slug: string): Promise<Rendered | undefined> {
  const post = await readPost(catalog, slug)
  if (!post) return undefined
  const text = textOf(post.bodyHtml)
  return {
    script: 'post',
    handle: slug,
    title: post.title,
    description: post.excerpt || text,
    type: 'article',
    image: post.coverImage ? largeOf(post.coverImage) : undefined,
    data: {
      '@type': 'BlogPosting',
      headline: post.title,
      datePublished: post.publishedAt,
      image: post.coverImage ? largeOf(post.coverImage) : undefined,
      author: { '@type': 'Organization', name: post.author ?? catalog.shop.title },
    },
    main: `<article class="text">${heading(post.title)}<p dir="auto">${escapeHtml(text)}</p></article>`,
  }
}

function policyPage({ shop }: Catalog, handle: string): Rendered | undefined {
  const name = policyNames.find((one) => one === handle)
  if (!name) return undefined
  const words = wordsOf(shop.language, shop.country)
  const html = policiesIn(words.language)[name]
  // The texts are part of the storefront, so their HTML needs no escaping.
  return {
    script: 'policy',
    handle,
    title: words.policies[name],
    description: textOf(html),
    main: `<article class="text">${heading(words.policies[name])}${html}</article>`,
  }
}

/** Returns the absolute URL of a page; without `--url`, it is relative to the storefront. */
const addressOf = ({ storefront }: Catalog, path: string): string =>
  storefront.url === undefined ? path : new URL(path, `${storefront.url.replace(/\/+$/, '')}/`).href

/** The limit of `src/header.ts`. */
const menuMax = 6

function pageHtml(catalog: Catalog, path: string, { script, handle = '', main, ...page }: Rendered): string {
  const { storefront, shop, navigation } = catalog
  const words = wordsOf(shop.language, shop.country)
  const root = path.includes('/') ? '../' : ''
  const isHome = page.title === shop.title
  const title = isHome ? shop.title : `${page.title} · ${shop.title}`
  const url = addressOf(catalog, path === 'index.html' ? '' : path)
  const description = shorten(page.description)
  const properties: [name: string, content: string | undefined][] = [
    ['og:type', page.type ?? 'website'],
    ['og:site_name', shop.title],
    ['og:title', page.title],
    ['og:description', description],
    ['og:url', storefront.url === undefined ? undefined : url],
    ['og:image', page.image],
  ]
  const head = [
    description !== '' && `<meta name="description" content="${escapeHtml(description)}">`,
    storefront.url !== undefined && `<link rel="canonical" href="${escapeHtml(url)}">`,
    ...properties.map(([name, content]) => content && `<meta property="${name}" content="${escapeHtml(content)}">`),
    // A script element ends at `</`, so titles must not contribute a `<`.
    page.data &&
      `<script type="application/ld+json">${JSON.stringify({ '@context': 'https://schema.org', ...page.data }).replaceAll('<', '\\u003c')}</script>`,
  ]
  const link = (to: string, label: string) => `<a href="${root}${to}.html"><bdi>${escapeHtml(label)}</bdi></a>`
  const collections = navigation.collections
    .slice(0, menuMax)
    .map((one) => link(`collections/${encodeURIComponent(one.handle)}`, one.title))
  const menu = [link('products', words.allProducts), ...collections, navigation.hasBlog ? link('blog', words.blog) : '']
  const brand = `<a href="${root}index.html" class="brand"><img src="${escapeHtml(shop.logoUrl ?? `${root}icon.svg`)}" alt="" height="36"> <bdi>${escapeHtml(shop.title)}</bdi></a>`
  return htmlOf(storefront, navigation, {
    script,
    title,
    root,
    handle,
    language: words.language,
    direction: words.direction,
    head: head.filter(Boolean).join('\n    '),
    body: `<header>${brand}<search></search><nav aria-label="${escapeHtml(words.menu)}" class="menu">${menu.join('')}</nav></header>\n    <main id="main">${main}</main>`,
  })
}

const atOnce = 8
/** Whether a handle can be a file name. `404.html` shows records with longer handles. */
const fitsFile = (handle: string) => Buffer.byteLength(handle) <= 250

/** Renders all pages of the shop, a sitemap and robots.txt. Skips records that are removed meanwhile. */
export async function* renderAll(catalog: Catalog): AsyncGenerator<[path: string, text: string]> {
  const handles = { ...(await readHandles(catalog)), policies: policyNames }
  const records = Object.entries(handles).flatMap(([folder, all]) => all.filter(fitsFile).map((handle) => `${folder}/${handle}`))
  const paths = ['index', 'products', 'blog', ...records]
  const written: string[] = []
  for (let from = 0; from < paths.length; from += atOnce) {
    const some = paths.slice(from, from + atOnce).map((path) => `${path}.html`)
    const pages = await Promise.all(some.map(async (path) => [path, await renderPage(catalog, path)] as const))
    for (const [path, html] of pages) {
      if (html === undefined) continue
      written.push(path)
      yield [path, html]
    }
  }
  const addresses = written.map((path) => addressOf(catalog, path === 'index.html' ? '' : path))
  const urls = addresses.map((address) => `<url><loc>${escapeHtml(address)}</loc></url>`)
  yield [
    'sitemap.xml',
    `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`,
  ]
  yield ['robots.txt', `User-agent: *\nAllow: /\nSitemap: ${addressOf(catalog, 'sitemap.xml')}\n`]
}
