import type { IOptions } from 'sanitize-html'
import { allowedAttributes, allowedTags, linkRelation, linkSchemes, nestingMax, pictureSchemes } from '../lib/html-rules.ts'
import { invalidField } from './errors.ts'

const options: IOptions = {
  allowedTags: [...allowedTags],
  allowedAttributes: Object.fromEntries(Object.entries(allowedAttributes).map(([tag, names]) => [tag, [...names]])),
  allowedSchemes: [...linkSchemes],
  allowedSchemesByTag: { img: [...pictureSchemes] },
  allowProtocolRelative: false,
  transformTags: { a: (tagName, attribs) => ({ tagName, attribs: { ...attribs, rel: linkRelation } }) },
  nestingLimit: nestingMax,
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
  if (html.split('<', tagsMax + 2).length > tagsMax + 1) throw invalidField(field, `must have at most ${tagsMax} tags`)
  const clean = /[<>&]/.test(html) ? sanitizer()(html, options) : html
  if (clean.length > htmlLengthMax) throw invalidField(field, `must have at most ${htmlLengthMax} characters after sanitizing`)
  return clean
}
