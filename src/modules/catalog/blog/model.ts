import { t } from 'elysia'
import { htmlLengthMax } from '../../../core/html.ts'
import {
  fieldsOf,
  handleForm,
  Instant,
  instantOf,
  maybe,
  notBlank,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  text,
  Url,
} from '../../../http/schema.ts'
import { blogStatuses } from './domain.ts'

export const BlogRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'shopId', 'slug', 'title'),
    excerpt: nullable(t.String()),
    bodyHtml: t.String(),
    coverImage: nullable(t.String()),
    author: nullable(t.String()),
    tags: t.Array(t.String()),
    status: oneOf(blogStatuses),
    publishedAt: nullable(Instant),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'Blog' },
)
export const Blogs = pageOf(BlogRecord)

const fields = {
  slug: t.Optional(
    text(255, {
      minLength: 1,
      ...handleForm,
      description: 'Unique on this instance, in lower case. Created from the title if you leave it out',
    }),
  ),
  excerpt: maybe(text(2_000)),
  coverImage: t.Optional(nullable(Url)),
  author: maybe(text(255)),
  tags: t.Optional(t.Array(text(255, { minLength: 1 }), { maxItems: 250 })),
  status: t.Optional(oneOf(blogStatuses, { description: 'Default: DRAFT' })),
  publishedAt: t.Optional(
    nullable(instantOf('If you leave it out or send null, the post is published as soon as its status is PUBLISHED')),
  ),
}
const title = text(255, notBlank)
const bodyHtml = text(htmlLengthMax, { description: 'HTML, sanitized with an allowlist of tags' })
export const CreateBlog = t.Object({ title, bodyHtml, ...fields })
export const ChangeBlog = t.Object({ title: t.Optional(title), bodyHtml: t.Optional(bodyHtml), ...fields })

export const ListBlogs = t.Object({
  ...pageQuery,
  q: t.Optional(text(200, { description: 'Returns posts that contain every word in the title, excerpt, tags or text' })),
})
