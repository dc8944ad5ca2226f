/** The catalog: search, collections, filters. The URL contains the selection, so that it can be shared. */
import { type Answer, ask, shopName } from '../api.ts'
import { type Child, h } from '../dom.ts'
import { drawer } from '../drawer.ts'
import { field, select, tick, typed } from '../form.ts'
import { decimalsOf, minorUnitsOf, type Words } from '../i18n.ts'
import { linkTo, openPage, parameter } from '../layout.ts'
import { navigation, pageHandle } from '../navigation.ts'
import { productGrid } from '../product-grid.ts'

type Found = Answer<'GET /product-v2/public/shop/{shopName}'>
const sorts = ['newest', 'title', 'price', '-price'] as const
const perPage = 16

const sort = sorts.find((one) => one === parameter('sort'))
const wished = {
  q: parameter('q'),
  // The rendered page of a collection contains its handle.
  collection: parameter('collection') || pageHandle(),
  sort: sort ?? '',
  minPrice: parameter('minPrice'),
  maxPrice: parameter('maxPrice'),
  available: parameter('available'),
  page: parameter('page'),
}

void openPage(async (shown) => {
  const { words, shop, main } = shown
  const { q, collection, minPrice, maxPrice, available, page } = wished
  const found = await ask('GET /product-v2/public/shop/{shopName}', {
    path: { shopName },
    query: {
      limit: perPage,
      // Leaves out empty parameters.
      ...(q ? { q } : {}),
      ...(collection ? { collection } : {}),
      ...(sort ? { sort } : {}),
      ...price('minPrice', minPrice, shop.currency),
      ...price('maxPrice', maxPrice, shop.currency),
      ...(available === 'true' ? { available } : {}),
      ...(Number(page) > 1 ? { page: Number(page) } : {}),
    },
  })
  const chosen = navigation.collections.find(({ handle }) => handle === collection)
  const renderedTitle = document.querySelector('main h1')?.textContent
  main.append(
    shown.title(chosen?.title ?? (q ? words.results(q) : (renderedTitle ?? words.allProducts))),
    drawer(words.filters, filters(words, shop.currency), words),
    h('p', { class: 'small', role: 'status' }, found.total === 0 ? words.noProducts : words.found(found.total, found.totalCapped === true)),
    productGrid(found.data, words),
    h('nav', { 'aria-label': words.pages, class: 'actions' }, pages(found, words)),
  )
})

/** Converts entered prices to minor units. */
function price(name: 'minPrice' | 'maxPrice', text: string, currency: string): Partial<Record<typeof name, number>> {
  const amount = minorUnitsOf(text, currency)
  return amount === undefined ? {} : { [name]: amount }
}

function filters(words: Words, currency: string): HTMLFormElement {
  const step = (10 ** -decimalsOf(currency)).toFixed(decimalsOf(currency))
  const priced = { type: 'number', min: 0, step, inputmode: 'decimal' }
  const choices = navigation.collections.map(({ handle, title }) => ({ value: handle, label: title }))
  return h(
    'form',
    { class: 'filters', 'aria-label': words.filters, onsubmit: search },
    choices.length > 0 &&
      select({
        label: words.collection,
        name: 'collection',
        value: wished.collection,
        choices: [{ value: '', label: words.everything }, ...choices],
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
    h('p', { class: 'actions' }, h('button', { type: 'submit' }, words.showProducts)),
  )
}

function search(event: Event): void {
  event.preventDefault()
  const values = new FormData(event.target as HTMLFormElement)
  const names = ['collection', 'sort', 'minPrice', 'maxPrice'] as const
  const said = Object.fromEntries(names.map((name) => [name, typed(values, name)]))
  location.assign(linkTo('products', { q: wished.q, ...said, available: values.has('available') ? 'true' : '' }))
}

function pages({ page, pages }: Found, words: Words): Child {
  const to = (other: number, label: string) => h('a', { href: linkTo('products', { ...wished, page: other }) }, label)
  return [
    page > 1 && to(page - 1, words.previous),
    pages > 1 && h('span', {}, words.pageOf(page, pages)),
    page < pages && to(page + 1, words.next),
  ]
}
