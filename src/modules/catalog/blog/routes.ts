import { t } from 'elysia'
import type { Principal, ShopContext } from '../../../core/principal.ts'
import { publicationInMs } from '../../../core/publication.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
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
        operationId: 'getPublicBlog',
        summary: 'Returns a published blog post',
        description:
          'Slugs are unique on this instance. A post is public when its status is PUBLISHED and its publication date has passed.',
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
        operationId: 'listBlogs',
        summary: 'Lists blog posts',
        description:
          'Returns posts, newest first. A publishable key sees public posts, ordered by publication date. A merchant and a secret key see every post, ordered by creation date. A response has at most 1 MB (1,048,576 bytes). On a larger page, long posts have an empty `bodyHtml`, and the longest also have no excerpt and no tags. `GET /blogs/{id}` returns the full post.',
      },
    })
    .get('/blogs/:id', ({ params, shop, principal }) => readBlog(deps, { shop, seesDrafts: seesDrafts(principal) }, params.id), {
      access: 'storefrontRead',
      versioned: true,
      params: RecordId,
      response: { 200: BlogRecord, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getBlog',
        summary: 'Returns a blog post',
        description: 'A publishable key can read published posts only; for any other post the response is 404.',
      },
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
        detail: {
          operationId: 'createBlog',
          summary: 'Creates a blog post',
          description: 'If you leave out `slug`, it is created from the title, with a number appended if it is taken.',
        },
      },
    )
    .patch(
      '/blogs/:id',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeBlog(deps, { shop, actor, expected, write }, params.id, publicationInMs(body)), {
          assertVisible: () => readBlog(deps, { shop, seesDrafts: true }, params.id),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: RecordId,
        largeJson: true,
        body: ChangeBlog,
        response: { 200: BlogRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: { operationId: 'updateBlog', summary: 'Updates a blog post', description: 'Fields that you leave out keep their values.' },
      },
    )
    .delete(
      '/blogs/:id',
      ({ params, shop, actor, expected, set }) => noContent(set, removeBlog(deps, { shop, actor, expected }, params.id)),
      {
        access: 'management',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'The post was deleted' }), ...errorResponses(401, 403, 404) },
        detail: { operationId: 'deleteBlog', summary: 'Deletes a blog post' },
      },
    )
