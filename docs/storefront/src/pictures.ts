import type { Schema } from './api.ts'
import { h } from './dom.ts'

/** Widths in which souk has its pictures. */
const widths = [160, 320, 640, 1280]
const isSouks = (url: string): boolean => /\/media\/[0-9a-f]{32,}$/.test(url)

type Picture = Pick<Schema<'Image'>, 'url'> & Partial<Schema<'Image'>>

/**
 * A picture, in the width that the page needs of those that souk has.
 * @param sizes how wide it is laid out, as CSS says it
 */
export function picture({ url, alt, width, height }: Picture, title: string, sizes: string): HTMLImageElement {
  const srcset = isSouks(url) ? widths.map((one) => `${url}-${one} ${one}w`).join(', ') : undefined
  return h('img', {
    src: isSouks(url) ? `${url}-640` : url,
    srcset,
    sizes: srcset && sizes,
    alt: alt ?? title,
    width,
    height,
    loading: 'lazy',
  })
}
