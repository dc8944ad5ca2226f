import type { Schema } from '../../lib/api/api.ts'
import { parseChangedWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'

type Blog = Schema<'Blog'>
type BlogState = 'DRAFT' | 'SCHEDULED' | 'PUBLISHED'

/**
 * Returns the article's state.
 * @param now server time in milliseconds
 */
export const blogState = ({ status, publishedAt }: Pick<Blog, 'status' | 'publishedAt'>, now: number): BlogState =>
  status === 'DRAFT' ? 'DRAFT' : publishedAt !== null && Date.parse(publishedAt) > now ? 'SCHEDULED' : 'PUBLISHED'

/** The form's values. */
type BlogText = {
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
export const blankBlog: BlogText = {
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

/**
 * Returns the form's values of an article.
 * @param zone the shop's time zone, in which the publication time is shown
 */
export const textOf = (blog: Blog, zone: string): BlogText => ({
  title: blog.title,
  slug: blog.slug,
  excerpt: blog.excerpt ?? '',
  bodyHtml: blog.bodyHtml,
  coverImage: blog.coverImage ?? '',
  author: blog.author ?? '',
  tags: blog.tags,
  status: blog.status,
  publishedAt: wallTimeText(blog.publishedAt, zone),
})

export type Body = Pick<Blog, 'title' | 'excerpt' | 'bodyHtml' | 'coverImage' | 'author' | 'status' | 'publishedAt'> & {
  tags: string[]
  slug?: string
}

/**
 * Builds the request body; undefined if the publication time is invalid. Without a slug the API creates or keeps one.
 * @param before the stored article, for a change
 */
export function bodyOf(input: BlogText, { zone, before }: { zone: string; before?: Blog | undefined }): Body | undefined {
  const publishedAt = parseChangedWallTime(input.publishedAt, before?.publishedAt ?? null, zone)
  if (publishedAt === undefined) return undefined
  const orNull = (text: string) => text.trim() || null
  const slug = input.slug.trim()
  return {
    title: input.title.trim(),
    ...(slug && { slug }),
    excerpt: orNull(input.excerpt),
    bodyHtml: input.bodyHtml,
    coverImage: orNull(input.coverImage),
    author: orNull(input.author),
    tags: [...input.tags],
    status: input.status,
    publishedAt,
  }
}
