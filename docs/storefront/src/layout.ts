/** What every page has: the shop's head, one place for the page's content, and one for what went wrong. */
import { Refused, type Schema, shopName } from './api.ts'
import { type Cart, currentCart, piecesIn } from './cart.ts'
import { type Child, h, refill } from './dom.ts'
import { isLoggedIn, theShop } from './session.ts'
import { type Words, wordsOf } from './words.ts'

export type Shown = {
  readonly shop: Schema<'PublicShop'>
  readonly words: Words
  readonly main: HTMLElement
  /** Names the page, in its heading and in the title of the tab. */
  title(text: string): HTMLHeadingElement
  /** Says something without taking the focus: read aloud where pages are. */
  say(text: string): void
  /** Has the head count what is in the cart now. */
  counted(cart: Cart | null): void
}

/** A link to a page of ours; parameters without a value are left out. */
export function linkTo(page: string, parameters: Record<string, string | number | null | undefined> = {}): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return query === '' ? `${page}.html` : `${page}.html?${query}`
}

/** A parameter of this page; '' where there is none. */
export const parameter = (name: string): string => new URLSearchParams(location.search).get(name) ?? ''

/** The name of this page. */
const here = (): string => (location.pathname.split('/').at(-1) ?? '').replace(/\.html$/, '')

/** The address of one of our pages, for those who send people there. */
export const addressOf = (page: string): string => new URL(linkTo(page), location.href).href

/**
 * Draws a page. `draw` fills `main`; what it throws is shown in its place.
 * @param isPrivate only for those who are logged in: others are sent to log in first
 */
export async function openPage(draw: (shown: Shown) => Promise<void>, { isPrivate = false } = {}): Promise<void> {
  const main = h('main', { id: 'main' })
  const status = h('p', { role: 'status', class: 'status' })
  let words = wordsOf('en', 'US')
  try {
    const shop = await theShop()
    words = wordsOf(shop.language, shop.country)
    document.documentElement.lang = words.language
    document.documentElement.dir = words.direction
    document.title = shop.title
    if (isPrivate && !isLoggedIn()) return location.replace(linkTo('login', { to: here() }))
    const basket = h('a', { href: linkTo('cart') }, words.basket(0))
    refill(document.body, head(shop, words, basket), main, status, foot(shop))
    let isNewer = false
    const count = (cart: Cart | null) => refill(basket, words.basket(cart?.status === 'OPEN' ? piecesIn(cart) : 0))
    const shown: Shown = {
      shop,
      words,
      main,
      title(text) {
        document.title = `${text} · ${shop.title}`
        return h('h1', {}, h('bdi', {}, text))
      },
      say: (text) => refill(status, text),
      counted(cart) {
        isNewer = true
        count(cart)
      },
    }
    // Whoever is quick has changed the cart before this is answered.
    void currentCart().then(
      (cart) => isNewer || count(cart),
      () => undefined,
    )
    await draw(shown)
  } catch (error) {
    if (isPrivate && error instanceof Refused && error.status === 401) return location.replace(linkTo('login', { to: here() }))
    if (!main.isConnected) refill(document.body, main)
    refill(main, h('h1', {}, words.problem), problem(error, words))
  }
}

const head = (shop: Schema<'PublicShop'>, words: Words, basket: HTMLElement): Child => [
  h('a', { href: '#main', class: 'skip' }, words.skip),
  h(
    'header',
    {},
    h(
      'a',
      { href: linkTo('index'), class: 'brand' },
      shop.logoUrl !== null && h('img', { src: shop.logoUrl, alt: '', height: 32 }),
      h('bdi', {}, shop.title),
    ),
    h(
      'nav',
      { 'aria-label': words.menu },
      h('a', { href: linkTo(isLoggedIn() ? 'account' : 'login') }, isLoggedIn() ? words.account : words.logIn),
      basket,
    ),
  ),
]

const foot = (shop: Schema<'PublicShop'>): Child => h('footer', {}, h('bdi', {}, shop.title || shopName))

/**
 * What went wrong, for the shopper to read and to pass on: souk's own words are English, and the id is what the shop looks for in its log.
 * @param said in place of souk's words
 */
export function problem(error: unknown, words: Words, said?: string): HTMLElement {
  if (!(error instanceof Refused)) throw error
  const { status, message, requestId, retryAfter } = error
  const text =
    said !== undefined
      ? said
      : status === 0
        ? words.unreachable
        : status === 429
          ? words.tooOften(retryAfter ?? 60)
          : status >= 500
            ? words.notNow
            : undefined
  return h(
    'div',
    { role: 'alert', class: 'problem', tabindex: -1 },
    h('p', {}, text ?? h('span', { lang: 'en', dir: 'ltr' }, message || String(status))),
    requestId !== null && h('p', { class: 'small' }, words.reference, ' ', h('code', { dir: 'ltr' }, requestId)),
  )
}

/** A part of a page that has a name. */
export const section = (title: string, ...children: Child[]): HTMLElement => h('section', {}, h('h2', {}, title), children)
