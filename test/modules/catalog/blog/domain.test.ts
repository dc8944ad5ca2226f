import { expect, test } from 'bun:test'
import { applyBlogChange, blogView, buildBlog, isPublic, managedBlogView } from '../../../../src/modules/catalog/blog/domain.ts'

const now = 1_000
const made = (input: Partial<Parameters<typeof buildBlog>[0]> = {}) =>
  buildBlog({ title: 'Tea & Cakes', bodyHtml: '<p>Hot</p>', ...input }, { id: 'blog_1', shopId: 'shop_1', now })

test('a blog is a draft under the handle of its title, with nothing that it was not given', () => {
  expect(made()).toEqual({
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
  expect(made({ title: '!' }).slug).toBe('blog')
  expect(made({ slug: 'mine' }).slug).toBe('mine')
})

test('a change to a blog changes what it names, and the words by which it is found with it', () => {
  const before = made({ excerpt: 'Short', tags: ['b', 'B', ' a '] })
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

test('a blog that is published has a date: its own, or that of the change', () => {
  const published = applyBlogChange(made(), { status: 'PUBLISHED' }, 5)
  expect(published.publishedAt).toBe(5)
  expect(applyBlogChange(published, { title: 'Pots' }, 6).publishedAt).toBe(5)
  expect(applyBlogChange(published, { publishedAt: null }, 6).publishedAt).toBe(6)
  expect(made({ status: 'PUBLISHED', publishedAt: 7 }).publishedAt).toBe(7)
})

test('the public sees a blog that is published, from its date on', () => {
  const published = made({ status: 'PUBLISHED', publishedAt: 5 })
  expect([4, 5, 6].map((at) => isPublic(published, at))).toEqual([false, true, true])
  expect(isPublic({ ...published, status: 'DRAFT' }, 6)).toBe(false)
  expect(isPublic({ ...published, publishedAt: null }, 6)).toBe(false)
})

test('a blog is answered without its version and the words by which it is found, with its times as texts; to its shop with the version', () => {
  const { words: _, version, ...rest } = made()
  const times = { createdAt: '1970-01-01T00:00:01.000Z', updatedAt: '1970-01-01T00:00:01.000Z' }
  expect(blogView(made())).toEqual({ ...rest, ...times, publishedAt: null })
  expect(managedBlogView(made())).toEqual({ ...blogView(made()), version })
  expect(blogView(made({ publishedAt: 0 })).publishedAt).toBe('1970-01-01T00:00:00.000Z')
})
