import { t } from 'elysia'
import type { Principal, ShopContext } from '../../../core/principal.ts'
import { publicationInMs } from '../../../core/publication.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified, RecordId } from '../../../http/schema.ts'
import { assertShopOrigin } from '../../../http/shop.ts'
import { type PageSlice, pageOf, sliceOf } from '../../../lib/page.ts'
import { searchTermsOf } from '../../../lib/search-terms.ts'
import { shortenBlogs } from './domain.ts'
import { type BlogDeps, changeBlog, createBlog, listBlogs, readBlog, readPublicBlog, removeBlog, shopOfPublicBlog } from './index.ts'
import { BlogRecord, Blogs, ChangeBlog, CreateBlog, ListBlogs } from './model.ts'

const queryWordsMax = 10

/** A publishable key is in every visitor's browser, so it reads only what the public sees. */
const seesDrafts = (principal: Principal) =>
  principal.kind === 'merchant' || (principal.kind === 'key' && principal.scopes.includes('server'))

export const publicBlogRoutes = (deps: HttpDeps & BlogDeps) =>
  routes(deps, 'Blogs').get(
    '/blogs/public/:slug',
    async ({ params: { slug }, request }) => {
      if (request.headers.has('origin')) {
        // Only for published blogs: a 403 must not reveal that a draft exists.
        const shopId = await shopOfPublicBlog(deps, slug)
        const shop = shopId === undefined ? undefined : await deps.identity.shop(shopId)
        assertShopOrigin(request.headers, shop?.origins ?? [])
      }
      return deps.answers.respond(request, async () => JSON.stringify(await readPublicBlog(deps, slug))) as never
    },
    {
      access: 'public',
      response: { 200: BlogRecord, 304: notModified, ...errorResponses(403, 404) },
      detail: {
        summary: 'A published blog',
        description: 'Slugs are unique in the instance. Only blogs that are PUBLISHED and whose publication date has passed.',
      },
    },
  )

type BlogSearch = { query: { q?: string }; shop: ShopContext; principal: Principal; params?: object }

async function findBlogs(deps: BlogDeps, { query: { q = '' }, shop, principal }: BlogSearch, slice: PageSlice) {
  const words = searchTermsOf(q, queryWordsMax)
  // The query has only punctuation, which no blog contains.
  if (q.trim() !== '' && words.length === 0) return pageOf([], 0, slice)
  return listBlogs(deps, { shop, seesDrafts: seesDrafts(principal) }, words, slice)
}

export const blogRoutes = (deps: HttpDeps & BlogDeps) =>
  routes(deps, 'Blogs')
    .get('/blogs', async ({ query, shop, principal }) => shortenBlogs(await findBlogs(deps, { query, shop, principal }, sliceOf(query))), {
      access: 'storefrontRead',
      csv: csvOf('blogs', Blogs, (search: BlogSearch, slice) => findBlogs(deps, search, slice)),
      query: ListBlogs,
      response: { 200: Blogs, ...errorResponses(401, 403, 404) },
      detail: {
        summary: "The shop's blogs",
        description:
          'Newest first. The answer has at most 1 MB (1,048,576 bytes): on a page that would exceed it, blogs above their share have an empty `bodyHtml`, and the longest also no excerpt and no tags; `GET /blogs/{id}` has them. A publishable key sees what the public may see, by publication date; a merchant and a secret key see every blog, by creation.',
      },
    })
    .get('/blogs/:id', ({ params, shop, principal }) => readBlog(deps, { shop, seesDrafts: seesDrafts(principal) }, params.id), {
      access: 'storefrontRead',
      versioned: true,
      params: RecordId,
      response: { 200: BlogRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: 'A blog of the shop', description: 'To a publishable key, a blog that is not published does not exist.' },
    })
    .post(
      '/blogs',
      ({ body, shop, actor, once }) => once(201, (write) => createBlog(deps, { shop, actor, write }, publicationInMs(body))),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        largeJson: true,
        body: CreateBlog,
        response: { 201: BlogRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Create a blog', description: 'Without `slug` one is made from the title, with a number when it is taken.' },
      },
    )
    .patch(
      '/blogs/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeBlog(deps, { shop, actor, expected, write }, params.id, publicationInMs(body)), {
          sees: () => readBlog(deps, { shop, seesDrafts: true }, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        largeJson: true,
        body: ChangeBlog,
        response: { 200: BlogRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: { summary: 'Change a blog', description: 'Fields that are left out stay as they are.' },
      },
    )
    .delete(
      '/blogs/:id',
      async ({ params, shop, actor, expected, set }) => {
        await removeBlog(deps, { shop, actor, expected }, params.id)
        set.status = 204
      },
      {
        access: 'management',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'The blog is gone' }), ...errorResponses(401, 403, 404) },
        detail: { summary: 'Remove a blog' },
      },
    )
