import type { Schema } from './api.ts'
import { h } from './dom.ts'
import { sizedUrl, srcsetOf } from './picture-sizes.ts'

type Picture = Pick<Schema<'ProductImage'>, 'url'> & Partial<Schema<'ProductImage'>>

/** When the picture of an `img` is loaded: with the page, or by the browser's or the page's own lazy loading. */
type Loading = 'eager' | 'lazy' | 'near'

/**
 * Lazy loading of browsers begins thousands of pixels before the screen, which loads most pages whole. This loads
 * the pictures on the screen, and those ahead of it once the shopper scrolls. A row of which only an edge is on the
 * screen waits for that, too.
 */
const aheadPx = 600
const edgePx = 64
let visibility = startLoading(-edgePx)
addEventListener(
  'scroll',
  () => {
    visibility.disconnect()
    visibility = startLoading(aheadPx)
    for (const image of document.querySelectorAll('img[data-src]:not([src])')) visibility.observe(image)
  },
  { once: true, passive: true },
)

/** Loads observed pictures at most this many pixels above or below the screen; negative: this far inside it. */
function startLoading(px: number): IntersectionObserver {
  const load = (entries: readonly IntersectionObserverEntry[]) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting || !(target instanceof HTMLImageElement)) continue
      visibility.unobserve(target)
      const { src = '', srcset } = target.dataset
      if (srcset !== undefined) target.srcset = srcset
      target.src = src
    }
  }
  return new IntersectionObserver(load, { rootMargin: `${px}px 0px` })
}

/**
 * Returns an `img` that loads the smallest sufficient width.
 * @param sizes the layout width, in the syntax of the attribute `sizes`
 */
export function picture({ url, alt, width, height }: Picture, title: string, sizes: string, loading: Loading = 'lazy'): HTMLImageElement {
  const srcset = srcsetOf(url)
  const source = { src: sizedUrl(url, 640), srcset }
  const image = h('img', {
    ...(loading === 'near' ? { 'data-src': source.src, 'data-srcset': srcset } : source),
    sizes: srcset && sizes,
    alt: alt ?? title,
    width,
    height,
    ...(loading === 'eager' ? { fetchpriority: 'high' } : loading === 'lazy' ? { loading } : {}),
  })
  if (loading === 'near') visibility.observe(image)
  return image
}
