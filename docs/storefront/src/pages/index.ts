/** The home page: the shop, its collections and new products. */
import { ask, shopName } from '../api.ts'
import { h, put } from '../dom.ts'
import { linkTo, openPage, section } from '../layout.ts'
import { navigation } from '../navigation.ts'
import { collectionGrid, productGrid } from '../product-grid.ts'

const newest = 8
const collectionsMax = 6

void openPage(async (shown) => {
  const { words, shop, main } = shown
  const { data } = await ask('GET /product-v2/public/shop/{shopName}', { path: { shopName }, query: { limit: newest } })
  const heading = shown.title(shop.title)
  document.title = shop.title
  put(main, [
    h(
      'section',
      { class: 'hero' },
      heading,
      shop.description !== '' && h('p', { dir: 'auto' }, shop.description),
      h('p', {}, h('a', { href: linkTo('products'), class: 'button' }, words.allProducts)),
    ),
    navigation.collections.length > 0 && section(words.collections, collectionGrid(navigation.collections.slice(0, collectionsMax))),
    data.length > 0 && section(words.newArrivals, productGrid(data, words)),
  ])
})
