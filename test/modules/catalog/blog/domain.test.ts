import { expect, test } from 'bun:test'
import { applyBlogChange, blogView, buildBlog, isPublic, managedBlogView } from '../../../../src/modules/catalog/blog/domain.ts'

const now = 1_000
const newBlog = (input: Partial<Parameters<typeof buildBlog>[0]> = {}) =>
  buildBlog({ title: 'Tea & Cakes', bodyHtml: '<p>Hot</p>', ...input }, { id: 'blog_1', shopId: 'shop_1', now })

test('a new blog is a draft with a slug from its title; omitted fields are null or empty', () => {
  expect(newBlog()).toEqual({
    id: 'blog_1',
    shopId: 'shop_1',
    slug: 'tea-cakes',
    title: 'Tea & Cakes',
    excerpt: null,
    bodyHtml: '<p>Hot</p>',
    coverImage: null,
    author: null,
    tags: [],
    status: 'DRAFT',
    publishedAt: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
    words: ' tea cakes hot ',
  })
  expect(newBlog({ title: '!' }).slug).toBe('blog')
  expect(newBlog({ slug: 'mine' }).slug).toBe('mine')
})

test('a change to a blog changes the named fields and updates its search words', () => {
  const before = newBlog({ excerpt: 'Short', tags: ['b', 'B', ' a '] })
  expect(before.tags).toEqual(['b', 'a'])
  expect(before.words).toBe(' tea cakes short b a hot ')
  expect(applyBlogChange(before, { title: undefined, excerpt: null }, now + 1)).toEqual({
    ...before,
    excerpt: null,
    updatedAt: now + 1,
    version: 2,
    words: ' tea cakes b a hot ',
  })
  expect(applyBlogChange(before, { tags: [] }, now).tags).toEqual([])
})

test('a published blog has a publication date: the given one, or the moment of the change', () => {
  const published = applyBlogChange(newBlog(), { status: 'PUBLISHED' }, 5)
  expect(published.publishedAt).toBe(5)
  expect(applyBlogChange(published, { title: 'Pots' }, 6).publishedAt).toBe(5)
  expect(applyBlogChange(published, { publishedAt: null }, 6).publishedAt).toBe(6)
  expect(newBlog({ status: 'PUBLISHED', publishedAt: 7 }).publishedAt).toBe(7)
})

test('the public sees a published blog from its publication date on', () => {
  const published = newBlog({ status: 'PUBLISHED', publishedAt: 5 })
  expect([4, 5, 6].map((at) => isPublic(published, at))).toEqual([false, true, true])
  expect(isPublic({ ...published, status: 'DRAFT' }, 6)).toBe(false)
  expect(isPublic({ ...published, publishedAt: null }, 6)).toBe(false)
})

test('the public view of a blog omits version and search words; the view for its shop has the version', () => {
  const { words: _, version, ...rest } = newBlog()
  const times = { createdAt: '1970-01-01T00:00:01.000Z', updatedAt: '1970-01-01T00:00:01.000Z' }
  expect(blogView(newBlog())).toEqual({ ...rest, ...times, publishedAt: null })
  expect(managedBlogView(newBlog())).toEqual({ ...blogView(newBlog()), version })
  expect(blogView(newBlog({ publishedAt: 0 })).publishedAt).toBe('1970-01-01T00:00:00.000Z')
})
