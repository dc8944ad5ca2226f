/** The gallery of a product: one picture at a time, with swipes and thumbnails. */
import type { Schema } from './api.ts'
import { h } from './dom.ts'
import type { Words } from './i18n.ts'
import { productSizes } from './picture-sizes.ts'
import { picture } from './pictures.ts'

type Gallery = {
  readonly element: HTMLElement
  /** Shows the picture of a variant, if it has one. */
  show(imageId: string | null): void
}

export function gallery({ images, title }: Pick<Schema<'PublicProduct'>, 'images' | 'title'>, words: Words): Gallery {
  const items = images.map((image, nth) => h('li', {}, picture(image, title, productSizes, nth === 0 ? 'eager' : 'lazy')))
  const strip = h('ul', { class: 'pictures' }, items)
  const smalls = images.map((image, nth) =>
    h(
      'button',
      { type: 'button', class: 'frame', 'aria-label': words.pictureOf(nth + 1, images.length), onclick: () => go(nth) },
      picture({ ...image, alt: '' }, '', '4rem'),
    ),
  )
  function go(nth: number): void {
    const item = items[nth]
    // Scrolls the strip without the page. In right-to-left layout, positions are negative.
    if (item) strip.scrollTo({ left: item.offsetLeft - strip.offsetLeft })
  }
  const mark = (current: number) => {
    for (const [nth, small] of smalls.entries()) small.setAttribute('aria-current', String(nth === current))
  }
  strip.addEventListener('scroll', () => mark(Math.round(Math.abs(strip.scrollLeft) / strip.clientWidth)))
  mark(0)
  const isMany = images.length > 1
  if (isMany) strip.setAttribute('tabindex', '0')
  return {
    element: h(
      'div',
      { class: 'gallery', role: 'group', 'aria-label': words.pictures },
      strip,
      isMany && h('div', { class: 'smalls' }, smalls),
    ),
    show: (imageId) => go(images.findIndex(({ id }) => id === imageId)),
  }
}
