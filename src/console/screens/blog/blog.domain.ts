import type { Schema } from '../../lib/api/api.ts'
import { parseChangedWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'

type Blog = Schema<'Blog'>
export type BlogState = 'DRAFT' | 'SCHEDULED' | 'PUBLISHED'

/** Whether the public sees it. @param now milliseconds, by the server's clock */
export const blogState = ({ status, publishedAt }: Pick<Blog, 'status' | 'publishedAt'>, now: number): BlogState =>
  status === 'DRAFT' ? 'DRAFT' : publishedAt !== null && Date.parse(publishedAt) > now ? 'SCHEDULED' : 'PUBLISHED'

/** What is typed of an article. */
export type Typed = {
  readonly title: string
  readonly slug: string
  readonly excerpt: string
  readonly bodyHtml: string
  readonly coverImage: string
  readonly author: string
  readonly tags: readonly string[]
  readonly status: Blog['status']
  readonly publishedAt: string
}
export const nothingTyped: Typed = {
  title: '',
  slug: '',
  excerpt: '',
  bodyHtml: '',
  coverImage: '',
  author: '',
  tags: [],
  status: 'DRAFT',
  publishedAt: '',
}

export const typedOf = (of: Blog, zone: string): Typed => ({
  title: of.title,
  slug: of.slug,
  excerpt: of.excerpt ?? '',
  bodyHtml: of.bodyHtml,
  coverImage: of.coverImage ?? '',
  author: of.author ?? '',
  tags: of.tags,
  status: of.status,
  publishedAt: wallTimeText(of.publishedAt, zone),
})

export type Body = Pick<Blog, 'title' | 'excerpt' | 'bodyHtml' | 'coverImage' | 'author' | 'status' | 'publishedAt'> & {
  tags: string[]
  slug?: string
}

/**
 * What was typed, as the API takes it; undefined where its day and time are none. Without a slug souk makes one, or keeps the one that is there.
 * @param before what is there, where it is changed
 */
export function bodyOf(typed: Typed, { zone, before }: { zone: string; before?: Blog | undefined }): Body | undefined {
  const publishedAt = parseChangedWallTime(typed.publishedAt, before?.publishedAt ?? null, zone)
  if (publishedAt === undefined) return undefined
  const orNull = (text: string) => text.trim() || null
  const slug = typed.slug.trim()
  return {
    title: typed.title.trim(),
    ...(slug && { slug }),
    excerpt: orNull(typed.excerpt),
    bodyHtml: typed.bodyHtml,
    coverImage: orNull(typed.coverImage),
    author: orNull(typed.author),
    tags: [...typed.tags],
    status: typed.status,
    publishedAt,
  }
}
