/** The HTML that descriptions and articles may contain. The sanitiser and the console's editor share it. */

const words = (text: string): readonly string[] => text.split(' ')

export const allowedTags: readonly string[] = [
  ...words('h1 h2 h3 h4 h5 h6 p br hr div span blockquote pre code ul ol li dl dt dd'),
  ...words('b strong i em u s small sub sup mark a img figure figcaption'),
  ...words('table thead tbody tfoot tr th td caption colgroup col'),
]

/** Attributes by tag; those of `*` are allowed on all tags. */
export const allowedAttributes: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'title', 'target', 'rel'],
  img: ['src', 'alt', 'title', 'width', 'height', 'loading'],
  th: ['colspan', 'rowspan', 'scope'],
  td: ['colspan', 'rowspan'],
  col: ['span'],
  '*': ['lang', 'dir'],
}

export const linkSchemes: readonly string[] = ['http', 'https', 'mailto', 'tel']
export const pictureSchemes: readonly string[] = ['http', 'https']

/** `rel` of all links. */
export const linkRelation = 'noopener noreferrer nofollow'

/** The sanitiser drops elements that are nested deeper. */
export const nestingMax = 64

/**
 * Returns whether a URL is relative or has an allowed scheme. Stricter than the sanitiser, which ignores control
 * characters and comments in a scheme.
 */
export function isAllowedUrl(url: string, schemes: readonly string[]): boolean {
  const compact = url.replace(/[\p{Cc}\s]+/gu, '')
  if (compact === '' || compact.includes('<') || /^[/\\]{2}/.test(compact)) return false
  const scheme = /^([^/?#]*?):/.exec(compact)?.[1]
  return scheme === undefined || schemes.includes(scheme.toLowerCase())
}
