/** The layout of every page: header, content, footer and error messages. */
import { Refused, type Schema } from './api.ts'
import { type Cart, currentCart, piecesIn } from './cart.ts'
import { type Child, h, put, refill } from './dom.ts'
import { footer, header } from './header.ts'
import { type Words, wordsOf } from './i18n.ts'
import { linkTo } from './navigation.ts'
import { isLoggedIn, theShop } from './session.ts'

export { linkTo, parameter } from './navigation.ts'

export type Shown = {
  readonly shop: Schema<'PublicShop'>
  readonly words: Words
  readonly main: HTMLElement
  /** Sets the heading and the title of the tab. */
  title(text: string): HTMLHeadingElement
  /** Shows a message above the content, which screen readers read. The focus does not move. */
  say(text: string): void
  /** Updates the number of items in the header. */
  counted(cart: Cart | null): void
}

/** The name of this page. */
const here = (): string => (location.pathname.split('/').at(-1) ?? '').replace(/\.html$/, '')

/** Returns the absolute URL of a page, for redirects of others. */
export const addressOf = (page: string): string => new URL(linkTo(page), location.href).href

// Going back could show an outdated page, such as a cart that was ordered since: reload it.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

/**
 * Draws a page. `draw` fills `main`; its errors are shown instead.
 * @param isPrivate redirects to the login without a session
 */
export async function openPage(draw: (shown: Shown) => Promise<void>, { isPrivate = false } = {}): Promise<void> {
  const main = h('main', { id: 'main' })
  // A rendered page shows its content until the current data has arrived.
  const rendered = document.querySelector('main')
  const status = h('p', { role: 'status', class: 'status' })
  let words = wordsOf('en', 'US')
  try {
    const shop = await theShop()
    words = wordsOf(shop.language, shop.country)
    document.documentElement.lang = words.language
    document.documentElement.dir = words.direction
    document.title = shop.title
    if (isPrivate && !isLoggedIn()) return location.replace(linkTo('login', { to: here() }))
    const cartLink = h('a', { href: linkTo('cart') }, words.cart(0))
    const top = header(shop, words, cartLink)
    if (!rendered) refill(document.body, top, main)
    top.before(h('a', { href: '#main', class: 'skip' }, words.skip))
    top.after(status)
    let isNewer = false
    const count = (cart: Cart | null) => refill(cartLink, words.cart(cart?.status === 'OPEN' ? piecesIn(cart) : 0))
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
    // The shopper may change the cart before this response arrives.
    void currentCart().then(
      (cart) => isNewer || count(cart),
      () => undefined,
    )
    await draw(shown)
    rendered?.replaceWith(main)
    // Last, so that the content does not push it down.
    put(document.body, footer(shop, words))
  } catch (error) {
    if (isPrivate && error instanceof Refused && error.status === 401) return location.replace(linkTo('login', { to: here() }))
    if (rendered?.isConnected) rendered.replaceWith(main)
    if (!main.isConnected) refill(document.body, main)
    refill(main, h('h1', {}, words.problem), problem(error, words))
  }
}

/**
 * Describes an error for the shopper. souk's messages are English; the shop finds the request id in its log.
 * @param said replaces souk's message
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
