/** The catalog: search, collections, filters. The page's address says what is shown, so that it can be sent to somebody. */
import { type Answer, ask, shopName } from '../api.ts'
import { type Child, h } from '../dom.ts'
import { field, select, tick, typed } from '../form.ts'
import { linkTo, openPage, parameter } from '../layout.ts'
import { picture } from '../pictures.ts'
import { decimalsOf, minorUnitsOf, type Words } from '../words.ts'

type Found = Answer<'GET /product-v2/public/shop/{shopName}'>
type Collections = Answer<'GET /collection-v2/published/{shopName}'>['data']
const sorts = ['newest', 'title', 'price', '-price'] as const
const perPage = 24
const collectionPagesMax = 5

const sort = sorts.find((one) => one === parameter('sort'))
const wished = {
  q: parameter('q'),
  collection: parameter('collection'),
  sort: sort ?? '',
  minPrice: parameter('minPrice'),
  maxPrice: parameter('maxPrice'),
  available: parameter('available'),
  page: parameter('page'),
}

void openPage(async (shown) => {
  const { words, shop, main } = shown
  const { q, collection, minPrice, maxPrice, available, page } = wished
  const [found, collections] = await Promise.all([
    ask('GET /product-v2/public/shop/{shopName}', {
      path: { shopName },
      query: {
        limit: perPage,
        // souk refuses a parameter that is empty.
        ...(q ? { q } : {}),
        ...(collection ? { collection } : {}),
        ...(sort ? { sort } : {}),
        ...price('minPrice', minPrice, shop.currency),
        ...price('maxPrice', maxPrice, shop.currency),
        ...(available === 'true' ? { available } : {}),
        ...(Number(page) > 1 ? { page: Number(page) } : {}),
      },
    }),
    allCollections(),
  ])
  const chosen = collections.find(({ handle }) => handle === wished.collection)
  main.append(
    shown.title(chosen?.title ?? shop.title),
    h('search', {}, filters(words, shop.currency, collections)),
    h('p', { class: 'small' }, words.found(found.total, found.totalCapped === true)),
    h(
      'ul',
      { class: 'grid' },
      found.data.map((product) => h('li', {}, card(product, words))),
    ),
    h('nav', { 'aria-label': words.pages, class: 'actions' }, pages(found, words)),
  )
})

/** The shop's collections, from as many pages as a filter has use for. */
async function allCollections(): Promise<Collections> {
  const pageOf = (page: number) => ask('GET /collection-v2/published/{shopName}', { path: { shopName }, query: { limit: 20, page } })
  const first = await pageOf(1)
  const others = Array.from({ length: Math.max(0, Math.min(first.pages, collectionPagesMax) - 1) }, (_, at) => pageOf(at + 2))
  return [first, ...(await Promise.all(others))].flatMap(({ data }) => data)
}

/** What is typed in units of the currency is asked for in its smallest ones. */
function price(name: 'minPrice' | 'maxPrice', text: string, currency: string): Partial<Record<typeof name, number>> {
  const amount = minorUnitsOf(text, currency)
  return amount === undefined ? {} : { [name]: amount }
}

function filters(words: Words, currency: string, collections: Collections): HTMLFormElement {
  const step = (10 ** -decimalsOf(currency)).toFixed(decimalsOf(currency))
  const priced = { type: 'number', min: 0, step, inputmode: 'decimal' }
  return h(
    'form',
    { class: 'filters', onsubmit: search },
    field({ label: words.search, name: 'q', type: 'search', value: wished.q, maxlength: 200 }),
    select({
      label: words.collection,
      name: 'collection',
      value: wished.collection,
      choices: [{ value: '', label: words.everything }, ...collections.map(({ handle, title }) => ({ value: handle, label: title }))],
    }),
    select({
      label: words.sort,
      name: 'sort',
      value: sort ?? 'newest',
      choices: sorts.map((value) => ({ value, label: words.sorts[value] })),
    }),
    field({ label: words.priceFrom(currency), name: 'minPrice', value: wished.minPrice, ...priced }),
    field({ label: words.priceTo(currency), name: 'maxPrice', value: wished.maxPrice, ...priced }),
    tick({ label: words.onlyAvailable, name: 'available', checked: wished.available === 'true' }),
    h('p', { class: 'actions' }, h('button', { type: 'submit' }, words.search)),
  )
}

function search(event: Event): void {
  event.preventDefault()
  const values = new FormData(event.target as HTMLFormElement)
  const names = ['q', 'collection', 'sort', 'minPrice', 'maxPrice'] as const
  const said = Object.fromEntries(names.map((name) => [name, typed(values, name)]))
  location.assign(linkTo('index', { ...said, available: values.has('available') ? 'true' : '' }))
}

function card({ handle, title, images: [first], priceRange, available }: Found['data'][number], words: Words): Child {
  const { min, max } = priceRange
  return h(
    'a',
    { href: linkTo('product', { handle }), class: 'card' },
    // The name stands below it: to read both would say it twice.
    h('span', { class: 'frame' }, first && picture({ ...first, alt: '' }, '', '(min-width: 60rem) 18rem, 50vw')),
    h('bdi', { class: 'name' }, title),
    h('span', { class: 'price' }, min.amount === max.amount ? words.money(min) : words.from(words.money(min))),
    !available && h('span', { class: 'small' }, words.soldOut),
  )
}

function pages({ page, pages }: Found, words: Words): Child {
  const to = (other: number, label: string) => h('a', { href: linkTo('index', { ...wished, page: other }) }, label)
  return [
    page > 1 && to(page - 1, words.previous),
    pages > 1 && h('span', {}, words.pageOf(page, pages)),
    page < pages && to(page + 1, words.next),
  ]
}
