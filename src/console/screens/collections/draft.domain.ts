/** What is typed about a collection, and what is sent of it. */
import type { Schema } from '../../lib/api/api.ts'
import { parseWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'
import type { paths } from '../../lib/schema.d.ts'

type Collection = Schema<'Collection'>
export type CreateBody = NonNullable<paths['/collection-v2']['post']['requestBody']>['content']['application/json']
export type ChangeBody = NonNullable<paths['/collection-v2/{id}']['patch']['requestBody']>['content']['application/json']

export type CollectionText = {
  readonly title: string
  readonly handle: string
  readonly descriptionHtml: string
  readonly imageUrl: string
  readonly imageAlt: string
  readonly showing: 'now' | 'at' | 'never'
  /** As `datetime-local` has it. */
  readonly publishedAt: string
}
export type Wrong = Partial<Readonly<Record<keyof CollectionText, 'required' | 'notMoment'>>>
export type Read<Body> = { readonly body: Body; readonly wrong: Wrong }

export const productsMax = 5_000

export const blank: CollectionText = {
  title: '',
  handle: '',
  descriptionHtml: '',
  imageUrl: '',
  imageAlt: '',
  showing: 'now',
  publishedAt: '',
}

/** @param zone of the shop's clock */
export const textOf = ({ title, handle, descriptionHtml, image, publishedAt }: Collection, zone: string): CollectionText => ({
  ...{ title, handle, descriptionHtml },
  imageUrl: image?.url ?? '',
  imageAlt: image?.alt ?? '',
  showing: publishedAt === null ? 'never' : 'at',
  publishedAt: wallTimeText(publishedAt, zone),
})

const imageOf = ({ imageUrl, imageAlt }: CollectionText): { url: string; alt: string | null } | null =>
  imageUrl === '' ? null : { url: imageUrl, alt: imageAlt.trim() || null }

function read(text: CollectionText, zone: string): { publishedAt: string | null | undefined; wrong: Wrong } {
  const required: Wrong = text.title.trim() === '' ? { title: 'required' } : {}
  if (text.showing === 'never') return { publishedAt: null, wrong: required }
  if (text.showing === 'now') return { publishedAt: undefined, wrong: required }
  const at = parseWallTime(text.publishedAt, zone)
  if (!at) return { publishedAt: undefined, wrong: { ...required, publishedAt: 'notMoment' } }
  return { publishedAt: at, wrong: required }
}

export function createBody(text: CollectionText, zone: string): Read<CreateBody> {
  const { publishedAt, wrong } = read(text, zone)
  const { title, descriptionHtml } = text
  const handle = text.handle.trim()
  const body = {
    ...{ title, descriptionHtml, image: imageOf(text) },
    ...(handle !== '' && { handle }),
    ...(publishedAt !== undefined && { publishedAt }),
  }
  return { body, wrong }
}

/** What is to change: what is as it was is not sent. @param terms `now` is when it is published "now", in milliseconds, and the zone of the shop's clock */
export function changeBody(text: CollectionText, before: CollectionText, { now, zone }: { now: number; zone: string }): Read<ChangeBody> {
  const { publishedAt, wrong } = read(text, zone)
  const isChanged = (...names: readonly (keyof CollectionText)[]) => names.some((name) => text[name] !== before[name])
  const body: ChangeBody = {
    ...(isChanged('title') && { title: text.title }),
    ...(isChanged('handle') && { handle: text.handle.trim() }),
    ...(isChanged('descriptionHtml') && { descriptionHtml: text.descriptionHtml }),
    ...(isChanged('imageUrl', 'imageAlt') && { image: imageOf(text) }),
    ...(isChanged('showing', 'publishedAt') && { publishedAt: publishedAt === undefined ? new Date(now).toISOString() : publishedAt }),
  }
  return { body, wrong: text.handle.trim() === '' ? { ...wrong, handle: 'required' } : wrong }
}
