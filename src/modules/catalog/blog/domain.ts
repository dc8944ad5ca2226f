import type { blogs } from '../../../../db/schema/catalog.ts'
import { isoTimes, type Optional, withoutUndefined } from '../../../lib/objects.ts'
import { distinctTags, handleOf, searchTermsOf, textOfHtml } from '../../../lib/search-terms.ts'
import { bytesOf, publicRecordsBytesMax, shortenTexts } from '../../../lib/shorten-texts.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'

export type Blog = typeof blogs.$inferSelect

export const blogStatuses = ['DRAFT', 'PUBLISHED'] as const
const wordsMax = 2_000

/**
 * Fields of a create or a change. Undefined keeps the value, or takes the default. `bodyHtml` is sanitised,
 * `publishedAt` is in ms.
 */
export type BlogInput = Optional<Omit<Blog, 'id' | 'shopId' | 'words' | 'version' | 'createdAt' | 'updatedAt'>>

/** Builds a blog. Without a slug it takes the one from its title, even if another blog has it. */
export function buildBlog(
  input: BlogInput & { title: string; bodyHtml: string },
  { id, shopId, now }: { id: string; shopId: string; now: number },
): Blog {
  const { title, bodyHtml } = input
  const blank: Omit<Blog, 'words'> = {
    id,
    shopId,
    slug: handleOf(title) || 'blog',
    title,
    excerpt: null,
    bodyHtml,
    coverImage: null,
    author: null,
    tags: [],
    status: 'DRAFT',
    publishedAt: null,
    createdAt: now,
    updatedAt: now,
    version: 0,
  }
  return applyBlogChange({ ...blank, words: '' }, input, now)
}

/** Applies a change. A PUBLISHED blog without a date gets the date of now. */
export function applyBlogChange(before: Blog, input: BlogInput, now: number): Blog {
  const tags = input.tags ? distinctTags(input.tags) : before.tags
  const after: Blog = { ...before, ...withoutUndefined(input), tags, updatedAt: now, version: before.version + 1 }
  if (after.status === 'PUBLISHED') after.publishedAt ??= now
  return { ...after, words: wordsOfBlog(after) }
}

const wordsOfBlog = ({ title, excerpt, tags, bodyHtml }: Blog) =>
  ` ${searchTermsOf([title, excerpt ?? '', ...tags, textOfHtml(bodyHtml)].join(' '), wordsMax).join(' ')} `

/** Returns the audited difference. Texts and author are named without their values. */
export const blogDifference = (before: Blog | undefined, after: Blog | undefined): Difference =>
  differenceOf(before && withoutWords(before), after && withoutWords(after), [
    'slug',
    'title',
    'tags',
    'status',
    'publishedAt',
    'coverImage',
  ])
const withoutWords = ({ words: _, ...blog }: Blog) => blog

/** Returns whether the public sees the blog. */
export const isPublic = ({ status, publishedAt }: Blog, now: number): boolean =>
  status === 'PUBLISHED' && publishedAt !== null && publishedAt <= now

/** Renders a blog for its shop and for the public. */
export const blogView = ({ words: _, version: __, publishedAt, createdAt, updatedAt, ...rest }: Blog) => ({
  ...rest,
  ...isoTimes({ publishedAt, createdAt, updatedAt }),
})
export type BlogView = ReturnType<typeof blogView>

/** Adds the version that `If-Match` compares. */
export const managedBlogView = (blog: Blog) => ({ ...blogView(blog), version: blog.version })
export type ManagedBlogView = ReturnType<typeof managedBlogView>

/** Shortens a page of blogs to the size limit of a public response: blogs above their share lose their text. */
export function shortenBlogs<List extends { readonly data: BlogView[] }>(list: List): List {
  const texts = list.data.map((blog) => JSON.stringify(blog))
  // Reserves one byte for each comma between the texts.
  const bounded = shortenTexts(texts, publicRecordsBytesMax - texts.length, (text, most) => {
    const blog = { ...(JSON.parse(text) as BlogView), bodyHtml: '' }
    const short = JSON.stringify(blog)
    return bytesOf(short) <= most ? short : JSON.stringify({ ...blog, excerpt: null, tags: [] })
  })
  return { ...list, data: list.data.map((blog, at) => (bounded[at] === texts[at] ? blog : (JSON.parse(bounded[at] ?? '') as BlogView))) }
}
