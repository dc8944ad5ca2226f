import { Elysia, t } from 'elysia'
import type { Principal } from '../../core/principal.ts'
import { publicationInMs } from '../../core/publication.ts'
import { access, assertShopOrigin } from '../../http/access.ts'
import { actorOf } from '../../http/actor.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { idempotency } from '../../http/idempotency.ts'
import { notModified, RecordId, refusals } from '../../http/schema.ts'
import { pageOf, sliceOf } from '../../lib/page.ts'
import { wordsOf } from '../../lib/words.ts'
import type { ShopDeps } from '../shop/service.ts'
import { blogView, isPublic } from './domain.ts'
import { BlogRecord, Blogs, ChangeBlog, CreateBlog, ListBlogs } from './model.ts'
import { type BlogDeps, changeBlog, createBlog, noSuchBlog, removeBlog } from './service.ts'

export type BlogRouteDeps = HttpDeps & BlogDeps & ShopDeps

const queryWordsMax = 10

/** A publishable key is in every visitor's hands: it opens what the public may see. */
const seesDrafts = (principal: Principal) =>
  principal.kind === 'merchant' || (principal.kind === 'key' && principal.scopes.includes('server'))

export const publicBlogRoutes = (deps: BlogRouteDeps) =>
  new Elysia({ tags: ['Blogs'] }).use(access(deps)).get(
    '/blogs/public/:slug',
    async ({ params: { slug }, request }) => {
      if (request.headers.has('origin')) {
        // Of a blog that the public sees: a refusal must not tell that there is a draft.
        const shop = await deps.shopStore.find((await deps.blogStore.publicShopOf(slug, deps.clock.now())) ?? '')
        assertShopOrigin(request.headers, shop?.origins ?? [])
      }
      return deps.answers.respond(request, async () => {
        const blog = await deps.blogStore.findBySlug(slug)
        if (!blog || !isPublic(blog, deps.clock.now())) throw noSuchBlog()
        return JSON.stringify(blogView(blog))
      }) as never
    },
    {
      access: 'public',
      response: { 200: BlogRecord, 304: notModified, ...refusals(403, 404) },
      detail: {
        summary: 'A published blog',
        description: 'Slugs are unique in the instance. Only blogs that are PUBLISHED and whose publication date has passed.',
      },
    },
  )

export const blogRoutes = (deps: BlogRouteDeps) =>
  new Elysia({ tags: ['Blogs'] })
    .use(access(deps))
    .use(idempotency(deps))
    .get(
      '/blogs',
      async ({ query, shop, principal }) => {
        const slice = sliceOf(query)
        const searched = query.q !== undefined && query.q.trim() !== ''
        const words = wordsOf(query.q ?? '', queryWordsMax)
        // Nothing but punctuation: no blog holds it.
        if (searched && words.length === 0) return pageOf([], 0, slice)
        const publicAt = seesDrafts(principal) ? undefined : deps.clock.now()
        const { blogs, total } = await deps.blogStore.list({ shopId: shop.id, words, publicAt }, slice)
        return pageOf(blogs.map(blogView), total, slice)
      },
      {
        access: 'storefront',
        query: ListBlogs,
        response: { 200: Blogs, ...refusals(401, 403, 404) },
        detail: {
          summary: "The shop's blogs",
          description:
            'Newest first. A publishable key sees what the public may see, by publication date; a merchant and a secret key see every blog, by creation.',
        },
      },
    )
    .get(
      '/blogs/:id',
      async ({ params, shop, principal }) => {
        const blog = await deps.blogStore.find(shop.id, params.id)
        if (!blog || !(seesDrafts(principal) || isPublic(blog, deps.clock.now()))) throw noSuchBlog()
        return blogView(blog)
      },
      {
        access: 'storefront',
        params: RecordId,
        response: { 200: BlogRecord, ...refusals(401, 403, 404) },
        detail: { summary: 'A blog of the shop', description: 'To a publishable key, a blog that is not published does not exist.' },
      },
    )
    .post(
      '/blogs',
      ({ body, shop, principal, request, once }) =>
        once(201, (keep) => createBlog(deps, { shop, actor: actorOf(principal, request), keep }, publicationInMs(body))),
      {
        access: 'management',
        idempotent: true,
        body: CreateBlog,
        response: { 201: BlogRecord, ...refusals(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Create a blog', description: 'Without `slug` one is made from the title, with a number when it is taken.' },
      },
    )
    .patch(
      '/blogs/:id',
      ({ params, body, shop, principal, request, once }) =>
        once(200, (keep) => changeBlog(deps, { shop, actor: actorOf(principal, request), keep }, params.id, publicationInMs(body))),
      {
        access: 'management',
        idempotent: true,
        params: RecordId,
        body: ChangeBlog,
        response: { 200: BlogRecord, ...refusals(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Change a blog', description: 'Fields that are left out stay as they are.' },
      },
    )
    .delete(
      '/blogs/:id',
      async ({ params, shop, principal, request, set }) => {
        await removeBlog(deps, { shop, actor: actorOf(principal, request) }, params.id)
        set.status = 204
      },
      {
        access: 'management',
        params: RecordId,
        response: { 204: t.Void({ description: 'The blog is gone' }), ...refusals(401, 403, 404) },
        detail: { summary: 'Remove a blog' },
      },
    )
