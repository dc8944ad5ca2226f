import type { blogs } from '../../../../db/schema/catalog.ts'
import { defined, isoTimes, type Optional } from '../../../lib/objects.ts'
import { distinctTags, handleOf, textOfHtml, wordsOf } from '../../../lib/search-terms.ts'
import { bytesOf, publicRecordsBytesMax, withinBytes } from '../../../lib/shorten-texts.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'

export type Blog = typeof blogs.$inferSelect

export const blogStatuses = ['DRAFT', 'PUBLISHED'] as const
const wordsMax = 2_000

/**
 * What a create or a change says; what is undefined stays as it is, or takes its default. `bodyHtml` is sanitised, `publishedAt` in
 * milliseconds.
 */
export type BlogInput = Optional<Omit<Blog, 'id' | 'shopId' | 'words' | 'version' | 'createdAt' | 'updatedAt'>>

/** A blog that `input` makes. Without a slug it has the one that its title gives, taken or not. */
export function createdBlog(
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
  return changedBlog({ ...blank, words: '' }, input, now)
}

/** The blog after a change. One that is PUBLISHED always has a date: without another, now. */
export function changedBlog(before: Blog, input: BlogInput, now: number): Blog {
  const tags = input.tags ? distinctTags(input.tags) : before.tags
  const after: Blog = { ...before, ...defined(input), tags, updatedAt: now, version: before.version + 1 }
  if (after.status === 'PUBLISHED') after.publishedAt ??= now
  return { ...after, words: wordsOfBlog(after) }
}

const wordsOfBlog = ({ title, excerpt, tags, bodyHtml }: Blog) =>
  ` ${wordsOf([title, excerpt ?? '', ...tags, textOfHtml(bodyHtml)].join(' '), wordsMax).join(' ')} `

/** What of a blog is on record when it changes: the texts and the author by their names alone. */
export const blogDifference = (before: Blog | undefined, after: Blog | undefined): Difference =>
  differenceOf(before && kept(before), after && kept(after), ['slug', 'title', 'tags', 'status', 'publishedAt', 'coverImage'])
const kept = ({ words: _, ...blog }: Blog) => blog

/** Whether the public sees it. */
export const isPublic = ({ status, publishedAt }: Blog, now: number): boolean =>
  status === 'PUBLISHED' && publishedAt !== null && publishedAt <= now

/** A blog as it is answered, to its shop and to the public. */
export const blogView = ({ words: _, version: __, publishedAt, createdAt, updatedAt, ...rest }: Blog) => ({
  ...rest,
  ...isoTimes({ publishedAt, createdAt, updatedAt }),
})
export type BlogView = ReturnType<typeof blogView>

/** The same with the version that changes go by. */
export const managedBlogView = (blog: Blog) => ({ ...blogView(blog), version: blog.version })
export type ManagedBlogView = ReturnType<typeof managedBlogView>

/** A page of blogs that fits into a public answer: where it does not, blogs above their share lack their text. */
export function boundedBlogs<List extends { readonly data: BlogView[] }>(list: List): List {
  const texts = list.data.map((blog) => JSON.stringify(blog))
  // Commas stand between them.
  const bounded = withinBytes(texts, publicRecordsBytesMax - texts.length, (text, most) => {
    const blog = { ...(JSON.parse(text) as BlogView), bodyHtml: '' }
    const short = JSON.stringify(blog)
    return bytesOf(short) <= most ? short : JSON.stringify({ ...blog, excerpt: null, tags: [] })
  })
  return { ...list, data: list.data.map((blog, at) => (bounded[at] === texts[at] ? blog : (JSON.parse(bounded[at] ?? '') as BlogView))) }
}
