import type { IOptions } from 'sanitize-html'
import { AppError } from './errors.ts'

const options: IOptions = {
  allowedTags: [
    ...'h1 h2 h3 h4 h5 h6 p br hr div span blockquote pre code ul ol li dl dt dd'.split(' '),
    ...'b strong i em u s small sub sup mark a img figure figcaption'.split(' '),
    ...'table thead tbody tfoot tr th td caption colgroup col'.split(' '),
  ],
  allowedAttributes: {
    a: ['href', 'title', 'target', 'rel'],
    img: ['src', 'alt', 'title', 'width', 'height', 'loading'],
    th: ['colspan', 'rowspan', 'scope'],
    td: ['colspan', 'rowspan'],
    col: ['span'],
    '*': ['lang', 'dir'],
  },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  transformTags: { a: (tagName, attribs) => ({ tagName, attribs: { ...attribs, rel: 'noopener noreferrer nofollow' } }) },
  nestingLimit: 64,
}

/** Loaded with the first text that contains markup, because its parser is large. */
const sanitizer = () => require('sanitize-html') as typeof import('sanitize-html')

/** Character limit before and after sanitising, which may add some. A page of 100 products holds 100 of these texts. */
export const htmlLengthMax = 64 * 1024
/** The parser takes quadratic time in unclosed tags. */
const tagsMax = 5_000

/**
 * Sanitises HTML by an allowlist of tags, attributes and schemes; removes styles, scripts and frames.
 * @param field name of the request field, for the error message
 * @throws AppError INVALID if it is too long or has too many tags
 */
export function sanitize(html: string, field: string): string {
  if (html.split('<', tagsMax + 2).length > tagsMax + 1) throw new AppError('INVALID', `${field} (body): at most ${tagsMax} tags`)
  const clean = /[<>&]/.test(html) ? sanitizer()(html, options) : html
  if (clean.length > htmlLengthMax)
    throw new AppError('INVALID', `${field} (body): at most ${htmlLengthMax} characters once it is sanitised`)
  return clean
}
