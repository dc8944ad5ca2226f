import type { Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError } from '../../../core/errors.ts'
import { sanitize } from '../../../core/html.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertPublicationDate } from '../../../core/publication.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { freeName } from '../../../lib/names.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { audited } from '../../operations/audit/index.ts'
import {
  applyBlogChange,
  type Blog,
  type BlogInput,
  type BlogView,
  blogDifference,
  blogView,
  buildBlog,
  isPublic,
  type ManagedBlogView,
  managedBlogView,
} from './domain.ts'
import type { BlogDeps } from './providers.ts'

const noSuchBlog = () => new AppError('NOT_FOUND', 'No such blog')
const slugTaken = refuseTaken('another blog post has this slug', 'slug')

function sanitizeInput<Input extends BlogInput>(input: Input): Input {
  assertPublicationDate(input.publishedAt)
  return input.bodyHtml === undefined ? input : { ...input, bodyHtml: sanitize(input.bodyHtml, 'bodyHtml') }
}

/**
 * Creates a blog. A slug made from the title gets a number if it is taken.
 * @throws AppError INVALID, naming the field; CONFLICT if the given slug is taken
 */
export async function createBlog(
  deps: BlogDeps,
  by: CommandContext,
  input: BlogInput & { title: string; bodyHtml: string },
): Promise<ManagedBlogView> {
  const { blogStore: store, newId, clock } = deps
  const draft = buildBlog(sanitizeInput(input), { id: newId('blog'), shopId: by.shop.id, now: clock.now() })
  return audited(deps, by, { action: 'blog.created', subject: draft.id }, async (tx, setDifference) => {
    const blog = { ...draft, slug: input.slug ?? (await freeName(draft.slug, draft.id, (names) => store.takenSlugs(tx, names))) }
    await store.insert(tx, blog)
    setDifference(blogDifference(undefined, blog))
    return managedBlogView(blog)
  }).catch(slugTaken)
}

/**
 * Changes a blog. Fields that `input` leaves undefined stay.
 * @throws AppError INVALID; NOT_FOUND (also for another shop's); PRECONDITION_FAILED; CONFLICT if the slug is taken
 */
export async function changeBlog(deps: BlogDeps, by: CommandContext, id: string, input: BlogInput): Promise<ManagedBlogView> {
  const { blogStore: store, clock } = deps
  const change = sanitizeInput(input)
  return audited(deps, by, { action: 'blog.changed', subject: id }, async (tx, setDifference) => {
    const before = await findToChange(tx, deps, by, id)
    const blog = applyBlogChange(before, change, clock.now())
    assertNotStale(await store.replace(tx, before, blog))
    setDifference(blogDifference(before, blog))
    return managedBlogView(blog)
  }).catch(slugTaken)
}

/** Reads the blog for a change. @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED */
async function findToChange(tx: Writer, { blogStore }: BlogDeps, { shop, expected }: CommandContext, id: string): Promise<Blog> {
  const blog = await blogStore.find(shop.id, id, tx)
  if (!blog) throw noSuchBlog()
  assertVersion(expected, blog.version)
  return blog
}

/** @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED */
export const removeBlog = (deps: BlogDeps, by: CommandContext, id: string): Promise<void> =>
  audited(deps, by, { action: 'blog.removed', subject: id }, async (tx, setDifference) => {
    const before = await findToChange(tx, deps, by, id)
    assertNotStale(await deps.blogStore.remove(tx, before))
    setDifference(blogDifference(before, undefined))
  })

/** Who reads, and whether they see unpublished blogs. */
type Reader = { shop: Pick<ShopContext, 'id'>; seesDrafts: boolean }

/**
 * Lists the shop's blogs, newest first: by publication date for the public, else by creation.
 * @param words words that each blog must contain
 */
export async function listBlogs(
  { blogStore, clock }: BlogDeps,
  { shop, seesDrafts }: Reader,
  words: readonly string[],
  slice: PageSlice,
): Promise<Page<BlogView>> {
  const query = { shopId: shop.id, words, publicAt: seesDrafts ? undefined : clock.now() }
  const { rows: blogs, total } = await blogStore.list(query, slice)
  return pageOf(blogs.map(blogView), total, slice)
}

/** @throws AppError NOT_FOUND, also for another shop's blog and for an unpublished one that the caller may not see */
export async function readBlog({ blogStore, clock }: BlogDeps, { shop, seesDrafts }: Reader, id: string): Promise<ManagedBlogView> {
  const blog = await blogStore.find(shop.id, id)
  if (!blog || !(seesDrafts || isPublic(blog, clock.now()))) throw noSuchBlog()
  return managedBlogView(blog)
}

/** Reads a published blog of any shop. @throws AppError NOT_FOUND */
export async function readPublicBlog({ blogStore, clock }: BlogDeps, slug: string): Promise<BlogView> {
  const blog = await blogStore.findBySlug(slug)
  if (!blog || !isPublic(blog, clock.now())) throw noSuchBlog()
  return blogView(blog)
}

/** Returns the shop of a published blog. Undefined for drafts, so that nothing reveals them. */
export const shopOfPublicBlog = ({ blogStore, clock }: BlogDeps, slug: string): Promise<string | undefined> =>
  blogStore.publicShopOf(slug, clock.now())
