/** The sizes of a picture. The build uses them too, so that the rendered page and its script load the same file. */

/** The widths in which souk serves pictures. */
const widths = [160, 320, 640, 1280]
const isSouks = (url: string): boolean => /\/media\/[0-9a-f]{32,}$/.test(url)

/** Returns the address of a picture in one of the widths; pictures from elsewhere have one size. */
export const sizedUrl = (url: string, width: 160 | 320 | 640 | 1280): string => (isSouks(url) ? `${url}-${width}` : url)

/** Returns the `srcset` of a picture; undefined for pictures from elsewhere. */
export const srcsetOf = (url: string): string | undefined =>
  isSouks(url) ? widths.map((width) => `${url}-${width} ${width}w`).join(', ') : undefined

/** How wide the picture of a product page is laid out, as CSS says it. */
export const productSizes = '(min-width: 60rem) 34rem, 100vw'
