/** Products and collections as cards in a grid. */
import type { Schema } from './api.ts'
import { type Child, h } from './dom.ts'
import type { Words } from './i18n.ts'
import { type Navigation, recordLink } from './navigation.ts'
import { picture } from './pictures.ts'

/**
 * A card is about 11rem wide below 60rem, in two to four columns. There, dense screens get 320 pixels: a width of
 * 640 has three times the bytes, and looks the same at this size.
 */
const sizes = '(min-width: 60rem) 17rem, (min-resolution: 2.5dppx) 6.5rem, (min-resolution: 1.5dppx) 10rem, 11rem'

export const productGrid = (products: readonly Schema<'ProductSummary'>[], words: Words): HTMLElement =>
  h(
    'ul',
    { class: 'grid' },
    products.map((product) => h('li', {}, productCard(product, words))),
  )

function productCard(product: Schema<'ProductSummary'>, words: Words): Child {
  const {
    handle,
    title,
    images: [image],
    priceRange: { min, max },
    available,
  } = product
  return h(
    'a',
    { href: recordLink('products', handle), class: 'card' },
    // The name is below the picture, so its alt text is empty.
    h('span', { class: 'frame' }, image && picture({ ...image, alt: '' }, '', sizes, 'near')),
    h('bdi', { class: 'name' }, title),
    h('span', { class: 'price' }, min.amount === max.amount ? words.money(min) : words.from(words.money(min))),
    !available && h('span', { class: 'small' }, words.soldOut),
  )
}

export const collectionGrid = (collections: Navigation['collections']): HTMLElement =>
  h(
    'ul',
    { class: 'grid collections' },
    collections.map(({ handle, title, image }) =>
      h(
        'li',
        {},
        h(
          'a',
          { href: recordLink('collections', handle), class: 'card' },
          image && h('span', { class: 'frame' }, picture({ ...image, alt: '' }, '', sizes, 'near')),
          h('bdi', { class: 'name' }, title),
        ),
      ),
    ),
  )
