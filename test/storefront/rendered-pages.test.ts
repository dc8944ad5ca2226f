/** Tests the rendered pages, which search engines and link previews read without a script. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { build } from '../../docs/storefront/build.ts'
import { type Catalog, readCatalog } from '../../docs/storefront/catalog.ts'
import { renderAll, renderPage, textOf } from '../../docs/storefront/render.ts'
import { temporaryDir } from '../support/database.ts'
import { ok } from '../support/selling.ts'
import { hostileTitle, type OpenShop, openShop } from '../support/storefront.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

let shop: OpenShop
let catalog: Catalog
const url = 'https://shop.example/store'
const storefront = () => ({ souk: shop.souk, shop: shop.shop.shop.name, url })

beforeAll(async () => {
  shop = await openShop()
  catalog = await readCatalog(storefront())
})
afterAll(() => shop[Symbol.asyncDispose]())

async function rendered(path: string): Promise<string> {
  const html = await renderPage(catalog, path)
  if (html === undefined) throw new Error(`no page ${path}`)
  return html
}

/** Reads the head of a page as a crawler does. */
async function headOf(html: string) {
  const titles: string[] = []
  const canonical: string[] = []
  const meta: Record<string, string> = {}
  const scripts: string[] = []
  const data: string[] = []
  await new HTMLRewriter()
    .on('title', { text: ({ text }) => void titles.push(text) })
    .on('link[rel=canonical]', { element: (link) => void canonical.push(link.getAttribute('href') ?? '') })
    .on('meta', {
      element(element) {
        meta[element.getAttribute('name') ?? element.getAttribute('property') ?? ''] = element.getAttribute('content') ?? ''
      },
    })
    .on('script', { element: (script) => void scripts.push(script.getAttribute('type') ?? '') })
    .on('script[type="application/ld+json"]', { text: ({ text }) => void data.push(text) })
    .transform(new Response(html))
    .text()
  return { title: titles.join(''), canonical: canonical.join(), meta, scripts, data: JSON.parse(data.join('') || 'null') }
}

type Offer = { price: string; priceCurrency: string; availability: string; url: string }

/** Lists the fields of Google's product rules that a product lacks. */
function faultsOf(product: { name?: string; image?: string[]; description?: string; offers?: Offer & { offers?: Offer[] } }): string[] {
  const faults = [!product.name && 'name', !product.description && 'description', !product.offers && 'offers']
  for (const image of product.image ?? []) if (URL.parse(image)?.protocol !== 'http:') faults.push(`image ${image}`)
  for (const offer of product.offers?.offers ?? (product.offers ? [product.offers] : [])) {
    if (!/^\d+(\.\d+)?$/.test(offer.price)) faults.push(`price ${offer.price}`)
    if (!/^[A-Z]{3}$/.test(offer.priceCurrency)) faults.push(`currency ${offer.priceCurrency}`)
    if (!/^https:\/\/schema\.org\/(InStock|OutOfStock)$/.test(offer.availability)) faults.push(`availability ${offer.availability}`)
    if (!offer.url.startsWith(`${url}/products/`)) faults.push(`url ${offer.url}`)
  }
  return faults.filter((fault) => typeof fault === 'string')
}

describe('a product page', () => {
  test('has title, description, canonical address and Open Graph in its HTML', async () => {
    const html = await rendered('products/brass-lamp.html')
    const { title, canonical, meta } = await headOf(html)
    expect(title).toBe('Brass Lamp · Souk &#38; Söhne')
    expect(canonical).toBe(`${url}/products/brass-lamp.html`)
    expect(meta).toMatchObject({
      description: 'Warm light. Made by hand. Care Dust it.',
      'og:type': 'product',
      'og:title': 'Brass Lamp',
      'og:url': `${url}/products/brass-lamp.html`,
      'souk:root': '../',
      'souk:handle': 'brass-lamp',
    })
    expect(meta['og:image']).toMatch(/\/media\/[0-9a-f]{32,}-1280$/)
    expect(html).toContain('from $20.00')
    expect(html).toContain('alt="A lamp of brass"')
  })

  test('has JSON-LD with an offer for each variant', async () => {
    const { data } = await headOf(await rendered('products/brass-lamp.html'))
    expect(faultsOf(data)).toEqual([])
    expect(data).toMatchObject({ '@context': 'https://schema.org', '@type': 'Product', name: 'Brass Lamp' })
    expect(data.image.length).toBe(2)
    expect(data.offers).toMatchObject({
      '@type': 'AggregateOffer',
      lowPrice: '20.00',
      highPrice: '35.00',
      priceCurrency: 'USD',
      offerCount: 2,
      offers: [
        { name: 'Small', price: '20.00', availability: 'https://schema.org/InStock' },
        { name: 'Large', price: '35.00', availability: 'https://schema.org/InStock' },
      ],
    })
  })

  test('keeps a hostile title as text, in HTML and in JSON-LD', async () => {
    const html = await rendered('products/odd.html')
    const { data, meta, scripts } = await headOf(html)
    expect(data).toMatchObject({ name: hostileTitle, offers: { '@type': 'Offer', price: '5.00' } })
    expect(meta['og:title']?.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))).toBe(hostileTitle)
    expect(scripts).toEqual(['application/ld+json', 'module'])
    expect(html).not.toContain('<img src=x')
  })

  test('is missing for an unpublished product', async () => {
    const [{ id }] = ok(await shop.app.call('GET', `${shop.shop.list}?q=lamp`)).body.data
    ok(await shop.shop.patch(`/product-v2/${id}`, { status: 'DRAFT' }))
    try {
      expect(await renderPage(catalog, 'products/brass-lamp.html')).toBeUndefined()
      expect((await fetch(`${shop.origin}/products/brass-lamp.html`)).status).toBe(404)
    } finally {
      ok(await shop.shop.patch(`/product-v2/${id}`, { status: 'ACTIVE' }))
    }
    expect((await fetch(`${shop.origin}/products/brass-lamp.html`)).status).toBe(200)
  })
})

describe('the other pages', () => {
  test('of a collection, a post, a policy and the home page have their titles and descriptions', async () => {
    const headAt = async (path: string) => headOf(await rendered(path))
    expect((await headAt('collections/light.html')).meta).toMatchObject({ description: 'Lamps &#38; candles', 'souk:handle': 'light' })
    expect(await rendered('collections/light.html')).toContain('<a href="../products/brass-lamp.html">Brass Lamp</a>')
    const post = await headAt('blog/how-a-lamp-is-made.html')
    expect(post.meta).toMatchObject({ description: 'By hand.', 'og:type': 'article' })
    expect(post.data).toMatchObject({ '@type': 'BlogPosting', headline: 'How a lamp is made' })
    expect((await headAt('policies/returns.html')).title).toStartWith('Returns · ')
    const home = await headAt('index.html')
    expect(home.title).toBe('Souk &#38; Söhne')
    expect(home.canonical).toBe(`${url}/`)
    expect(home.data).toMatchObject({ '@type': 'Organization', name: 'Souk & Söhne' })
    for (const path of ['nothing.html', 'policies/nothing.html', 'blog/nothing.html', 'collections/nothing.html', 'other/light.html'])
      expect([path, await renderPage(catalog, path)]).toEqual([path, undefined])
  })

  test('speak the language of the shop', async () => {
    await using arabic = await openShop({ language: 'ar' })
    const html = await renderPage(await readCatalog({ souk: arabic.souk, shop: arabic.shop.shop.name }), 'policies/shipping.html')
    expect(html).toContain('<html lang="ar" dir="rtl">')
    expect(html).toContain('<title>الشحن')
  })

  test('are all written, with a sitemap', async () => {
    const files = new Map<string, string>()
    for await (const [path, text] of renderAll(catalog)) files.set(path, text)
    const policies = ['shipping', 'returns', 'privacy', 'terms'].map((name) => `policies/${name}.html`)
    const records = ['products/odd.html', 'products/brass-lamp.html', 'collections/light.html', 'blog/how-a-lamp-is-made.html', ...policies]
    expect([...files.keys()].sort()).toEqual(['index.html', 'products.html', 'blog.html', ...records, 'sitemap.xml', 'robots.txt'].sort())
    const sitemap = files.get('sitemap.xml') ?? ''
    for (const path of records) expect(sitemap).toContain(`<loc>${url}/${path}</loc>`)
    expect(files.get('robots.txt')).toContain(`Sitemap: ${url}/sitemap.xml`)
  })

  test('of the host for missing files finds scripts at any depth', async () => {
    const html = (await (await build(storefront())).get('404.html')?.text()) ?? ''
    expect(html).toContain('src="/store/404.js"')
    expect(html).toContain('href="/store/style.css"')
  })
})

describe('the command', () => {
  async function run(...options: string[]) {
    const script = join(import.meta.dir, '../../docs/storefront/build.ts')
    const command = Bun.spawn([process.execPath, script, ...options], { stdout: 'pipe', stderr: 'pipe' })
    const [output, errorText] = await Promise.all([new Response(command.stdout).text(), new Response(command.stderr).text()])
    return { output, errorText: errorText.trim(), status: await command.exited }
  }

  test('writes all files into a folder', async () => {
    const out = temporaryDir()
    const { output, status } = await run(`--souk=${shop.souk}`, `--shop=${shop.shop.shop.name}`, `--url=${url}`, `--out=${out}`)
    expect([output.includes(' files in '), status]).toEqual([true, 0])
    expect(await Bun.file(join(out, 'products/brass-lamp.html')).text()).toContain('<title>Brass Lamp')
    expect(await Bun.file(join(out, 'cart.html')).text()).toContain('&#34;handle&#34;:&#34;light&#34;')
    expect(await Bun.file(join(out, 'product.js')).exists()).toBe(true)
  })

  test('lists its options, and does so for an unknown one', async () => {
    const [help, unknown] = await Promise.all([run('--help'), run('--prot=1')])
    expect([help.output.includes('--shop    handle of the shop'), help.status]).toEqual([true, 0])
    expect([unknown.errorText.includes("'--prot'"), unknown.errorText.includes('Usage:'), unknown.status]).toEqual([true, true, 1])
  })

  test('reports an error in one line', async () => {
    const commonOptions = [`--souk=${shop.souk}`, '--out=/nowhere']
    const failures = await Promise.all([
      run(...commonOptions),
      run(...commonOptions, '--url=shop.example'),
      run(...commonOptions, `--url=${url}`, '--shop=nothing'),
      run('--souk=http://127.0.0.1:9', '--out=/nowhere', `--url=${url}`),
    ])
    expect(failures.map(({ errorText, status }) => [errorText.split(':')[0], errorText.split('\n').length, status])).toEqual([
      ['--out needs --url=https', 1, 1],
      ['--url=shop.example', 1, 1],
      ['There is no shop nothing at http', 1, 1],
      ['souk does not answer at http', 1, 1],
    ])
  })
})

test('separates the words and decodes the entities of HTML', () => {
  expect(textOf('<p>a &lt;b&gt;</p><ul><li>c &amp;amp; d</li></ul>')).toBe('a <b> c &amp; d')
})
