/** The header and the footer of every page. */
import { type Schema, shopName } from './api.ts'
import { type Child, h, refill } from './dom.ts'
import { policyNames, type Words } from './i18n.ts'
import { linkTo, navigation, parameter, recordLink, root } from './navigation.ts'
import { isLoggedIn } from './session.ts'

/** The menu has room for these; the page of all products has all. */
const collectionsMax = 6

/** Returns the header. Reuses that of a rendered page, because replacing it could lose a click. */
export function header(shop: Schema<'PublicShop'>, words: Words, cartLink: HTMLElement): HTMLElement {
  const place = h('search')
  const element = document.querySelector('header') ?? h('header', {}, brand(shop), place, menu(words))
  const search = element.querySelector('search') ?? place
  refill(search, searchForm(words))
  search.after(
    h(
      'nav',
      { 'aria-label': words.account },
      h('a', { href: linkTo(isLoggedIn() ? 'account' : 'login') }, isLoggedIn() ? words.account : words.logIn),
      cartLink,
    ),
  )
  return element
}

const brand = ({ logoUrl, title }: Schema<'PublicShop'>): Child =>
  h(
    'a',
    { href: linkTo('index'), class: 'brand' },
    h('img', { src: logoUrl ?? `${root}icon.svg`, alt: '', height: 36 }),
    h('bdi', {}, title),
  )

const searchForm = (words: Words): Child =>
  h(
    'form',
    { action: linkTo('products') },
    h('label', { for: 'search', class: 'unseen' }, words.search),
    h('input', { id: 'search', name: 'q', type: 'search', maxlength: 200, value: parameter('q'), placeholder: words.search }),
    h('button', { type: 'submit' }, words.search),
  )

const menu = (words: Words): Child =>
  h(
    'nav',
    { 'aria-label': words.menu, class: 'menu' },
    h('a', { href: linkTo('products') }, words.allProducts),
    navigation.collections
      .slice(0, collectionsMax)
      .map(({ handle, title }) => h('a', { href: recordLink('collections', handle) }, h('bdi', {}, title))),
    navigation.hasBlog && h('a', { href: linkTo('blog') }, words.blog),
  )

export const footer = (shop: Schema<'PublicShop'>, words: Words): Child =>
  h(
    'footer',
    {},
    h('bdi', {}, shop.title || shopName),
    h(
      'nav',
      { 'aria-label': words.policiesMenu },
      policyNames.map((name) => h('a', { href: recordLink('policies', name) }, words.policies[name])),
    ),
  )
