/** The collection form's values and its request bodies. */
import type { Schema } from '../../lib/api/api.ts'
import { parseWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'
import type { paths } from '../../lib/schema.d.ts'

type Collection = Schema<'Collection'>
type CreateBody = NonNullable<paths['/collection-v2']['post']['requestBody']>['content']['application/json']
type ChangeBody = NonNullable<paths['/collection-v2/{id}']['patch']['requestBody']>['content']['application/json']

export type CollectionText = {
  readonly title: string
  readonly handle: string
  readonly descriptionHtml: string
  readonly imageUrl: string
  readonly imageAlt: string
  readonly showing: 'now' | 'at' | 'never'
  /** A `datetime-local` value. */
  readonly publishedAt: string
}
export type FieldErrors = Partial<Readonly<Record<keyof CollectionText, 'required' | 'notMoment'>>>
type BodyResult<Body> = { readonly body: Body; readonly errors: FieldErrors }

export const productsMax = 5_000

export const blankCollection: CollectionText = {
  title: '',
  handle: '',
  descriptionHtml: '',
  imageUrl: '',
  imageAlt: '',
  showing: 'now',
  publishedAt: '',
}

/** @param zone the shop's time zone */
export const textOf = ({ title, handle, descriptionHtml, image, publishedAt }: Collection, zone: string): CollectionText => ({
  ...{ title, handle, descriptionHtml },
  imageUrl: image?.url ?? '',
  imageAlt: image?.alt ?? '',
  showing: publishedAt === null ? 'never' : 'at',
  publishedAt: wallTimeText(publishedAt, zone),
})

const imageOf = ({ imageUrl, imageAlt }: CollectionText): { url: string; alt: string | null } | null =>
  imageUrl === '' ? null : { url: imageUrl, alt: imageAlt.trim() || null }

function readPublication(text: CollectionText, zone: string): { publishedAt: string | null | undefined; errors: FieldErrors } {
  const titleError: FieldErrors = text.title.trim() === '' ? { title: 'required' } : {}
  if (text.showing === 'never') return { publishedAt: null, errors: titleError }
  if (text.showing === 'now') return { publishedAt: undefined, errors: titleError }
  const at = parseWallTime(text.publishedAt, zone)
  if (!at) return { publishedAt: undefined, errors: { ...titleError, publishedAt: 'notMoment' } }
  return { publishedAt: at, errors: titleError }
}

/**
 * Builds the body of a new collection. Without a handle the API makes one of the title.
 * @param zone the shop's time zone
 */
export function createBody(text: CollectionText, zone: string): BodyResult<CreateBody> {
  const { publishedAt, errors } = readPublication(text, zone)
  const { title, descriptionHtml } = text
  const handle = text.handle.trim()
  const body = {
    ...{ title, descriptionHtml, image: imageOf(text) },
    ...(handle !== '' && { handle }),
    ...(publishedAt !== undefined && { publishedAt }),
  }
  return { body, errors }
}

/**
 * Builds a body of the changed fields.
 * @param now publication time of "now", in milliseconds
 * @param zone the shop's time zone
 */
export function changeBody(
  text: CollectionText,
  before: CollectionText,
  { now, zone }: { now: number; zone: string },
): BodyResult<ChangeBody> {
  const { publishedAt, errors } = readPublication(text, zone)
  const isChanged = (...names: readonly (keyof CollectionText)[]) => names.some((name) => text[name] !== before[name])
  const body: ChangeBody = {
    ...(isChanged('title') && { title: text.title }),
    ...(isChanged('handle') && { handle: text.handle.trim() }),
    ...(isChanged('descriptionHtml') && { descriptionHtml: text.descriptionHtml }),
    ...(isChanged('imageUrl', 'imageAlt') && { image: imageOf(text) }),
    ...(isChanged('showing', 'publishedAt') && { publishedAt: publishedAt === undefined ? new Date(now).toISOString() : publishedAt }),
  }
  return { body, errors: text.handle.trim() === '' ? { ...errors, handle: 'required' } : errors }
}
