import type { Deps } from '../../core/deps.ts'
import { AppError } from '../../core/errors.ts'
import { sanitize } from '../../core/html.ts'
import type { Keep } from '../../core/idempotency.ts'
import type { ShopContext } from '../../core/principal.ts'
import { assertPublicationDate } from '../../core/publication.ts'
import { freeName } from '../../lib/names.ts'
import { type Actor, audit } from '../audit/service.ts'
import { refuseTaken } from '../conflict/service.ts'
import { type BlogInput, type BlogView, blogView, changedBlog, createdBlog } from './domain.ts'
import type { BlogStore } from './store.ts'

export type BlogDeps = Deps & { readonly blogStore: BlogStore }
/** Who does it, in which shop, and what keeps the answer of an idempotent request. */
type Write = { shop: Pick<ShopContext, 'id'>; actor: Actor; keep?: Keep }

export const noSuchBlog = () => new AppError('NOT_FOUND', 'No such blog')
const slugTaken = 'slug (body): another blog has it'

function checked<Input extends BlogInput>(input: Input): Input {
  assertPublicationDate(input.publishedAt)
  return input.bodyHtml === undefined ? input : { ...input, bodyHtml: sanitize(input.bodyHtml, 'bodyHtml') }
}

/**
 * Makes a blog. A slug made from the title gets a number when it is taken; a given one is refused.
 * @throws AppError INVALID, naming the field; CONFLICT when the given slug is taken
 */
export async function createBlog(
  deps: BlogDeps,
  { shop, actor, keep }: Write,
  input: BlogInput & { title: string; bodyHtml: string },
): Promise<BlogView> {
  const made = createdBlog(checked(input), { id: deps.newId('blog'), shopId: shop.id, now: deps.clock.now() })
  const record = audit(deps, actor, { action: 'blog.created', subject: made.id, shopId: shop.id })
  return deps.db
    .write(async (tx) => {
      const blog = { ...made, slug: input.slug ?? (await freeName(made.slug, made.id, (names) => deps.blogStore.taken(tx, names))) }
      await deps.blogStore.insert(tx, blog)
      await record(tx)
      const view = blogView(blog)
      await keep?.(tx, view)
      return view
    })
    .catch(refuseTaken(slugTaken))
}

/**
 * Changes a blog; what `input` leaves undefined stays.
 * @throws AppError INVALID, NOT_FOUND (also for another shop's), CONFLICT when the slug is taken
 */
export async function changeBlog(deps: BlogDeps, { shop, actor, keep }: Write, id: string, input: BlogInput): Promise<BlogView> {
  const change = checked(input)
  const now = deps.clock.now()
  const record = audit(deps, actor, { action: 'blog.changed', subject: id, shopId: shop.id })
  return deps.db
    .write(async (tx) => {
      const before = await deps.blogStore.find(shop.id, id, tx)
      if (!before) throw noSuchBlog()
      const blog = changedBlog(before, change, now)
      await deps.blogStore.replace(tx, blog)
      await record(tx)
      const view = blogView(blog)
      await keep?.(tx, view)
      return view
    })
    .catch(refuseTaken(slugTaken))
}

/** @throws AppError NOT_FOUND, also for another shop's */
export async function removeBlog(deps: BlogDeps, { shop, actor }: Write, id: string): Promise<void> {
  const record = audit(deps, actor, { action: 'blog.removed', subject: id, shopId: shop.id })
  await deps.db.write(async (tx) => {
    if (!(await deps.blogStore.remove(tx, shop.id, id))) throw noSuchBlog()
    await record(tx)
  })
}
